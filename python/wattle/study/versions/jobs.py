"""Starts the programs of the mini-apps: each version by oshrun, or by the MPI that it was built with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.machine.paths import Home
from wattle.study import launch, program
from wattle.study.launch import Launch
from wattle.study.place import Place, Start
from wattle.study.site import Site

MPI = "mpi"  # the version without OpenSHMEM


def find(home: Home, app: str, version: str, place: Place) -> Launch:
    """A version's program and launcher. Raises WattleError with the missing part."""
    path = launch.find(home, f"{app}-{version}", place.simulated)
    if place.simulated:
        return Launch(path, str(home.tool("oshrun")))
    found = launch.of_program(home, path)
    if version == MPI and not found.mpi:
        raise WattleError(f"{path} loads no known MPI ({', '.join(launch.LIBRARIES)}); build it again")
    return found


def missing(home: Home, app: str, version: str, place: Place) -> str | None:
    """The reason why a version cannot run at a place; None where it can."""
    try:
        find(home, app, version, place)
    except WattleError as error:
        return str(error)
    return None


def run(
    home: Home, site: Site, how: Launch, arguments: list[str], n: int, folder: Path, simulated: Place | None
) -> Iterator[dict[str, Any]]:
    """Runs a job and yields the objects that it prints. The profiles of its PEs go to FOLDER/profile, which must not
    exist; MPI jobs leave none, except in simulation. `simulated`: the place of a simulated job.
    """
    start = how.start(site, {})
    if simulated:
        folder.mkdir(parents=True)
        start = Start(lambda _, n: simulated.simulated_job(folder, n, True))
    with closing(program.run(home, how.program, arguments, n, start, folder)) as lines:
        yield from lines
