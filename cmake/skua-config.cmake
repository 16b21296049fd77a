# cmake/skua-config.cmake: what find_package(skua) reads; gives the target skua::skua.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/skua-targets.cmake)
