"""Fits a network description to two nodes of this machine.

The same programs run on the nodes and in simulation. The numbers are fitted to the times of some programs. The times
of the others show the error of the simulation.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattle.base.checked import Checked, parse_json
from wattle.base.errors import WattleError
from wattle.machine.commands import run_quietly
from wattle.machine.paths import Home
from wattle.sim import cluster as clusters
from wattle.sim import simulation
from wattle.sim.cluster import ALSO, OF_NETWORK, Cluster, Number
from wattle.sim.simulation import Simulation
from wattle.study import program
from wattle.study.place import Start
from wattle.study.stats import center
from wattle.text import units
from wattle.text.visible import visible

BASE = "sandybridge-tcp"  # start of the search; its watts do not matter here
OF_FILE = {key: unit for key, unit in (OF_NETWORK | ALSO).items() if key != "packet"}  # BASE has no cards
NONE = {"leaves": 0.0}
IN_LATENCY = "In `latency`; two nodes cannot separate them."
FITTED = (*(key for key in OF_FILE if key not in NONE), "wake")
ALONE = {"block": "compute", "copy": "copy"}  # the single time that each depends on, proportionally
BEGIN = {"acknowledge": 2e-6, "record": 50e-9, "segment": 16384.0}  # start values of numbers that BASE leaves out
MOST_EVALUATIONS = 1200
MOST_SLOPES = 12  # gradient steps after each search without gradients
STEPS = (1.5, 0.5, 0.2)  # sizes of the initial simplex, in logarithms
FARTHEST = math.log(100)  # largest distance from the start: farther away a run may take very long
SMOOTH = 0.02  # smaller differences have less weight
NUDGE = 0.05
WIDEST = 10.0  # times the value: the number is not determined
ROUNDS = 60  # rounds of the benchmark on the nodes
SIMULATED_ROUNDS = 5  # all equal except the first
TIMES = 5  # runs of each program on the nodes
PATIENCE_S = 120  # time limit of a run in seconds; usual is a second or two
FIT, HELD = "fit", "held back"


@dataclass(frozen=True)
class Case:
    """One time that a program prints. `name`: the name of its line."""

    role: str
    program: str
    name: str
    bytes: int = 0


@dataclass(frozen=True)
class Measured:
    """A time in seconds, on the nodes and in simulation. The quartiles are of the runs on the nodes."""

    case: Case
    real_s: float
    quarter_s: float
    three_quarters_s: float
    simulated_s: float

    @property
    def error(self) -> float:
        """The relative error of the simulation: 0.1 is a tenth too long."""
        return self.simulated_s / self.real_s - 1


def _of(role: str, **sizes: Sequence[int]) -> list[Case]:
    return [Case(role, "network", what, n) for what, found in sizes.items() for n in found]


CASES = [
    *_of(
        FIT,
        ping=(8, 2048, 16384, 65536, 524288),
        woken=(0,),
        meet=(0,),
        stream=(8, 256, 1024, 8192, 16384, 262144),
        exchange=(8, 256, 4096, 32768, 65536, 524288),
        get=(8, 4096, 65536, 524288),
        compute=(0,),
        copy=(65536,),
    ),
    *_of(
        HELD,
        ping=(64, 512, 8192, 32768, 131072, 1048576),
        stream=(64, 4096, 65536, 1048576),
        exchange=(64, 1024, 16384, 262144),
        get=(512, 16384, 262144),
        quiet=(8, 1024, 32768, 524288),
        add=(0,),
        update=(0,),
        barrier=(0,),
    ),
    *(
        Case(HELD, "patterns", pattern, n)
        for pattern in ("PQPQ", "PPQ", "MPQMPQ", "MPMPQ", "MMPQAMM")
        for n in (1024, 65536)
    ),
    Case(HELD, "gups", "atomic"),
    Case(HELD, "gups", "get and put"),
    Case(HELD, "halo", "64 x 64"),
    Case(HELD, "halo", "512 x 512"),
]

Line = Callable[[str], float | None]


@dataclass(frozen=True)
class Job:
    """A run of a program, and the cases in its output. `folder`: of its source."""

    program: str
    folder: str
    arguments: tuple[str, ...]
    cases: tuple[Case, ...]
    simulated_arguments: tuple[str, ...] | None = None

    def read(self, output: str) -> dict[Case, float]:
        found = dict(self._read(output.splitlines()))
        if lacking := [case.name for case in self.cases if case not in found]:
            raise WattleError(f"the output of {self.program} lacks {', '.join(lacking)}: {output[-300:]!r}")
        return found

    def _read(self, lines: Iterable[str]) -> Iterator[tuple[Case, float]]:
        for line in lines:
            if line.startswith("{"):
                yield from self._of_json(parse_json(self.program, line).object())
            elif match := re.search(r": ([0-9.]+) s, .*: correct$", line):
                yield self.cases[0], float(match[1])

    def _of_json(self, row: Mapping[str, object]) -> Iterator[tuple[Case, float]]:
        if row.get("kind") != "sample":
            return
        for case in self.cases:
            if row.get("what") == case.name and row.get("bytes") == case.bytes:
                yield case, Checked(self.program, row).known("seconds")
            latency = row.get("latency_s")
            if (
                row.get("pattern") == case.name
                and row.get("fragment_bytes") == case.bytes
                and isinstance(latency, dict)
            ):
                yield case, Checked(self.program, latency).known("median")


def jobs() -> list[Job]:
    """The jobs, those of the fit first."""
    found = []
    for role in (FIT, HELD):
        cases = tuple(c for c in CASES if c.program == "network" and c.role == role)
        words = tuple(f"{c.name}:{c.bytes}" if c.bytes else c.name for c in cases)
        rounds = (("--rounds", str(n), *words) for n in (ROUNDS, SIMULATED_ROUNDS))
        found.append(Job("network", "bench", next(rounds), cases, next(rounds)))
    patterns = tuple(c for c in CASES if c.program == "patterns")
    sweep = ("--payload", "64K", "--fragments", "1,64", "--repeat", "1", "--clear", "none", "--min-time", "0")
    often, seldom = (*sweep, "--min-iterations", "50"), (*sweep, "--no-pin", "--min-iterations", "3")
    found.append(Job("patterns", "bench", often, patterns, seldom))
    of_gups, of_halo = ([c for c in CASES if c.program == name] for name in ("gups", "halo"))
    for method, case in enumerate(of_gups):
        found.append(Job("gups", "examples", ("--log-table", "14", "--updates", "1", "--method", str(method)), (case,)))
    for (size, steps), case in zip(((64, 2000), (512, 1000)), of_halo, strict=True):
        found.append(Job("halo", "examples", ("--size", str(size), "--steps", str(steps)), (case,)))
    return found


# ---- on the nodes ----


def measure(home: Home, start: Start, advance: Callable[[str], None]) -> dict[Case, list[float]]:
    """Runs every job `TIMES` times, alternately."""
    found: dict[Case, list[float]] = {}
    for _ in range(TIMES):
        for job in jobs():
            advance(f"{job.program} on two nodes")
            built = (program.find if job.folder == "bench" else program.find_example)(home, job.program)
            output = _run([*start(str(home.tool("oshrun")), 2), str(built), *job.arguments])
            for case, seconds in job.read(output).items():
                found.setdefault(case, []).append(seconds)
    return found


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    what = " ".join(Path(word).name if word.startswith("/") else word for word in command[-6:])
    try:
        done = run_quietly(command, environment, PATIENCE_S)
    except subprocess.TimeoutExpired:
        load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        raise WattleError(
            f"... {what}: not finished after {PATIENCE_S} s, where a few seconds are usual ({load})"
        ) from None
    if done.returncode != 0:
        raise WattleError(f"... {what}: ended with exit code {done.returncode}: {done.stderr[-400:].strip()}")
    return done.stdout


# ---- in simulation ----


@dataclass(frozen=True)
class Simulator:
    """Runs jobs on a cluster with given numbers."""

    home: Home
    base: Simulation
    where: Path

    def run(self, job: Job, values: Mapping[str, float]) -> dict[Case, float]:
        numbers = {
            key: dataclasses.replace(number, value=float(values.get(key, number.value)))
            for key, number in self.base.cluster.numbers.items()
        }
        cluster = dataclasses.replace(self.base.cluster, numbers=numbers)
        ready = dataclasses.replace(self.base, cluster=cluster).write(self.where)
        built = program.find_simulated(self.home, job.program, job.folder)
        arguments = job.arguments if job.simulated_arguments is None else job.simulated_arguments
        return job.read(_run([*ready.command, str(built), *arguments], ready.environment))


@dataclass(frozen=True)
class Fit:
    """The fitted `values` and half-widths of their 95 % intervals, by key: those of the network, `wake`, `block` and
    `copy`.
    """

    values: dict[str, float]
    plus_minus: dict[str, float]
    evaluations: int


def fit(
    run: Callable[[Mapping[str, float]], dict[Case, float]], real: Mapping[Case, float], begin: Mapping[str, float]
) -> Fit:
    """Fits the numbers by a robust sum over the logarithms of the ratios, so that a single bad time has little weight.

    `run` simulates the job of the fit with given numbers. The sum has a step where a wait changes from polling to
    sleep, so the search begins without gradients (Nelder and Mead).
    """
    from scipy.optimize import Bounds, least_squares, minimize

    values = {**begin, **BEGIN, **NONE}
    first = run(values)
    for key, name in ALONE.items():
        case = next(c for c in real if c.name == name)
        values[key] *= real[case] / first[case]
    cases = [case for case in real if case.name not in ALONE.values()]
    evaluations = 1

    def off(logs: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        evaluations += 1
        found = run(values | _numbers(np.exp(logs)))
        return np.array([math.log(found[case] / real[case]) for case in cases])

    def cost(logs: np.ndarray) -> float:
        return float(np.sqrt(off(logs) ** 2 + SMOOTH**2).sum()) + float(np.abs(logs - start).sum()) * 1e-4

    start = np.log([values[key] for key in FITTED])
    best, within = start, Bounds(start - FARTHEST, start + FARTHEST)
    for step in STEPS:  # each search starts at the last result, with a smaller simplex
        corners = np.vstack([best, *(best + step * row for row in np.eye(len(FITTED)))])
        options = {"initial_simplex": corners, "maxfev": MOST_EVALUATIONS // len(STEPS), "xatol": 1e-3, "fatol": 1e-3}
        best = minimize(cost, best, method="Nelder-Mead", bounds=within, options=options).x
        by_slopes = {"loss": "soft_l1", "f_scale": SMOOTH, "diff_step": NUDGE / 5, "max_nfev": MOST_SLOPES}
        near = least_squares(off, best, bounds=within, **by_slopes).x
        best = min(best, near, key=cost)
    found = _numbers(np.exp(best))
    width = dict(zip(FITTED, _widths(off, best), strict=True))
    plus_minus = {key: found[key] * width[key] for key in FITTED} | dict.fromkeys((*ALONE, *NONE), 0.0)
    return Fit(found | NONE | {key: values[key] for key in ALONE}, plus_minus, evaluations)


def _numbers(found: np.ndarray) -> dict[str, float]:
    return dict(zip(FITTED, (float(v) for v in found), strict=True))


def _widths(off: Callable[[np.ndarray], np.ndarray], best: np.ndarray) -> list[float]:
    """Relative half-widths of the 95 % intervals of a least-squares fit, from its slopes and residuals."""
    here = off(best)
    slopes = np.array(
        [(off(best + NUDGE * row) - off(best - NUDGE * row)) / (2 * NUDGE) for row in np.eye(len(best))]
    ).T
    spread = float(np.sum(here**2)) / max(len(here) - len(best), 1)
    sigma = np.sqrt(np.diag(np.linalg.pinv(slopes.T @ slopes)) * spread)
    return [min(math.expm1(1.96 * s), WIDEST) for s in sigma]


def simulator(home: Home, where: Path) -> Simulator:
    base = simulation.plan(clusters.read(BASE).without_caches, 2, {"WATTLE_WAIT": "adaptive"})
    return Simulator(home, base, where)


def score(real: Mapping[Case, list[float]], simulated: Mapping[Case, float]) -> list[Measured]:
    """All cases in order, with both times."""
    found = []
    for case in CASES:
        middle = center(real[case])
        assert middle
        found.append(Measured(case, middle.median, middle.p25, middle.p75, simulated[case]))
    return found


# ---- the file ----


def text(found: Fit, title: str, where: str, residual: float) -> str:
    """A network in the form of machines/networks, with each number measured."""
    lines = [
        f"# {visible(title)}. Written by wattle calibrate --network; docs/simulation.md explains the keys.",
        f"title = {json.dumps(visible(title))}",
    ]
    fitted = (
        "Fitted with the other numbers to the times of ping-pongs, streams of puts and gets of several sizes: "
        f"median error {units.share(residual)}. Half-width: 95 %, of the fit."
    )
    for key, unit in OF_FILE.items():
        tag, how = ("assumed", IN_LATENCY) if key in NONE else ("measured", fitted)
        lines += [
            "",
            f"[{key}]",
            f"value = {found.values[key]:.6g}",
            f"plus_minus = {found.plus_minus[key]:.3g}",
            f'unit = "{unit}"',
            f'tag = "{tag}"',
            f"source = {json.dumps(visible(where))}",
            f"how = {json.dumps(how)}",
        ]
    return "\n".join(lines) + "\n"


def numbers(found: Fit, base: Cluster, where: str) -> dict[str, Number]:
    """All numbers of the simulation that was scored."""
    made = {
        key: Number(found.values[key], found.plus_minus[key], base.numbers[key].unit, "measured", where, "fitted")
        for key in found.values
        if key not in NONE
    }
    put = {key: Number(value, 0.0, base.numbers[key].unit, "assumed", "", IN_LATENCY) for key, value in NONE.items()}
    return base.numbers | made | put


def shown(number: Number) -> str:
    """A number such as `8.2 ± 0.3 µs`, in the unit of the value."""
    scales = [(factor, f"{prefix}{number.unit}") for factor, prefix in SCALES]
    factor, unit = units.scale_for([number.value], scales)
    value, width = number.value / factor, number.plus_minus / factor
    return f"{value:.3g} ± {width:.2g} {unit}" if width else f"{value:.3g} {unit}"


SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
