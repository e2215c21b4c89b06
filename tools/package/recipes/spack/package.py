# SPDX-License-Identifier: MIT
from spack.package import *


class Rdmaez(MakefilePackage):
    """Helpers for libibverbs that say why a call failed."""

    homepage = "https://rdmaez.example"
    url = "https://rdmaez.example/rdmaez-0.1.0.tar.xz"
    license("MIT")

    version("0.1.0")

    variant("tools", default=True, description="rdmaez-explain and rdmaez-doctor")
    depends_on("c", type="build")
    depends_on("rdma-core@33:")
    depends_on("json-c", when="+tools")

    def build(self, spec, prefix):
        if "+tools" in spec:
            make("tools")

    def install(self, spec, prefix):
        make("install-headers", f"PREFIX={prefix}")
        if "+tools" in spec:
            make("install-tools", f"PREFIX={prefix}")
