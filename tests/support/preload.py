"""MPI programs with and without the preload library: which MPIs there are, and how their programs are built and run."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from jobs import HOME, clean_environment, compile_once, complaints
from mpi_jobs import PLAIN as ENVIRONMENT
from tree import ROOT

PROGRAMS = ROOT / "tests/mpi/programs"
LIBRARY = HOME / "lib/libwattle-mpi.so"
TABLE = HOME / "generated/mpi_calls.json"


@dataclass(frozen=True)
class Mpi:
    """One of Debian's MPIs, or one of packages/mpi-wheels.txt."""

    name: str  # of its binary interface
    version: int  # of the standard
    wheel: str = ""  # its folder in build/mpi

    def __str__(self) -> str:
        return f"{self.wheel}-{self.name}" if self.wheel else self.name

    def tool(self, name: str) -> str:
        path = self._of_wheel(name) if self.wheel else shutil.which(f"{name}.{self.name}")
        if not path:
            pytest.skip(f"no {name}.{self.name} here")
        if not (HOME / f"lib/libwattle-mpi-{self.name}.so").exists():
            pytest.skip(f"libwattle-mpi-{self.name}.so is not built: no mpi.h of {self.name}")
        return path

    def _of_wheel(self, name: str) -> str | None:
        path = (
            ROOT / "build/mpi" / self.wheel / "bin" / (f"{name}_abi" if (self.name, name) == ("abi", "mpicc") else name)
        )
        return str(path) if path.exists() else None

    def compile(self, source: str, folder: Path, *options: str, traps: bool = True) -> Path:
        """A program of programs/. With `traps` it traps floating-point exceptions, undisturbed."""
        fortran = source.endswith(".F90")
        program = folder / f"{Path(source).stem}-{self}{''.join(options)}"
        flags = ["-ffree-line-length-none", "-fallow-argument-mismatch", "-w"] if fortran else ["-Wall", "-Werror"]
        if traps:
            flags += ["-ffpe-trap=invalid,zero,overflow"] if fortran else [ROOT / "tests/support/traps.c", "-lm"]
        flags += ["-Wno-stringop-overflow"] if not fortran else []  # MPI_STATUSES_IGNORE has no room, and needs none
        compiler = self.tool("mpif90" if fortran else "mpicc")
        return compile_once([compiler, "-g", "-O1", *flags, *options, PROGRAMS / source], program)

    def environment(self, **settings: str) -> dict[str, str]:
        return {**clean_environment(), **ENVIRONMENT, **settings}

    def run(
        self,
        n: int,
        *words: object,
        profile: Path | None = None,
        preload: bool = True,
        cwd: Path | None = None,
        first: bool = False,
        limit_s: int = 300,
        **settings: str,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program on `n` processes; `first`: before other processes on the cores, where that is allowed. A job
        that hangs ends with code 124, and so do its processes.
        """
        launcher = launcher_of_parts(self) if ":" in words else self.tool("mpirun")
        environment = self.environment(**settings)
        if preload:
            environment["LD_PRELOAD"] = str(LIBRARY)
        if profile:
            profile.mkdir(exist_ok=True)
            environment["WATTLE_PROFILE_DIR"] = str(profile)
        done = subprocess.run(
            [
                *(["nice", "-n", "-15"] if first else []),
                "timeout",
                str(limit_s),
                launcher,
                "-n",
                str(n),
                *map(str, words),
            ],
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s + 30,
            check=False,
        )
        done.stderr = complaints(done.stderr)
        return done


@cache
def launcher_of_parts(mpi: Mpi) -> str:
    """The launcher of jobs of several programs. The `mpirun` of Debian 13's Open MPI 5.0.7 crashes with any of these,
    and the `prterun` that it starts does not."""
    mpirun, prterun = mpi.tool("mpirun"), shutil.which("prterun")
    environment = {**clean_environment(), **ENVIRONMENT}
    plain = ["-n", "1", "true", ":", "-n", "1", "true"]
    done = subprocess.run([mpirun, *plain], env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 0:
        return mpirun
    if mpi.name != "openmpi" or not prterun:
        pytest.skip(f"{mpirun} cannot start two programs: exit code {done.returncode} {done.stderr}"[:300])
    return prterun


OPEN_MPI, MPICH = Mpi("openmpi", 3), Mpi("mpich", 4)
BOTH = pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=str)
# For what does not depend on the MPI: the long tests have it with MPICH, too.
EITHER = pytest.mark.parametrize("mpi", [OPEN_MPI, pytest.param(MPICH, marks=pytest.mark.soak)], ids=str)


# Other MPIs than those whose headers the modules were compiled with. That of MPI 5 needs none.
OTHERS = [
    Mpi("abi", 5, "mpich-5.0.2"),
    Mpi("mpich", 4, "mpich-5.0.2"),
    Mpi("mpich", 4, "mpich-4.3.2"),
    Mpi("openmpi", 3, "openmpi-5.0.11"),
]
EACH_OTHER = pytest.mark.parametrize("mpi", OTHERS, ids=str)
# For what depends on the interface alone: that of MPI 5 has a module of its own, and the long tests have the others.
EACH_INTERFACE = pytest.mark.parametrize(
    "mpi", [OPEN_MPI, MPICH, OTHERS[0], *(pytest.param(mpi, marks=pytest.mark.soak) for mpi in OTHERS[1:])], ids=str
)


def table() -> list[dict]:
    """The table generated from src/mpi/calls.toml."""
    return json.loads(TABLE.read_text())


def profiles(folder: Path) -> list[dict]:
    """The profiles of a job's processes, in their order."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("pe-*.json"))]


def calls_of(pes: list[dict], program: Path) -> set[str]:
    """The calls that have a site in the program itself."""
    found = set()
    for pe in pes:
        for site in pe["sites"]:
            module = pe["modules"][site["module"]]["path"] if site["module"] >= 0 else ""
            if Path(module).name == program.name:
                found.add(site["call"])
    return found
