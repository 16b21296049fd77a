# cmake/fiber.cmake: skua::fiber, plain functions on stacks of their own.
find_package(Boost 1.74 REQUIRED COMPONENTS context)
file(GLOB fiber_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/fiber/*.cpp)
file(GLOB fiber_headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/skua/fiber.hpp ${PROJECT_SOURCE_DIR}/include/skua/fiber/*.hpp)

add_library(skua_fiber ${fiber_sources})
add_library(skua::fiber ALIAS skua_fiber)
if(SKUA_SANITIZE)  # as skua itself
  target_compile_options(skua_fiber PRIVATE -O1)
endif()
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  set_target_properties(skua_fiber PROPERTIES POSITION_INDEPENDENT_CODE ON)
endif()
target_include_directories(skua_fiber PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(skua_fiber PUBLIC skua PRIVATE Boost::context)
target_sources(skua_fiber PUBLIC
  FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${fiber_headers})
set_target_properties(skua_fiber PROPERTIES
  EXPORT_NAME fiber
  CXX_EXTENSIONS OFF
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
