"""The program and launcher of a version. `wattle acceptance` uses it too, without the packages of studies."""

from __future__ import annotations

from wattle.base.errors import WattleError
from wattle.machine.paths import Home
from wattle.study import launch
from wattle.study.launch import Launch
from wattle.study.place import Place

MPI = "mpi"  # the version without OpenSHMEM


def launch_of(home: Home, app: str, version: str, place: Place) -> Launch:
    """A version's program and launcher. Raises WattleError with the missing part."""
    path = launch.find(home, f"{app}-{version}", place.simulated)
    if place.simulated:
        return Launch(path, str(home.tool("oshrun")))
    found = launch.of_program(home, path)
    if version == MPI and not found.mpi:
        raise WattleError(f"{path} loads no known MPI ({', '.join(launch.LIBRARIES)}); build it again")
    return found
