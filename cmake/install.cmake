# cmake/install.cmake: headers, library, CMake package and pkg-config file; all relocatable.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skua)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)  # a package of its own: cmake/package.cmake

install(TARGETS skua EXPORT skua FILE_SET HEADERS FILE_SET with_format)
install(EXPORT skua FILE skua-targets.cmake NAMESPACE skua:: DESTINATION ${package_dir})

# In files of its own: find_package(skua COMPONENTS fiber) asks for Boost, find_package(skua) does not.
if(SKUA_WITH_FIBERS)
  install(TARGETS skua_fiber EXPORT skua-fiber FILE_SET HEADERS)
  install(EXPORT skua-fiber FILE skua-fiber-targets.cmake NAMESPACE skua::
          DESTINATION ${package_dir})
endif()

# Before 1.0 a minor version may break its users, so only the same minor version satisfies them.
write_basic_package_version_file(skua-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/skua-config.cmake.in skua-config.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skua-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/skua-config-version.cmake
        DESTINATION ${package_dir})

# pkg-config finds its own file's place; from there the prefix is a fixed number of steps up.
file(RELATIVE_PATH to_prefix
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})  # an absolute one stays
cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
get_target_property(skua_type skua TYPE)  # an archive does not bring what it needs
if(skua_type STREQUAL SHARED_LIBRARY)
  set(pc_requires Requires.private)
else()
  set(pc_requires Requires)
endif()
if(SKUA_WITH_CARES)
  set(pc_cares ", libcares >= 1.18")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/skua.pc.in skua.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skua.pc DESTINATION ${pkgconfig_dir})
if(SKUA_WITH_FIBERS)
  # Boost has no such file of its own.
  if(skua_type STREQUAL SHARED_LIBRARY)
    set(pc_boost Libs.private)
  else()
    set(pc_boost Libs)
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/skua-fiber.pc.in skua-fiber.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skua-fiber.pc DESTINATION ${pkgconfig_dir})
endif()
