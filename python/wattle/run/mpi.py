"""Runs MPI programs: the MPI's own launcher, with Wattle's library preloaded into the processes that it starts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from wattle.base.errors import WattleError
from wattle.machine import launchers, paths
from wattle.machine.launchers import Launcher

# Open MPI refuses root unless both of its variables are set. Version 5 has those of PRRTE as well.
AS_ROOT = {f"{of}_ALLOW_RUN_AS_ROOT{end}": "1" for of in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
# More ranks than cores; one variable of Open MPI 4 and one of version 5.
OVERSUBSCRIBED = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
# AddressSanitizer refuses to start after a preloaded library, unless this is among its options.
ANY_ORDER = "verify_asan_link_order=0"
OF_MPICH = ("libmpich", "libmpi.so.12")  # Intel MPI, Cray MPICH and others have MPICH's ABI, libmpi.so.12
OF_OPEN_MPI = ("libmpi.", "libmpi_")


class Mpi(NamedTuple):
    """The name of an MPI, the Debian package that its module is built with, and its launcher."""

    name: str
    package: str
    launcher: Launcher


KINDS = {
    "openmpi": Mpi("Open MPI", "libopenmpi-dev", launchers.OPEN_MPI),
    "mpich": Mpi("MPICH", "libmpich-dev", launchers.MPICH),
}


def kind_of(libraries: Iterable[str]) -> str | None:
    """The kind of MPI (a key of KINDS) of a program with these shared libraries. None for one without MPI."""
    names = tuple(libraries)
    for kind, beginnings in (("mpich", OF_MPICH), ("openmpi", OF_OPEN_MPI)):
        if any(name.startswith(beginnings) for name in names):
            return kind
    return None


def modules(home: paths.Home) -> list[str]:
    """The kinds of MPI for which the library has a module. Under any other it does nothing."""
    return [kind for kind in KINDS if (home.root / "lib" / f"libwattle-mpi-{kind}.so").exists()]


def check(n: int | None, hosts: str | None, hostfile: object) -> None:
    """Raises WattleError for options that the launcher takes itself."""
    for option, value in (("-n", n), ("--hosts", hosts), ("--hostfile", hostfile)):
        if value is not None:
            raise WattleError(
                f"{option} {value}: the launcher decides that; give it its own options after --, as in "
                "`wattle run --mpi -- mpirun -n 4 ./program`"
            )


def without_launcher(program: str, kind: str, n: int | None) -> WattleError:
    """The error of an MPI program that no launcher starts. It names the installed launcher of the program's MPI."""
    mpi = KINDS[kind]
    command = launchers.command_of(mpi.launcher)
    remedy = f"use `wattle run --mpi -- {command or 'mpirun'} -n {n or 'N'} {program}`"
    missing = "" if command else f"; no launcher of {mpi.name} is on PATH (Debian: {mpi.launcher.package})"
    return WattleError(f"{program} is an MPI program ({mpi.name}), and no launcher starts it; {remedy}{missing}")


def environment_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a launcher: with the library preloaded, and root allowed under Open MPI, as oshrun does."""
    allowed = AS_ROOT if os.geteuid() == 0 else {}
    return preloaded({**allowed, **environment})


def preloaded(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with the library after others of LD_PRELOAD: a tool for MPI that stands before it sees the
    program's calls, and makes them through it. A program with AddressSanitizer starts only with the option.
    """
    path = paths.find_home().root / "lib" / paths.PRELOADED
    if not path.exists():
        raise WattleError(f"{path} is missing; build it with `make build`, or set WATTLE_HOME")
    if any(mark in str(path) for mark in " :"):
        raise WattleError(f"{path}: the loader takes no path with a space or a colon for preloading; move it")
    others, options = environment.get("LD_PRELOAD", ""), environment.get("ASAN_OPTIONS", "")
    return {
        **environment,
        "LD_PRELOAD": f"{others}:{path}" if others else str(path),
        "ASAN_OPTIONS": f"{ANY_ORDER}:{options}" if options else ANY_ORDER,
    }
