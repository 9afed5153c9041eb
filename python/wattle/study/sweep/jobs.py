"""Jobs of a study of waiting and clocks: programs of apps/slack and mini-apps, on this node or simulated."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from wattle.errors import WattleError
from wattle.paths import Home
from wattle.sim.simulation import Simulation
from wattle.study import program
from wattle.study.place import Start


def find(home: Home, name: str, machine: Simulation | None = None) -> Path:
    path = home.root / "lib" / "wattle" / "apps" / ("simulated" if machine else "") / name
    if not os.access(path, os.X_OK):
        raise WattleError(f"{path} is missing; `make build` builds it" + (" where there is SimGrid" if machine else ""))
    return path


def _here(oshrun: str, pes: int) -> list[str]:
    return [oshrun, "-n", str(pes), "--"]


def run(
    home: Home,
    name: str,
    arguments: Sequence[str],
    pes: int,
    environment: Mapping[str, str],
    folder: Path,
    machine: Simulation | None = None,
    at: Start = _here,
) -> Iterator[dict[str, Any]]:
    """Runs a job and yields the objects that it prints. The profiles of its PEs go to FOLDER/profile, which must not
    exist. `machine`: the simulated machine. `at`: makes the command line of a job at its place, without a
    simulation.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = {**environment, "WATTLE_PROFILE_DIR": str(folder / "profile")}
    ready = replace(machine, pes=pes, chosen=environment, profile=True).write(folder) if machine else None
    if ready:
        settings |= ready.settings
    else:
        (folder / "profile").mkdir()
    words = ["env", *(f"{key}={value}" for key, value in settings.items())]

    def start(oshrun: str, n: int) -> list[str]:
        return [*words, *(ready.command if ready else at(oshrun, n))]

    with closing(program.run(home, find(home, name, machine), arguments, pes, start)) as lines:
        yield from lines
