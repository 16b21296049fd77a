# packaging/vcpkg/ports/skua/portfile.cmake: skua as an overlay port of vcpkg, built from this tree.
# tools/packaging.py checks what can be checked of it without vcpkg.
#
# A port in a registry lies in no tree, and would have instead of the next line
#   vcpkg_from_github(OUT_SOURCE_PATH SOURCE_PATH
#     REPO <owner>/skua REF "v${VERSION}" SHA512 <of the archive of that tag>)
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options
  FEATURES
    cares SKUA_WITH_CARES
    fibers SKUA_WITH_FIBERS
    tools SKUA_BUILD_TOOLS)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DSKUA_BUILD_TESTS=OFF
    -DSKUA_BUILD_EXAMPLES=OFF
    -DSKUA_UNITY_BUILD=ON
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
    ${feature_options}
  OPTIONS_DEBUG
    -DSKUA_BUILD_TOOLS=OFF)  # one command is enough
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/skua)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES skua AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
