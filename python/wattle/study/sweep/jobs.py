"""Jobs of a study of waiting and clocks: programs of apps/slack and mini-apps, on this node or simulated."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.machine.paths import Home
from wattle.record import profile
from wattle.record.pe import add
from wattle.sim.simulation import Simulation
from wattle.study import launch, program
from wattle.study.place import Start
from wattle.study.site import HERE, Site
from wattle.text import units


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
    the preload library. `name`: of a program of apps/, or the path of a user's. That one may print what it likes, and
    its one sample comes from the profiles.
    """
    path = launch.find(home, name, machine is not None)
    read = program.shown if os.sep in name else None
    if machine:
        start = _simulated(replace(machine, pes=pes, chosen=environment, profile=True), folder)
    else:
        how = launch.of_program(home, path)
        start = how.start(at, launch.with_preload(how, environment))
    with closing(program.run(home, path, arguments, pes, start, folder, read)) as lines:
        yield from lines
    if read:
        yield _sample(path.name, folder, pes)


def _sample(name: str, folder: Path, pes: int) -> dict[str, Any]:
    """Time, CPU time and joules of a job, from the profiles of its PEs."""
    found = profile.load(folder, pes)
    seconds, cpu_s = found.wall_s, add(pe.cpu_s for pe in found.pes)
    if not found.complete or not seconds or cpu_s is None:
        raise WattleError(
            f"{name}: not every one of {units.several(pes, 'PE')} left a profile. The program must be of OpenSHMEM "
            "with this runtime, or of MPI"
        )
    joules = [found.node_joules(domain).as_dict() for domain in found.node_domains]
    known = {"seconds": seconds, "cpu_s": cpu_s, "energy": joules}
    return {"kind": "sample", "name": name, "repeat": 0, "verified": True} | known


def _simulated(machine: Simulation, folder: Path) -> Start:
    folder.mkdir(parents=True, exist_ok=True)
    ready = machine.write(folder)
    settings = {**machine.chosen, "WATTLE_PROFILE_DIR": str(folder / "profile"), **ready.settings}
    words = ["env", *(f"{key}={value}" for key, value in settings.items()), *ready.command]
    return Start(lambda *_: words)
