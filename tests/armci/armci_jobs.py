"""Programs with our libarmci, and the same ones with Debian's, under Open MPI."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from jobs import HOME, clean_environment, compile_once, run_again
from mpi_jobs import PLAIN as ENVIRONMENT
from tree import ROOT

PROGRAMS = ROOT / "tests/armci/programs"
LIB = Path("/usr/lib") / "x86_64-linux-gnu"
ARRAYS = ["-lga-openmpi"]
# Symbols that Debian's libga itself needs.
BELOW = ["-lscalapack-openmpi", "-llapack", "-lblas", "-lgfortran", "-lm"]
OURS = [f"-L{HOME / 'lib'}", f"-Wl,-rpath,{HOME / 'lib'}", "-larmci"]
OURS_STATIC = [HOME / "lib/libarmci.a", f"-L{HOME / 'lib'}", f"-Wl,-rpath,{HOME / 'lib'}", "-lwattle-shmem", "-lwattle"]
THEIRS = ["-larmci-openmpi"]
# Not a process of the job, whose end the launcher would report as 128 + the signal, but the launcher itself: Debian's
# mpirun breaks at its own end now and then with many processes on a busy machine (PMIx 4.2.2, PMIx_server_finalize);
# and MPICH's mpiexec writes to a proxy that has gone, where processes end before they have been given their input.
LAUNCHER_BROKE = (-signal.SIGSEGV, -signal.SIGPIPE)


def need(*tools: str) -> None:
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"no {tool} here")


def need_arrays() -> None:
    need("mpicc.openmpi", "mpirun.openmpi")
    if not list(Path("/usr/lib").glob("*/libga-openmpi.a")):
        pytest.skip("no Global Arrays here (libglobalarrays-dev)")


def compile_program(source: str, program: Path, *options: str | Path, compiler: str = "mpicc.openmpi") -> Path:
    headers = ["-I/usr/include"] if THEIRS[0] in options else [f"-I{HOME / 'include'}"]
    flags = ["-fdefault-integer-8", "-w"] if source.endswith(".F90") else ["-Wall", "-Werror"]
    return compile_once([compiler, "-g", "-O1", *flags, *headers, PROGRAMS / source, *options], program)


def start_job(words: list[str], settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a job to its end; again if its launcher broke."""

    def start() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            env={**clean_environment(), **ENVIRONMENT, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run_again(start, lambda done: done.returncode in LAUNCHER_BROKE)


def run(n: int, *words: object, **settings: str) -> subprocess.CompletedProcess[str]:
    return start_job(["mpirun.openmpi", "-n", str(n), *map(str, words)], settings)
