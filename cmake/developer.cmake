# cmake/developer.cmake: what only skua's own builds need: warnings, sanitizers, ccache.
# Included before the first target, and never when another project includes skua.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(SKUA_DEVELOPER)
  add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
endif()

if(SKUA_SANITIZE)
  add_compile_options(-fsanitize=${SKUA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SKUA_SANITIZE})
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # or ccache would never find it again
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld SKUA_HAS_LLD)
  if(SKUA_HAS_LLD)  # hundreds of test programs, each linked in a quarter of the time
    add_link_options(-fuse-ld=lld)
  endif()
endif()
find_program(SKUA_CCACHE ccache)
if(SKUA_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/cached_compile.sh ${PROJECT_SOURCE_DIR})
endif()

# CMake makes the target that compiles each public header alone, but nothing builds it by default.
# Builds that put sources together are for what else can go wrong.
if(NOT SKUA_UNITY_BUILD)
  add_custom_target(public_headers ALL)
  add_dependencies(public_headers all_verify_interface_header_sets)
endif()
