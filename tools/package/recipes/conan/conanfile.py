# SPDX-License-Identifier: MIT
from conan import ConanFile
from conan.tools.files import copy


class Rdmaez(ConanFile):
    """The headers; libibverbs is the system's, since its providers belong to its drivers."""
    name = "rdmaez"
    version = "0.1.0"
    description = "Helpers for libibverbs that say why a call failed"
    license = "MIT"
    homepage = "https://rdmaez.example"
    package_type = "header-library"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True

    def package(self):
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        copy(self, "*.h", f"{self.source_folder}/include", f"{self.package_folder}/include")

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["ibverbs"]
        self.cpp_info.set_property("cmake_target_name", "rdmaez::rdmaez")

    def package_id(self):
        self.info.clear()
