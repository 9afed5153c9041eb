"""Programs built for simulation, as a user would, and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import loaded
from tree import HOME, ROOT
from wattle.sim import cluster as clusters

PROGRAMS = Path(__file__).parent / "programs"


def is_built() -> bool:
    return (HOME / "bin/wattle-simulator").exists()


def build(
    folder: Path,
    *names: str,
    of: Path = PROGRAMS,
    suffix: str = ".c",
    compiler: str = "cc",
    words: tuple[str, ...] = (),
) -> Path:
    for name in names:
        command = [HOME / "bin/oshcc", "--sim", "-O2", "-g", *words, of / f"{name}{suffix}", "-o", folder / name, "-lm"]
        subprocess.run(command, check=True, env=os.environ | {"OSHCC_CC": compiler})
    return folder


def free_cluster(folder: Path, cards: bool = False, **costs: float) -> Path:
    """A machine on which nothing takes time but what a program says it computes, and `costs`. `cards`: its network
    moves bytes by itself.
    """
    units = {"bandwidth": "B/s", "link": "B/s", "byte": "s/B", "eager": "B"} | clusters.ANY_OF_CORE
    network = {"latency": 1e-12, "bandwidth": 1e15, "message": 0, "byte": 0}
    if cards:
        network |= dict.fromkeys(clusters.OF_CARDS, 0.0)
    core = {"block": 0, "wake": 0, "clock_change": 0, "uncore": 3} | dict.fromkeys(clusters.OF_RUNTIME, 0)
    for key, value in costs.items():
        (core if key in clusters.ANY_OF_CORE else network)[key] = value

    def number(key: str, value: float) -> str:
        unit = units.get(key, "s")
        return f'[{key}]\nvalue = {value}\nplus_minus = 0\nunit = "{unit}"\ntag = "assumed"\nhow = "for a test"\n'

    (folder / "free.toml").write_text('title = "free"\n' + "".join(number(*row) for row in network.items()))
    path = folder / "cluster.toml"
    path.write_text(
        'title = "free"\nmachine = "sandybridge-e5-2670"\ncores = "sandybridge-e5-2670"\n'
        f'network = "{folder}/free.toml"\n' + "".join(number(*row) for row in core.items())
    )
    return path


def command(where: Path, n: int, *options: str) -> list[str]:
    """Up to the program."""
    return [sys.executable, "-m", "wattle", "sim", "-n", str(n), "-o", str(where), *options, "--"]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "python"), "WATTLE_HOME": str(HOME)}


def wattle(*arguments: str | Path, limit_s: float = 300, **settings: str) -> subprocess.CompletedProcess[str]:
    """`wattle ARGUMENTS`, by a process that has the libraries loaded."""
    return loaded.wattle(*arguments, environment=environment() | settings, folder=Path.cwd(), limit_s=limit_s)


def simulate(
    where: Path, program: Path, *arguments: str, n: int = 4, options: tuple[str, ...] = (), timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    _, _, _, *words = command(where, n, *options)
    return wattle(*words, program, *arguments, limit_s=timeout)


def result(where: Path) -> dict[str, object]:
    return json.loads((where / "simulation.json").read_text())
