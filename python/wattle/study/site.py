"""Starts jobs at a place: this runtime's jobs, MPI's for comparison, and commands on one of its cores or nodes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wattle.errors import WattleError
from wattle.nodes import SUBNET, Nodes
from wattle.study.place import Place, Start

MPI_FAR = ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self")
MPI_YIELDS = ("--mca", "mpi_yield_when_idle", "1")


@dataclass(frozen=True)
class Site:
    """The ways to start commands at a place: jobs of this runtime, of Open MPI and of MPICH, and a command on core or
    node 0 or 1.
    """

    ours: Start
    mpi: Start
    mpich: Start
    inside: Callable[[int, list[str]], list[str]]
    address: str  # of core or node 0
    across: bool


@contextmanager
def opened(place: Place) -> Iterator[Site]:
    """The place while the context lasts."""
    if not place.across:
        yield HERE
        return
    if place.simulated:
        with place.open() as start:
            yield Site(start, _not_simulated, _not_simulated, _not_simulated, "", True)
        return
    with Nodes(2, place.link) as made:
        yield Site(
            lambda oshrun, n: made.command(oshrun, n // 2, "--"),
            lambda _, n: made.command(mpirun(), n // 2, "-q", "--allow-run-as-root", *MPI_FAR, *_yields(n, True)),
            lambda mpiexec, n: made.by_mpich(mpiexec, n // 2),
            lambda i, words: made.inside(i, *words),
            f"{SUBNET}.1",
            True,
        )


def _not_simulated(*_: object) -> list[str]:
    raise WattleError("only programs of this runtime are simulated")


def _ours_here(oshrun: str, n: int) -> list[str]:
    return [oshrun, "-n", str(n), "--"]


def _mpi_here(_: str, n: int) -> list[str]:
    places = ["--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]
    return [mpirun(), "-q", *places, *_yields(n, False), "-n", str(n)]


def _mpich_here(mpiexec: str, n: int) -> list[str]:
    return [mpiexec, "-n", str(n)]


def _yields(n: int, across: bool) -> tuple[str, ...]:
    """Options by which MPI yields the core where there are more processes than cores. Each of two nodes has one
    core.
    """
    cores = 2 if across else len(os.sched_getaffinity(0))
    return MPI_YIELDS if n > cores else ()


def _on_core(i: int, words: list[str]) -> list[str]:
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[i % len(cores)]), *words]


def mpirun() -> str:
    """The mpirun of Open MPI, even if another MPI is the machine's default."""
    return shutil.which("mpirun.openmpi") or "mpirun"


HERE = Site(_ours_here, _mpi_here, _mpich_here, _on_core, "127.0.0.1", False)
