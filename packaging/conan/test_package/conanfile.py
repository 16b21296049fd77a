# packaging/conan/test_package/conanfile.py: `conan create` ends with this: programs use the package.
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class SkuaTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    @property
    def _with_fibers(self):
        return bool(self.dependencies["skua"].options.with_fibers)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["WITH_FIBERS"] = self._with_fibers
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ["consumer"] + ["fiber_consumer"] * self._with_fibers:
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
