# tests/skua_test.cmake: the function that turns a source file into a registered test.
find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# With main() and the --minutes flag that all test programs share.
add_library(skua_test_main STATIC support/main.cpp support/budget.cpp)
target_link_libraries(skua_test_main PUBLIC skua::skua GTest::gmock GTest::gtest)
target_include_directories(skua_test_main PUBLIC
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
# Read once, not by every test: most of the time of a build.
target_precompile_headers(skua_test_main PRIVATE
  <gtest/gtest.h> <atomic> <chrono> <memory> <optional> <random> <string> <thread> <vector>
  <skua/skua.hpp>)
# g++ needs nearly twice the time for -O2; the library has it all the same. With less it does not see
# that what is in an empty optional is not used.
set(skua_test_level "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(skua_test_level -O1 -Wno-maybe-uninitialized)
  target_compile_options(skua_test_main PRIVATE ${skua_test_level})
endif()

# Labels and time limit of an existing ctest test.
#   skua_test_properties(coro.task LAYER coro KIND unit [TIMEOUT seconds])
# The limit is 300 s by default, twice as much under a sanitizer, and more by twice the minutes
# that the environment grants: ./dev configures again with the same environment before it runs ctest.
function(skua_test_properties name)
  set(layers base coro sched driver runtime sync io time net fs process fiber interop tools)
  set(kinds unit model stress fuzz cancel fault regress consumer docs bench)
  set(kinds_with_budget model stress fuzz)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LAYER;TIMEOUT" "KIND")
  if(NOT arg_LAYER IN_LIST layers)
    message(FATAL_ERROR "test ${name}: no layer '${arg_LAYER}'; one of: ${layers}")
  endif()
  if(NOT arg_KIND)
    message(FATAL_ERROR "test ${name}: KIND is missing; one or more of: ${kinds}")
  endif()
  set(seconds 300)
  if(arg_TIMEOUT)
    set(seconds ${arg_TIMEOUT})
  endif()
  if(SKUA_SANITIZE)
    math(EXPR seconds "${seconds} * 2")
  endif()
  set(granted 0)
  foreach(kind IN LISTS arg_KIND)
    if(NOT kind IN_LIST kinds)
      message(FATAL_ERROR "test ${name}: no kind '${kind}'; one of: ${kinds}")
    endif()
    if(kind IN_LIST kinds_with_budget AND "$ENV{SKUA_TEST_MINUTES}" MATCHES "^[0-9]+$")
      math(EXPR granted "$ENV{SKUA_TEST_MINUTES} * 120")
    endif()
  endforeach()
  math(EXPR seconds "${seconds} + ${granted}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds} LABELS "${arg_LAYER};${arg_KIND}")
endfunction()

# Compiles <path>_test.cpp and registers it as one ctest test, named after the path.
#   skua_test(coro/task KIND unit stress     kinds, at least one
#             [LAYER coro]                   default: the first part of the path
#             [TIMEOUT 300]                  seconds
#             [OPTIMISATION 0 1 2]           one program and test per level: coro.task_O0, ...
#             [GNU_ASAN]                     with g++, one more: coro.task_asan, AddressSanitizer
#             [DRIVERS epoll none]           once more with each, as SKUA_BACKEND: io.stream.epoll;
#                                            default: epoll, from the layer of runtimes on
#             [SERIAL]                       nothing else runs at the same time: it measures
#             [LINK library...] [ARGS argument...])
# A debug build takes only its own level, and a sanitizer build -O1: the tests are slow there.
function(skua_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GNU_ASAN;SERIAL" "LAYER;TIMEOUT"
                        "KIND;OPTIMISATION;DRIVERS;LINK;ARGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "skua_test(${path}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${path}_test.cpp)
    message(FATAL_ERROR "skua_test(${path}): there is no tests/${path}_test.cpp")
  endif()
  if(NOT arg_LAYER)
    string(REGEX MATCH "^[a-z]+" arg_LAYER ${path})
  endif()
  set(without_driver base coro sched driver tools)
  if(NOT DEFINED arg_DRIVERS AND NOT arg_LAYER IN_LIST without_driver)
    set(arg_DRIVERS epoll)
  endif()
  if(NOT DEFINED arg_OPTIMISATION OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(arg_OPTIMISATION preset)
  endif()

  if(arg_GNU_ASAN AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND arg_OPTIMISATION asan)
  endif()

  foreach(level IN LISTS arg_OPTIMISATION)
    string(REPLACE "/" "." test ${path})
    if(level STREQUAL "asan")
      string(APPEND test _asan)
    elseif(NOT level STREQUAL "preset")
      string(APPEND test _O${level})
    endif()
    add_executable(${test} ${path}_test.cpp)
    target_link_libraries(${test} PRIVATE skua_test_main ${arg_LINK})
    if(level STREQUAL "asan")
      target_compile_options(${test} PRIVATE -O1 -fsanitize=address)
      target_link_options(${test} PRIVATE -fsanitize=address)
    elseif(NOT level STREQUAL "preset")
      target_compile_options(${test} PRIVATE -O${level})  # after the preset's -O, so it holds
    else()
      target_compile_options(${test} PRIVATE ${skua_test_level})
      target_precompile_headers(${test} REUSE_FROM skua_test_main)
    endif()
    add_test(NAME ${test} COMMAND ${test} ${arg_ARGS})
    skua_test_properties(${test} LAYER ${arg_LAYER} KIND ${arg_KIND} TIMEOUT "${arg_TIMEOUT}")
    set(all_of_it ${test})
    foreach(driver IN LISTS arg_DRIVERS)
      add_test(NAME ${test}.${driver} COMMAND ${test} ${arg_ARGS})
      skua_test_properties(${test}.${driver}
        LAYER ${arg_LAYER} KIND ${arg_KIND} TIMEOUT "${arg_TIMEOUT}")
      set_tests_properties(${test}.${driver} PROPERTIES ENVIRONMENT SKUA_BACKEND=${driver})
      list(APPEND all_of_it ${test}.${driver})
    endforeach()
    if(arg_SERIAL)
      set_tests_properties(${all_of_it} PROPERTIES RUN_SERIAL ON)
    endif()
  endforeach()
endfunction()
