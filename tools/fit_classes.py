#!/usr/bin/env python3
"""Fits the classes of machines to the readings in machines/measured/readings.csv. tools/fit_machines.py writes them.

    tools/fit_classes.py    print each reading beside its prediction from the other machines

Medians are means of logarithms. A spread is their standard deviation, where PRIOR machines have the spread that is
assumed before any reading; the few machines of a class make it larger.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from wattle.machines import classes, predict, table  # noqa: E402
from wattle.machines.classes import MachineClass, Named, Pair  # noqa: E402
from wattle.machines.table import Table  # noqa: E402

READINGS = ROOT / "machines" / "measured" / "readings.csv"
NAMES = ROOT / "machines" / "names.csv"

PRIOR = 3.0  # machines that the assumed spreads count for
ASSUMED = {"idle": 0.5, "full": 0.3, "wall_idle": 0.5, "wall_step": 0.35}  # spreads before any reading
USUAL_CORE_W, CORE_DOUBT = 0.7, 10.0  # W of a busy small core, and the readings' weight over it (assumed)
WAKE = 0.15  # e3-1240-v2 and threadripper-1950x of rapl-unseen.csv: the step of the first threads over that of all
# Idle notebooks, boards and small computers draw what their boards draw; larger machines have larger supplies.
WALL_POWER = {classes.DESKTOP: 0.5, classes.WORKSTATION: 0.5}
OF_SUPPLY = 0.85  # of the watts at the wall socket that a busy processor adds, the part of the package (assumed)
BY_LIMIT = {classes.DESKTOP}  # boards of desktops let the processor draw its limit
# Watts of a GB of memory over a server's. Notebooks: 0.54 and 1.23 W of 16 GB by RAPL (codecarbon rapl.md, i7-7600U)
# over 3.5 and 5.7 W. Desktops have unbuffered modules (assumed).
DRAM = {classes.NOTEBOOK: (0.18, 0.5), classes.DESKTOP: (0.5, 0.5), classes.WORKSTATION: (0.8, 0.4)}
OTHER_DRAM = (0.18, 0.7)
TITLES = {
    classes.NOTEBOOK: "notebook",
    classes.DESKTOP: "desktop",
    classes.WORKSTATION: "workstation",
    classes.SMALL: "small computer (Intel N, J, Atom)",
    classes.BOARD: "single-board computer",
    classes.ARM_PC: "Arm desktop board",
    classes.RISC_V: "RISC-V board",
    classes.ANY: "any machine but a server",
}
TERMS = tuple(ASSUMED)


@dataclass(frozen=True)
class Reading:
    """Watts of a package or at the wall socket, at 0 or 100 percent load."""

    machine: str
    cpu: str
    kind: str
    load: int
    watts: float
    sockets: int
    cores: int
    threads: int
    memory_gb: float | None

    @property
    def described(self) -> predict.Machine:
        """The machine, as `wattle machines predict` takes it."""
        return predict.Machine(self.cpu, None, None, None, self.sockets, self.cores, self.threads, self.memory_gb)


def read_readings() -> list[Reading]:
    with READINGS.open(encoding="utf-8", newline="") as file:
        return [
            Reading(
                row["machine"],
                row["cpu"],
                row["kind"],
                int(row["load"]),
                float(row["watts"]),
                *(int(row[key]) for key in ("sockets", "cores", "threads")),
                float(row["memory_gb"]) if row["memory_gb"] else None,
            )
            for row in csv.DictReader(file)
        ]


def _steps(readings: Sequence[Reading]) -> dict[str, tuple[str, float]]:
    """CPU, and watts at the wall socket of full load beyond idle, of each machine that has both."""
    walls = {(r.machine, r.load): r for r in readings if r.kind == "wall"}
    return {
        r.machine: (r.cpu, walls[r.machine, 100].watts - r.watts)
        for r in walls.values()
        if r.load == 0 and (r.machine, 100) in walls
    }


def fit_cores(readings: Sequence[Reading]) -> dict[str, float]:
    """Watts of one busy core of each kind, from machines whose systems on a chip have several kinds of them."""
    with NAMES.open(encoding="utf-8", newline="") as file:
        parts = {row["name"]: row["parts"] for row in csv.DictReader(file) if row["parts"]}
    of_one = dict.fromkeys({_kind(part) for text in parts.values() for part in text.split("+")}, 1.0)
    names = classes.read_names(NAMES, of_one)
    kinds, rows = sorted(of_one), []
    for cpu, step in _steps(readings).values():
        named = classes.find_name(names, cpu, None)
        if named and named.name in parts and "x" in parts[named.name]:
            counts = dict.fromkeys(kinds, 0)
            for part in parts[named.name].split("+"):
                counts[_kind(part)] += int(part.partition("x")[0])
            rows.append([counts[kind] / step for kind in kinds])
    shares = np.array(rows)

    def misses(logs: np.ndarray) -> np.ndarray:
        return np.concatenate([np.log(shares @ np.exp(logs)), (logs - math.log(USUAL_CORE_W)) / CORE_DOUBT])

    return dict(zip(kinds, map(float, np.exp(least_squares(misses, np.zeros(len(kinds))).x)), strict=True))


def _kind(part: str) -> str:
    return part.rpartition("x")[2]


def fit_classes(readings: Sequence[Reading]) -> tuple[dict[str, float], dict[str, MachineClass]]:
    """Watts of cores, and the classes."""
    core_w = fit_cores(readings)
    names = classes.read_names(NAMES, core_w)
    logs: dict[str, dict[str, list[float]]] = {name: {term: [] for term in TERMS} for name in TITLES}
    machines = defaultdict(set)
    steps = _steps(readings)
    for r in readings:
        named = classes.find_name(names, r.cpu, None)
        if named is None or named.machine not in logs:
            continue
        limit = _limit(named)
        for name in (named.machine, classes.ANY):
            machines[name].add(r.machine)
            if r.kind == "package":
                logs[name]["full" if r.load else "idle"].append(math.log(r.watts / (limit if r.load else named.tdp_w)))
            elif r.load == 0:
                logs[name]["wall_idle"].append(math.log(r.watts / named.tdp_w ** WALL_POWER.get(name, 0)))
                if r.machine in steps:
                    logs[name]["wall_step"].append(math.log(steps[r.machine][1] / limit))
    usual = float(np.mean(logs[classes.ANY]["idle"]))
    return core_w, {name: _class(name, logs[name], len(machines[name]), names, usual) for name in TITLES}


def fit_ordinary(of: Table, readings: Sequence[Reading]) -> Pair:
    """Wall watts of servers over those of servers tuned for SPECpower. Half of the readings' ratio is taken, because a
    server may be of either kind, and the other half is added to its spread.
    """
    tuned = replace(of, ordinary=(1.0, 0.0))
    logs = []
    for r in readings:
        if r.kind == "wall" and classes.class_of_name(r.cpu) == classes.SERVER:
            logs.append(math.log(r.watts / predict.predict(tuned, r.described, r.load).wall.watts))
    half = float(np.mean(logs)) / 2
    return math.exp(half), math.hypot(half, float(np.std(logs)) / 2)


def _limit(named: Named) -> float:
    return named.limit_w or named.tdp_w if named.machine in BY_LIMIT else named.tdp_w


def _class(
    name: str, logs: dict[str, list[float]], machines: int, names: Sequence[Named], usual: float
) -> MachineClass:
    of_any = (classes.SERVER, classes.WORKSTATION) if name == classes.ANY else ()
    tdps = [math.log(r.tdp_w) for r in names if r.cores and (r.machine == name or (of_any and r.machine not in of_any))]
    terms = {term: _pair(logs[term], ASSUMED[term], usual if term == "idle" else None) for term in TERMS[::-1]}
    if not logs["full"]:
        terms["full"] = terms["idle"][0] + OF_SUPPLY * terms["wall_step"][0], terms["wall_step"][1]
    return MachineClass(
        TITLES[name],
        machines,
        (math.exp(np.mean(tdps)), float(np.std(tdps))),
        name in BY_LIMIT,
        terms["idle"],
        terms["full"],
        WAKE,
        terms["wall_idle"],
        WALL_POWER.get(name, 0.0),
        terms["wall_step"],
        DRAM.get(name, OTHER_DRAM),
    )


def _pair(logs: Sequence[float], assumed: float, usual: float | None) -> Pair:
    """Median and spread. `usual`: the mean of all classes, which counts as one machine more; None: of no use."""
    found = [*logs, *([] if usual is None else [usual])]
    n = len(found)
    if n == 0:
        return 1.0, 2 * assumed
    mean = float(np.mean(found))
    square = (sum((log - mean) ** 2 for log in found) + PRIOR * assumed**2) / (n - 1 + PRIOR)
    return math.exp(mean), math.sqrt(square * (1 + 1 / n))


@dataclass(frozen=True)
class Judged:
    """A reading beside its prediction from the other machines."""

    reading: Reading
    predicted: predict.Watts
    machine_class: str

    @property
    def error(self) -> float:
        return abs(self.predicted.watts - self.reading.watts) / self.reading.watts

    @property
    def is_inside(self) -> bool:
        return abs(self.predicted.watts - self.reading.watts) <= self.predicted.plus_minus

    @property
    def width(self) -> float:
        return self.predicted.plus_minus / self.predicted.watts


def leave_one_out(of: Table, readings: Sequence[Reading]) -> list[Judged]:
    """Predicts each machine's readings by classes that were fitted to the others. Servers are predicted as they are."""
    judged = []
    for machine in dict.fromkeys(r.machine for r in readings):
        others = [r for r in readings if r.machine != machine]
        left = of.with_classes(NAMES, *fit_classes(others), (1.0, 0.0))
        left = replace(left, ordinary=fit_ordinary(left, others))
        for r in readings:
            if r.machine == machine:
                answer = predict.predict(left, r.described, r.load)
                watts = answer.package if r.kind == "package" else answer.wall
                judged.append(Judged(r, watts, answer.machine_class))
    return judged


def quality(judged: Sequence[Judged]) -> tuple[float, float, float]:
    """Median error, part inside, median half-width."""
    return (
        float(np.median([j.error for j in judged])),
        float(np.mean([j.is_inside for j in judged])),
        float(np.median([j.width for j in judged])),
    )


def main() -> None:
    judged = leave_one_out(table.read(ROOT / "machines" / "cpus.toml"), read_readings())
    for j in judged:
        r, mark = j.reading, "" if j.is_inside else " outside"
        print(
            f"{r.machine:34} {j.machine_class:11} {r.kind:7} {r.load:3} % {r.watts:6.1f} W, "
            f"{j.predicted.watts:6.1f} ± {j.predicted.plus_minus:5.1f}, {100 * j.error:3.0f} %{mark}"
        )
    print("median error {:.3f}, inside {:.3f}, median half-width {:.3f}".format(*quality(judged)))


if __name__ == "__main__":
    main()
