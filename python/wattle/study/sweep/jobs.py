"""Jobs of a study of waiting and clocks: programs of apps/slack and mini-apps, on this node or simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from wattle.paths import Home
from wattle.sim.simulation import Simulation
from wattle.study import launch, program
from wattle.study.place import Start
from wattle.study.site import HERE, Site


def run(
    home: Home,
    name: str,
    arguments: Sequence[str],
    pes: int,
    environment: Mapping[str, str],
    folder: Path,
    machine: Simulation | None = None,
    at: Site = HERE,
) -> Iterator[dict[str, Any]]:
    """Runs a job and yields the objects that it prints. The profiles of its PEs go to FOLDER/profile, which must not
    exist. `machine`: the simulated machine. `at`: the place of a job that is not simulated. A program of MPI runs with
    the preload library.
    """
    path = launch.find(home, name, machine is not None)
    if machine:
        start = _simulated(replace(machine, pes=pes, chosen=environment, profile=True), folder)
    else:
        how = launch.of_program(home, path)
        start = how.start(at, launch.with_preload(how, environment))
    with closing(program.run(home, path, arguments, pes, start, folder)) as lines:
        yield from lines


def _simulated(machine: Simulation, folder: Path) -> Start:
    folder.mkdir(parents=True, exist_ok=True)
    ready = machine.write(folder)
    settings = {**machine.chosen, "WATTLE_PROFILE_DIR": str(folder / "profile"), **ready.settings}
    words = ["env", *(f"{key}={value}" for key, value in settings.items()), *ready.command]
    return Start(lambda *_: words)
