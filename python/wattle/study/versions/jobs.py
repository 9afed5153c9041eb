"""Starts the programs of the mini-apps: each version by oshrun, or by the MPI that it was built with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle import elf, profile
from wattle.errors import WattleError
from wattle.paths import Home
from wattle.study import program
from wattle.study.place import Place
from wattle.study.site import Site

MPI = "mpi"  # the version without OpenSHMEM

# Settings of MPI's jobs: more ranks than cores are allowed, and ranks that wait yield the core. Ranks are not bound to
# cores, because two ranks could then share a core that other processes use, too.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
LIBRARIES = {"libmpi.so": ("openmpi", ("--bind-to", "none"), OPEN_MPI), "libmpich.so": ("mpich", (), {})}


@dataclass(frozen=True)
class Launch:
    """The way to start jobs of one version."""

    program: Path
    launcher: str
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    simulated: Place | None = None

    def command(self, site: Site, n: int, environment: dict[str, str]) -> list[str]:
        """The command line up to the program."""
        if self.is_ours:
            words = site.ours(self.launcher, n)
        elif site.across:
            words = site.mpi(self.launcher, n)
        else:
            words = [self.launcher, *self.options, "-n", str(n)]
        return ["env", *(f"{name}={value}" for name, value in (self.environment | environment).items()), *words]

    @property
    def is_ours(self) -> bool:
        return Path(self.launcher).name == "oshrun"


def find(home: Home, app: str, version: str, place: Place) -> Launch:
    """A version's program and launcher. Raises WattleError with the missing part."""
    path = home.root / "lib" / "wattle" / "apps" / ("simulated" if place.simulated else "") / f"{app}-{version}"
    if not os.access(path, os.X_OK):
        remedy = "`make build` builds it"
        if version == MPI:
            remedy += " where an mpicc with its mpi.h is found (Debian: libopenmpi-dev)"
        raise WattleError(f"{path} is missing; {remedy}")
    if version != MPI or place.simulated:
        return Launch(path, str(home.tool("oshrun")), simulated=place if place.simulated else None)
    launch = _by_mpi(path)
    if place.across and launch.environment is not OPEN_MPI:
        raise WattleError(f"{path} was built with another MPI than Open MPI, which alone is started on {place.name}")
    return launch


def missing(home: Home, app: str, version: str, place: Place) -> str | None:
    """The reason why a version cannot run at a place; None where it can."""
    try:
        find(home, app, version, place)
    except WattleError as error:
        return str(error)
    return None


def _by_mpi(path: Path) -> Launch:
    needed = elf.libraries(str(path)) or {}
    for library, (name, options, settings) in LIBRARIES.items():
        if any(entry.startswith(library) for entry in needed):
            launchers = [f"mpirun.{name}", f"mpiexec.{name}", "mpirun"]
            if found := next(filter(None, map(shutil.which, launchers)), None):
                return Launch(path, found, options, settings)
            raise WattleError(f"{path} was built with {name}, whose mpirun is not on PATH; install it (openmpi-bin)")
    raise WattleError(f"{path} loads no known MPI ({', '.join(LIBRARIES)}); build it again")


@dataclass(frozen=True)
class Waits:
    """PE-seconds of a job between init and finalize, by state; None where they were not counted."""

    active: float | None = None
    spin: float | None = None
    yielding: float | None = None
    asleep: float | None = None


def run(home: Home, site: Site, launch: Launch, arguments: list[str], n: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Runs a job and yields the objects that it prints. The profiles of its PEs go to FOLDER/profile, which must not
    exist; MPI jobs leave none.
    """
    environment: dict[str, str] = {}
    folder.mkdir(parents=True)
    if launch.is_ours and not launch.simulated:
        (folder / "profile").mkdir()
        environment["WATTLE_PROFILE_DIR"] = str(folder / "profile")

    def start(_: str, n: int) -> list[str]:
        if launch.simulated:
            return launch.simulated.simulated_job(folder, n, True)
        return launch.command(site, n, environment)

    with closing(program.run(home, launch.program, arguments, n, start)) as lines:
        yield from lines


def waits(folder: Path, n: int) -> Waits:
    """The waits of a finished job, from its profile, if it left one."""
    if not any((folder / "profile").glob("pe-*.json")):
        return Waits()
    found = profile.load(folder, n)
    if not found.complete:
        return Waits()
    states = {key: found.sum("state_s", key) for key in ("active", "spin", "yield", "asleep")}
    return Waits(states["active"], states["spin"], states["yield"], states["asleep"])
