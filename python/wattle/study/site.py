"""Starts jobs at a place: this runtime's jobs, MPI's for comparison, and commands on one of its cores or nodes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.nodes import SUBNET, Nodes
from wattle.study import hosts
from wattle.study.place import Place, Start
from wattle.study.where import MPI_SAYS

MPI_FAR = ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self")
MPI_YIELDS = ("--mca", "mpi_yield_when_idle", "1")
MPI_ALL = ("-q", "--allow-run-as-root")
EXPORTS = ("-x", "WATTLE_PROFILE_DIR")  # Open MPI gives other nodes no variable of its own accord
UCX_FAR = "UCX_TLS=tcp,self"


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
    ucx: tuple[str, ...] = ()  # variables of UCX's own test


@contextmanager
def opened(place: Place) -> Iterator[Site]:
    """The place while the context lasts."""
    with place.open() as ours:
        if place.simulated:
            none = Start(_not_simulated)
            yield Site(ours, none, none, _not_simulated, "", True)
        elif ours.made:
            yield _on_nodes(place, ours, ours.made)
        elif place.hosts:
            yield _on_hosts(place, ours)
        else:
            yield _here(ours)


def says_where(start: Start) -> Start:
    """The start of MPI's jobs whose processes say where they are before their program starts. A program of this
    runtime, or under the preload library, leaves a profile that says it.
    """
    return replace(start, command=lambda launcher, n: [*start(launcher, n), *MPI_SAYS])


def _here(ours: Start) -> Site:
    mpi, mpich = (replace(ours, command=command) for command in (_mpi_here, _mpich_here))
    return Site(ours, mpi, mpich, _on_core, "127.0.0.1", False)


def _on_nodes(place: Place, ours: Start, made: Nodes) -> Site:
    def mpi(_: str, n: int) -> list[str]:
        return made.command(mpirun(), place.share(n), *MPI_ALL, *EXPORTS, *MPI_FAR, *_yields(n, True))

    def mpich(mpiexec: str, n: int) -> list[str]:
        return made.by_mpich(mpiexec, place.share(n))

    starts = replace(ours, command=mpi), replace(ours, command=mpich)
    return Site(ours, *starts, lambda i, words: made.inside(i, *words), f"{SUBNET}.1", True, (UCX_FAR,))


def _on_hosts(place: Place, ours: Start) -> Site:
    def mpi(_: str, n: int) -> list[str]:
        here = [mpirun(), *MPI_ALL, "--oversubscribe", "--bind-to", "none", *_yields(n, False), "-n", str(n)]
        return [*here, *EXPORTS, "--host", hosts.counted(place.hosts, place.share(n))]

    def mpich(mpiexec: str, n: int) -> list[str]:
        return [mpiexec, "-n", str(n), "-hosts", hosts.counted(place.hosts, place.share(n))]

    def inside(i: int, words: list[str]) -> list[str]:
        host = place.hosts[i % len(place.hosts)]
        return [*hosts.command(str(paths.find_home().tool("oshrun")), [host], [1]), *words]

    starts = replace(ours, command=mpi), replace(ours, command=mpich)
    return Site(ours, *starts, inside, place.hosts[0], place.across)


def _not_simulated(*_: object) -> list[str]:
    raise WattleError("only programs of this runtime are simulated")


def _ours_here(oshrun: str, n: int) -> list[str]:
    return [oshrun, "-n", str(n), "--"]


def _mpi_here(_: str, n: int) -> list[str]:
    """On this node, or on the first one of a Slurm allocation of several."""
    first = hosts.first_allocated()
    at = ["--host", hosts.counted(first, [n])] if first else []
    return [mpirun(), *MPI_ALL, "--oversubscribe", "--bind-to", "none", *_yields(n, False), *at, "-n", str(n)]


def _mpich_here(mpiexec: str, n: int) -> list[str]:
    return [mpiexec, "-n", str(n)]


def _yields(n: int, across: bool) -> tuple[str, ...]:
    """Options by which MPI yields the core where there are more processes than cores. Each of two made nodes has one
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


HERE = _here(Start(_ours_here))  # wherever the launchers start PEs
