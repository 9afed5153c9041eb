# Spack's recipe of Wattle. There is no released archive yet, so it builds a checkout of the sources:
#   spack repo create REPO && cp packaging/spack/package.py REPO/packages/wattle/ && spack repo add REPO
#   spack dev-build wattle@0.1.0        in the folder of the sources
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Wattle(CMakePackage):
    """OpenSHMEM, ARMCI and MPI programs that sleep while they wait, and the joules and times of each process and
    source line."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("pmix", default=True, description="Find the other PEs by PMIx")
    variant("ucx", default=True, description="Send data between nodes by UCX")
    variant("ofi", default=True, description="Send data between nodes by libfabric")
    variant("mpi", default=True, description="Start under MPI launchers, and govern MPI programs")
    variant("profiles", default=True, description="Read machine profiles from files")
    variant("simulation", default=False, description="Simulate programs on described clusters")
    variant("compat", default=True, description="Install the names of other OpenSHMEM libraries")

    provides("openshmem")
    provides("armci")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-jinja2", type="build")
    depends_on("boost@1.74:", type="build")
    depends_on("uthash", type="build")
    depends_on("pmix", when="+pmix")
    depends_on("ucx", when="+ucx")
    depends_on("libfabric@1.17:", when="+ofi")
    depends_on("mpi", when="+mpi")
    depends_on("libcyaml", when="+profiles")
    depends_on("libcyaml", when="+simulation")
    depends_on("simgrid+smpi@3.32:", when="+simulation")

    requires("+profiles", when="+simulation", msg="the simulator reads machine profiles")
    conflicts("~pmix~mpi", msg="PEs find each other by PMIx or by MPI")

    def cmake_args(self):
        wanted = {"PMIX": "pmix", "UCX": "ucx", "OFI": "ofi", "CYAML": "profiles", "SIMULATION": "simulation"}
        args = [self.define_from_variant(f"WTL_{name}", variant) for name, variant in wanted.items()]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("WTL_MPICC", self.spec["mpi"].mpicc))
        return args

    @run_after("install", when="+compat")
    def install_other_names(self):
        with working_dir(self.build_directory):
            cmake("--install", ".", "--component", "compat")

    def setup_run_environment(self, env):
        self.set_roots(env)
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib.wattle.runtime)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.set_roots(env)

    def set_roots(self, env):
        for name in ("SHMEM_HOME", "SHMEM_ROOT", "SHMEM_INSTALL_DIR"):
            env.set(name, self.prefix)
