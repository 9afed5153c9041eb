"""Runs MPI programs: the MPI's own launcher, with Wattle's library preloaded into the processes that it starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from wattle import paths
from wattle.errors import WattleError

LIBRARY = "libwattle-mpi.so"


class Mpi(NamedTuple):
    """The name of an MPI, and the Debian package that its module is built with."""

    name: str
    package: str


KINDS = {"openmpi": Mpi("Open MPI", "libopenmpi-dev"), "mpich": Mpi("MPICH", "libmpich-dev")}


def modules(home: paths.Home) -> list[str]:
    """The kinds of MPI for which the library has a module. Under any other it does nothing."""
    return [kind for kind in KINDS if (home.root / "lib" / f"libwattle-mpi-{kind}.so").exists()]


def check(n: int | None, hosts: str | None, hostfile: object) -> None:
    """Raises WattleError for options that the launcher takes itself."""
    for option, value in (("-n", n), ("--hosts", hosts), ("--hostfile", hostfile)):
        if value is not None:
            raise WattleError(
                f"{option} {value}: with --mpi the launcher decides that; give it its own options after --, as in "
                "`wattle run --mpi -- mpirun -n 4 ./program`"
            )


def preloaded(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with the library in front of LD_PRELOAD."""
    path = paths.find_home().root / "lib" / LIBRARY
    if not path.exists():
        raise WattleError(f"{path} is missing; build it with `make build`, or set WATTLE_HOME")
    if any(mark in str(path) for mark in " :"):
        raise WattleError(f"{path}: the loader takes no path with a space or a colon for preloading; move it")
    others = environment.get("LD_PRELOAD", "")
    return {**environment, "LD_PRELOAD": f"{path}:{others}" if others else str(path)}
