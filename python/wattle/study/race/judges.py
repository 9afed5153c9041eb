"""What the dissertation says of race to halt (D chapter 4 and 11.2.2), and how it is held against the samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from statistics import fmean

from wattle import units
from wattle.clocks.clusters import cluster
from wattle.study.published import NotTestable, Outcome, Published, of_dissertation, verdict_of
from wattle.study.sweep.analysis import Analysis, Point

JOBS, PROCESSES, ONLINE, PHASES = "jobs", "processes", "online", "phases"
# Of mode reduced, where it can be chosen. The text names none; for what the clock alone bounds 2.1 of 2.6 GHz is 24 %.
REDUCED_GHZ = 2.1
STEPS_CR = 4  # the busiest PE computes so much more than the least busy
PLATEAU = 0.05  # time that is no gain any more
AMISS = 2  # percent beyond what the clock explains
FMA, MEMORY = "fma", ("copy", "scale", "add", "triad")
SETUP = "nodes of two Sandy Bridge, 1.2 to 2.6 GHz; NPB-MZ, AMG, FFT, CG, SP; BT-MZ with 360 processes"


def clusters_of(a: Analysis, point: Point) -> list[list[int]]:
    """PEs that wait alike, those that wait least first; by the mean of the jobs."""
    jobs = a.waits(point)
    if not jobs:
        return []
    return cluster([fmean(shares) for shares in zip(*jobs, strict=True)], 1.0)


def at_clocks(a: Analysis, series: str, name: str) -> list[Point]:
    """At each clock that was asked for, the lowest first."""
    found = [p for p in a.select(series=series, name=name) if p.clock is not None and p.mode == "off"]
    return sorted(found, key=lambda p: p.clock or 0)


def _needs(a: Analysis, energy: bool) -> None:
    if not a.knob.acts:
        raise NotTestable(a.knob.words)
    if energy and not a.knows_clocks:
        raise NotTestable(a.why_no_clocks)


def _names(a: Analysis, series: str) -> list[str]:
    return list(dict.fromkeys(p.name for p in a.select(series=series)))


def best(a: Analysis, metric: str, points: list[Point]) -> Point:
    return min(points, key=lambda p: c.median if (c := a.center(metric, p)) else float("inf"))


def _ends(a: Analysis, metric: str, points: list[Point]) -> float:
    """Percent saved by the highest clock against the lowest."""
    found = a.saving(metric, points[0], points[-1])
    if found is None:
        raise NotTestable("needs two clocks at least")
    return found.median


def _why_jobs_differ(a: Analysis, gains: Mapping[str, float], low: float, high: float) -> tuple[str, ...]:
    """Percent of time that programs gain from one clock to another, beside what the clocks alone explain."""
    most = 100 * (1 - low / high)
    found = ["The papers' programs are solvers whose grids do not fit into caches; these are a search and a graph."]
    if a.knob.simulated:
        found = [
            f"In simulation all computing follows the clock: a program gains {units.percent(most)} of its time from "
            f"{low:g} to {high:g} GHz, less what it waits for the network; the papers' solvers wait for their memory."
        ]
    others = [name for name, gain in gains.items() if gain > most + AMISS or gain < -AMISS]
    if others:
        found.append(
            f"{' and '.join(others)}: what branch and bound searches depends on who finds a good tour first, so at "
            "another clock it searches more or less."
        )
    return tuple(found)


def _jobs_at_clocks(a: Analysis, name: str) -> list[Point]:
    """Up to the base clock, as the papers'."""
    return [p for p in at_clocks(a, JOBS, name) if (p.clock or 0) <= (a.knob.base or math.inf)]


def _gains_differ(a: Analysis) -> Outcome:
    _needs(a, False)
    points = {name: _jobs_at_clocks(a, name) for name in _names(a, JOBS)}
    gains = {name: _ends(a, "seconds", found) for name, found in points.items()}
    clocks = [p.clock or 0 for p in next(iter(points.values()))]
    ours = "; ".join(f"{name} {units.percent(g)}" for name, g in gains.items())
    holds = max(gains.values()) > 20 and min(gains.values()) <= 10
    return Outcome(ours, verdict_of(holds), () if holds else _why_jobs_differ(a, gains, clocks[0], clocks[-1]))


def _plateau(a: Analysis) -> Outcome:
    _needs(a, False)
    parts, gains, low, high = [], {}, 0.0, 0.0
    names = _names(a, JOBS)
    for name in names:
        points = _jobs_at_clocks(a, name)
        near = min(points, key=lambda p: abs((p.clock or 0) - 2.2))
        last, there = a.center("seconds", points[-1]), a.center("seconds", near)
        if not last or not there or not near.clock or near.clock >= (points[-1].clock or 0):
            raise NotTestable("no clock between 2.2 GHz and the highest")
        low, high = near.clock, points[-1].clock or 0
        gains[name] = 100 * (1 - last.median / there.median)
        parts.append(f"{name} {units.percent(gains[name])} from {near.clock:g} GHz on")
    holds = sum(gain <= 100 * PLATEAU for gain in gains.values()) > len(names) / 2
    return Outcome("; ".join(parts), verdict_of(holds), () if holds else _why_jobs_differ(a, gains, low, high))


