"""Starts programs at a site: those of this runtime by oshrun, those of MPI by the launcher of the MPI that they were
built with.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.machine import elf
from wattle.machine.paths import Home
from wattle.run import mpi as preload
from wattle.study import hosts
from wattle.study.place import HOSTS, Place, Start
from wattle.study.site import Site, opened, says_where

# Settings of MPI's jobs: more ranks than cores are allowed, and ranks that wait yield the core. Ranks are not bound to
# cores, because two ranks could then share a core that other processes use, too.
OPEN_MPI = {
    **preload.AS_ROOT,
    **preload.OVERSUBSCRIBED,
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
LIBRARIES = {"libmpi.so": ("openmpi", ("--bind-to", "none"), OPEN_MPI), "libmpich.so": ("mpich", (), {})}
PRELOAD = "LD_PRELOAD"
PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich"}
MPI_PACKAGES = {"-mpi": "libopenmpi-dev", "-openmpi": "libopenmpi-dev", "-mpich": "libmpich-dev"}  # to build programs


@dataclass(frozen=True)
class Launch:
    """The way to start jobs of a program. `mpi`: the MPI that it was built with; empty for a program of this
    runtime.
    """

    program: Path
    launcher: str
    mpi: str = ""
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, site: Site, environment: Mapping[str, str]) -> Start:
        """Starts jobs of this program at a place, with these variables."""
        there = site.ours if not self.mpi else site.mpich if self.mpi == "mpich" else site.mpi
        exported: list[str] = []
        on_hosts = there.place is not None and bool(there.place.hosts)
        if self.mpi and not site.across and not on_hosts:
            there = replace(there, command=lambda _, n: [self.launcher, *self.options, "-n", str(n)])
        elif self.mpi == "openmpi":
            exported = [word for name in environment for word in ("-x", name)]
        words = ["env", *(f"{name}={value}" for name, value in (self.environment | dict(environment)).items())]
        found = replace(there, command=lambda _, n: [*words, *there(self.launcher, n), *exported])
        return says_where(found) if self.mpi and PRELOAD not in environment else found


def find(home: Home, name: str, simulated: bool = False) -> Path:
    """A program of apps/, or a user's program by its path. Raises WattleError with the remedy where it is missing."""
    if os.sep in name:
        if files.is_file(name) and os.access(name, os.X_OK):
            return Path(name)
        raise WattleError(f"{name}: is not a program that can be started")
    path = home.root / "lib" / "wattle" / "apps" / ("simulated" if simulated else "") / name
    if not os.access(path, os.X_OK):
        package = next((p for end, p in MPI_PACKAGES.items() if name.endswith(end)), "")
        needs = [f"an mpicc with its mpi.h is found (Debian: {package})"] if package else []
        needs += ["there is SimGrid"] if simulated else []
        where = f" where {' and '.join(needs)}" if needs else ""
        raise WattleError(f"{path} is missing; `make build` builds it{where}")
    return path


def of_program(home: Home, path: Path) -> Launch:
    """The way to start this program. Raises WattleError with the missing launcher."""
    needed = elf.libraries(str(path)) or {}
    for library, (name, options, settings) in LIBRARIES.items():
        if any(entry.startswith(library) for entry in needed):
            launchers = [f"mpirun.{name}", f"mpiexec.{name}", "mpirun"]
            if found := next(filter(None, map(shutil.which, launchers)), None):
                return Launch(path, found, name, options, settings)
            raise WattleError(
                f"{path} was built with {name}, whose mpirun is not on PATH; install it ({PACKAGES[name]})"
            )
    return Launch(path, str(home.tool("oshrun")))


def check_hosts(launch: Launch, place: Place) -> None:
    """Raises WattleError where the launcher of an MPI cannot start a process on each host of the place. MPICH's would
    wait for ever.
    """
    if launch.mpi and place.hosts and (reason := _unreached(launch.launcher, launch.mpi, place.hosts)):
        raise WattleError(f"{launch.mpi} cannot start a process on each host: {reason}")


@cache
def _unreached(launcher: str, mpi: str, names: tuple[str, ...]) -> str:
    with opened(Place(HOSTS, hosts=names)) as site:
        start = site.mpich if mpi == "mpich" else site.mpi
        return hosts.failure(start(launcher, len(names)))


def with_preload(launch: Launch, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a program of MPI waits by this runtime's rules and leaves a profile."""
    return preload.preloaded(environment) if launch.mpi else dict(environment)
