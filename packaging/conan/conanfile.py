# packaging/conan/conanfile.py: skua as a package of Conan 2. docs/integration.md says how to use it.
#
# What skua stands on comes from the system, not from Conan: liburing, c-ares and Boost.Context are
# packages of the distribution, found as the build finds them without Conan.
# tools/packaging.py checks that the version and the options here are those of CMakeLists.txt.
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir
from conan.tools.gnu import PkgConfig
from conan.tools.scm import Version
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"

# Older ones lack parts of C++23: clang before 19 cannot read the <expected> of libstdc++.
OLDEST = {"clang": "19", "gcc": "12"}


class Skua(ConanFile):
    name = "skua"
    version = "0.1.0"
    description = "An asynchronous runtime for C++23 on Linux"
    license = "Apache-2.0"
    topics = ("async", "coroutines", "io_uring", "runtime")
    package_type = "library"

    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_cares": [True, False],
        "with_fibers": [True, False],
    }
    default_options = {"shared": False, "fPIC": True, "with_cares": True, "with_fibers": False}
    implements = ["auto_shared_fpic"]

    def layout(self):
        self.folders.root = "../.."  # the sources are those of the tree that the recipe lies in
        cmake_layout(self)

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("skua is for Linux")
        check_min_cppstd(self, 23)
        compiler = str(self.settings.compiler)
        if compiler not in OLDEST:
            raise ConanInvalidConfiguration(f"skua is for {' and '.join(OLDEST)}, not {compiler}")
        if Version(self.settings.compiler.version) < OLDEST[compiler]:
            raise ConanInvalidConfiguration(f"skua needs {compiler} {OLDEST[compiler]} or later")

    def system_requirements(self):
        # Elsewhere than on Debian and its kin the build itself says what it lacks.
        packages = ["pkg-config", "liburing-dev"]
        if self.options.with_cares:
            packages.append("libc-ares-dev")
        if self.options.with_fibers:
            packages.append("libboost-context-dev")
        Apt(self).install(packages, check=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # would leave a file in the tree
        toolchain.cache_variables.update({
            "SKUA_BUILD_TESTS": False,
            "SKUA_BUILD_EXAMPLES": False,
            "SKUA_BUILD_TOOLS": False,
            "SKUA_UNITY_BUILD": True,  # all of it is built, and once
            "SKUA_WITH_CARES": bool(self.options.with_cares),
            "SKUA_WITH_FIBERS": bool(self.options.with_fibers),
        })
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan's generators write these anew from package_info(); two answers are one too many.
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "skua")
        self.cpp_info.set_property("cmake_config_version_compat", "SameMinorVersion")
        # The target for everything must not be skua::skua, whose users have no need of Boost.
        self.cpp_info.set_property("cmake_target_name", "skua::everything")

        skua = self.cpp_info.components["skua"]
        skua.set_property("cmake_target_name", "skua::skua")
        skua.set_property("pkg_config_name", "skua")
        skua.libs = ["skua"]
        skua.system_libs = ["pthread"]
        if not self.options.shared:  # an archive does not bring what it needs
            for module in ["liburing"] + ["libcares"] * bool(self.options.with_cares):
                found = PkgConfig(self, module)
                skua.system_libs += found.libs
                skua.libdirs += found.libdirs

        if self.options.with_fibers:
            fiber = self.cpp_info.components["fiber"]
            fiber.set_property("cmake_target_name", "skua::fiber")
            fiber.set_property("pkg_config_name", "skua-fiber")
            fiber.libs = ["skua_fiber"]
            fiber.requires = ["skua"]
            if not self.options.shared:  # Boost has no file for pkg-config
                fiber.system_libs = ["boost_context"]