def _not_always_best(a: Analysis) -> Outcome:
    _needs(a, True)
    parts, lower = [], 0
    for name in _names(a, JOBS):
        points = _jobs_at_clocks(a, name)
        found = best(a, "node", points)
        lower += found is not points[-1]
        parts.append(f"{name}: least energy at {found.clock:g} of {points[-1].clock:g} GHz")
    return Outcome("; ".join(parts), verdict_of(lower > 0), (), a.provenance)


def _hybrid(metric: str, lo: float, hi: float, mode: str) -> Callable[[Analysis], Outcome]:
    """What a mode saves against `standard`, in percent, within the range."""

    def judge(a: Analysis) -> Outcome:
        _needs(a, metric == "node")
        point = next(iter(a.select(series=PROCESSES, mode=mode)), None)
        found = a.saving(metric, a.like(point, mode="standard") if point else None, point)
        if found is None:
            raise NotTestable(f"modes standard and {mode} were not both measured")
        kind = a.provenance if metric == "node" else "measured"
        return Outcome(f"{units.percent(found.median)}", verdict_of(lo <= found.median <= hi), (), kind)

    return judge


def _groups(a: Analysis) -> Outcome:
    points = a.select(series=PROCESSES, wait="spin", mode="off", clock=None)
    found = [(p, groups) for p in points if (groups := clusters_of(a, p))]
    if not found:
        raise NotTestable("the jobs left no profile")
    point, groups = found[0]
    shares = [fmean(s) for s in zip(*a.waits(point), strict=True)]
    parts = []
    for group in groups:
        waits = [100 * shares[i] for i in group]
        parts.append(f"PEs {units.ranges(sorted(group))} wait {min(waits):.0f} to {max(waits):.0f} %")
    return Outcome("; ".join(parts), verdict_of(len(groups) > 1))


def _memory_lower(a: Analysis) -> Outcome:
    _needs(a, True)
    parts, lower = [], True
    for name in MEMORY:
        points = at_clocks(a, PHASES, name)
        energy, seconds = best(a, "node", points), best(a, "seconds", points)
        lower = lower and (energy.clock or 0) < (points[-1].clock or 0)
        parts.append(f"{name}: least time at {seconds.clock:g} GHz, least energy at {energy.clock:g}")
    return Outcome("; ".join(parts), verdict_of(lower), (), a.provenance)


def _compute_time(a: Analysis) -> Outcome:
    _needs(a, False)
    points = at_clocks(a, PHASES, FMA)
    seconds = [c.median for p in points if (c := a.center("seconds", p))]
    if len(seconds) < 2:
        raise NotTestable("needs two clocks at least")
    ours = (
        f"{units.seconds(seconds[0])} at {points[0].clock:g} GHz, {units.seconds(seconds[-1])} at {points[-1].clock:g}"
    )
    return Outcome(ours, verdict_of(all(later <= earlier for earlier, later in pairwise(seconds))))


_row = partial(of_dissertation, SETUP)

ROWS: list[Published[Analysis]] = [
    _row(
        "job-time",
        "4.1, figure 4.1a",
        "1.2 to 2.6 GHz",
        "some programs gain more than 20 % time, others at most 10 %",
        "the most and the least of ours do",
        _gains_differ,
    ),
    _row(
        "job-plateau",
        "4.1",
        "beyond 2.2 GHz",
        "most programs stop gaining",
        f"{PLATEAU * 100:.0f} % at most, of more than half",
        _plateau,
    ),
    _row(
        "job-energy",
        "4.1, figure 4.1b",
        "each clock",
        "the highest clock does not always cost the least energy",
        "one program at least",
        _not_always_best,
    ),
    _row(
        "process-groups",
        "4.2, figure 4.3",
        "waiting by process",
        "processes fall into groups by their polling time",
        "two groups at least",
        _groups,
    ),
    _row("hybrid-energy", "4.2", "hybrid", "saves 10.6 % energy", "5 to 16 %", _hybrid("node", 5, 16, "hybrid")),
    _row("hybrid-time", "4.2", "hybrid", "costs 0.6 % time", "2 % at most", _hybrid("seconds", -2, 100, "hybrid")),
    _row(
        "reduced-time",
        "4.2",
        "reduced",
        "costs up to 27 % time",
        "more than hybrid's 2 %",
        _hybrid("seconds", -1000, -2, "reduced"),
    ),
    _row(
        "phase-compute",
        "4.3, figure 4.6",
        "FMA, CI about 6",
        "time falls with every higher clock",
        "no median above the one before",
        _compute_time,
    ),
    _row(
        "phase-memory",
        "4.3 and 11.2.2, figures 4.7, 11.2 to 11.5",
        "STREAM",
        "the least energy is at a lower clock than the highest",
        "all four kernels",
        _memory_lower,
    ),
]
