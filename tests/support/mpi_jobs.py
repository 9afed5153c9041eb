"""The MPIs of this machine, for the tests of boot by MPI: compiler, launcher, Wattle's module."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from jobs import HOME, OSHCC
from tree import ROOT
from wattle.run.mpi import AS_ROOT, OVERSUBSCRIBED

SOURCE = ROOT / "tests/node/programs/boot_mpi.c"


@dataclass(frozen=True)
class Mpi:
    """One MPI: the names of its programs, as Debian has them, and how to start `n` processes."""

    name: str
    compiler: str
    launcher: str
    options: tuple[str, ...] = ()

    @property
    def module(self) -> Path:
        return HOME / f"lib/libwattle-boot-mpi-{self.name}.so"

    def missing(self, compiler: bool = False) -> str | None:
        """Why tests with it must be skipped; None if they can run."""
        tools = [self.launcher] + ([self.compiler] if compiler else [])
        for tool in tools:
            if not shutil.which(tool):
                return f"no {tool} here"
        return None if self.module.exists() else f"{self.module.name} is not built: no mpi.h for {self.compiler}"

    def require(self, compiler: bool = False) -> None:
        if reason := self.missing(compiler):
            pytest.skip(reason)

    def start(self, n: int, *words: str | Path | int) -> list[str]:
        return [self.launcher, *self.options, "-n", str(n), *map(str, words)]


MPICH = Mpi("mpich", "mpicc.mpich", "mpiexec.mpich")
OPEN_MPI = Mpi("openmpi", "mpicc.openmpi", "mpirun.openmpi", ("--oversubscribe",))


def _one_sided() -> dict[str, str]:
    """Debian 12's Open MPI 4.1.4 has one-sided communication that crashes (osc/rdma). Open MPI 5 has no other."""
    if not (launcher := shutil.which(OPEN_MPI.launcher)):
        return {}
    said = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
    return {"OMPI_MCA_osc": "^rdma"} if re.search(r"\(Open(RTE| MPI)\) 4\.", said) else {}


@cache
def _mpich_is(version: str) -> bool:
    launcher = shutil.which(MPICH.launcher)
    if not launcher:
        return False
    said = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
    return bool(re.search(rf"Version: +{re.escape(version)}\s", said))


def loses_codes(name: str) -> bool:
    """Whether the launcher of this MPI may end with code 0 after a rank failed. That of MPICH 4.2.1 does in some jobs
    of plain programs: in 2 of 25 on Debian 13.
    """
    return name == MPICH.name and _mpich_is("4.2.1")


def returns_from_abort(name: str) -> bool:
    """Whether MPI_Abort may return, as it does in plain programs of MPICH 4.2.1. The rank then goes on."""
    return name == MPICH.name and _mpich_is("4.2.1")


# Plain MPI jobs: root may start them, and there may be more processes than cores.
PLAIN = {**AS_ROOT, **_one_sided(), **OVERSUBSCRIBED}


@cache
def mixed_program(mpi: Mpi, folder: Path) -> Path:
    """programs/boot_mpi.c, compiled by oshcc with the MPI's compiler behind it, as its users would."""
    mpi.require(compiler=True)
    program = folder / f"boot_mpi_{mpi.name}"
    command = [OSHCC, "-O2", "-Wall", "-Wextra", "-Werror", SOURCE, "-o", program]
    subprocess.run(command, env=os.environ | {"OSHCC_CC": mpi.compiler}, check=True)
    return program
