"""The judges of the study of race to halt: each compares a statement of the dissertation with the samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

from wattle.clocks.clusters import cluster
from wattle.study import papers
from wattle.study.published import NotTestable, Outcome, Verdict, needed, past, verdict_of
from wattle.study.sweep.analysis import Analysis, Point
from wattle.text import units

JOBS, PROCESSES, ONLINE, PHASES = "jobs", "processes", "online", "phases"
# The clock of mode reduced, if it can be chosen; the text gives none. For work limited by the clock alone, 2.1 instead
# of 2.6 GHz saves 24 %.
REDUCED_GHZ = 2.1
STEPS_CR = 4  # ratio of the busiest PE's computing to that of the least busy
PLATEAU = 0.05  # relative gain of time that counts as none
AMISS = 2  # percent beyond the effect of the clock
LEAST = 1.0  # percent that an effect must exceed
LITTLE = 10  # percent of time that programs gain which gain little
APART = 10  # percentage points between the waits of the first and the last group of processes; between two drops
FLAT_GHZ = 1.8  # P-9 of the papers' processor, whose P-1 is 2.6 GHz
FMA, MEMORY = "fma", ("copy", "scale", "add", "triad")
KERNELS = (FMA, *MEMORY)
BOUND_BY_MEMORY = "triad"  # the kernel of the mini-app that memory bounds; its samples have this name


GIVEN = (
    "The loads of the processes are an input of the program, in steps or as BT-MZ's partition, and waits follow from "
    "them."
)


def clusters_of(a: Analysis, point: Point) -> list[list[int]]:
    """Groups of PEs with similar waits, those that wait least first; from the mean of the jobs."""
    jobs = a.waits(point)
    if not jobs:
        return []
    return cluster([fmean(shares) for shares in zip(*jobs, strict=True)], 1.0)


def at_clocks(a: Analysis, series: str, name: str) -> list[Point]:
    """The points at each requested clock, the lowest first."""
    found = [p for p in a.select(series=series, name=name) if p.clock is not None and p.mode == "off"]
    return sorted(found, key=lambda p: p.clock or 0)


def _names(a: Analysis, series: str) -> list[str]:
    return list(dict.fromkeys(p.name for p in a.select(series=series)))


def best(a: Analysis, metric: str, points: list[Point]) -> Point:
    return min(points, key=lambda p: c.median if (c := a.center(metric, p)) else float("inf"))


def _ends(a: Analysis, metric: str, points: list[Point]) -> float:
    """Percent saved at the highest clock against the lowest."""
    found = a.saving(metric, points[0], points[-1])
    if found is None:
        raise NotTestable(f"{metric} of {points[0].name} is not known at the lowest and at the highest clock")
    return found.median


def _why_jobs_differ(a: Analysis, gains: Mapping[str, float], low: float, high: float) -> tuple[str, ...]:
    """Reasons for different gains. `gains`: percent of time that programs gain from one clock to another. The clocks
    alone explain a part of them.
    """
    most = 100 * (1 - low / high)
    found = ["The papers' programs are solvers whose grids exceed the caches; these are a search and a graph."]
    if a.knob.simulated:
        found = [
            f"In simulation computing scales with the clock, and memory by a share: a program gains "
            f"{units.percent(most)} of its time from {low:g} to {high:g} GHz, less its waits for memory and network. "
            f"The papers' solvers wait for both."
        ]
    others = [name for name, gain in gains.items() if gain > most + AMISS or gain < -AMISS]
    if others:
        found.append(
            f"{' and '.join(others)}: the work of branch and bound depends on which PE finds a good tour first, so at "
            "another clock it searches more or less."
        )
    return tuple(found)


def _without_turbo(a: Analysis, series: str, name: str) -> list[Point]:
    """The points up to the base clock, the papers' highest. Two at least."""
    found = [p for p in at_clocks(a, series, name) if (p.clock or 0) <= (a.knob.base or math.inf)]
    if len(found) < 2:
        raise NotTestable("needs two clocks at least")
    return found


def _jobs_at_clocks(a: Analysis, name: str) -> list[Point]:
    return _without_turbo(a, JOBS, name)


def gains_differ(a: Analysis) -> Outcome:
    a.needs_clocks()
    points = {name: _jobs_at_clocks(a, name) for name in _names(a, JOBS)}
    gains = {name: _ends(a, "seconds", found) for name, found in points.items()}
    clocks = [p.clock or 0 for p in next(iter(points.values()))]
    ours = "; ".join(f"{name} {units.percent(g)}" for name, g in gains.items())
    holds = max(gains.values()) > 20 and min(gains.values()) <= 10
    return Outcome(ours, verdict_of(holds), () if holds else _why_jobs_differ(a, gains, clocks[0], clocks[-1]))


def memory_gains(a: Analysis) -> Outcome:
    """Judges that a program which memory bounds gains little time by a higher clock."""
    a.needs_clocks()
    gain = _ends(a, "seconds", _jobs_at_clocks(a, BOUND_BY_MEMORY))
    return Outcome(units.percent(gain), verdict_of(gain <= LITTLE))


def bandwidth_falls(a: Analysis, lo: float, hi: float) -> Outcome:
    """Judges how much of the memory's bandwidth is lost at the lowest clock, by the kernel that loses most."""
    a.needs_clocks()
    lost = {name: _ends(a, "seconds", _without_turbo(a, PHASES, name)) for name in MEMORY}
    most = max(lost.values())
    ours = "; ".join(f"{name} {units.percent(percent)}" for name, percent in lost.items())
    return Outcome(f"less bandwidth by {ours}", verdict_of(lo <= most <= hi))


def plateau(a: Analysis) -> Outcome:
    a.needs_clocks()
    parts, gains, gained, low, high = [], {}, {}, 0.0, 0.0
    names = _names(a, JOBS)
    for name in names:
        points = _jobs_at_clocks(a, name)
        near = min(points, key=lambda p: abs((p.clock or 0) - 2.2))
        last, there = a.center("seconds", points[-1]), a.center("seconds", near)
        if not last or not there or not near.clock or near.clock >= (points[-1].clock or 0):
            raise NotTestable("no clock between 2.2 GHz and the highest")
        low, high = near.clock, points[-1].clock or 0
        gains[name] = 100 * (1 - last.median / there.median)
        before = a.saving("seconds", points[0], near)
        gained[name] = before is not None and before.median > 100 * PLATEAU
        parts.append(f"{name} {units.percent(gains[name])} from {near.clock:g} GHz on")
    holds = sum(gain <= 100 * PLATEAU and gained[name] for name, gain in gains.items()) > len(names) / 2
    return Outcome("; ".join(parts), verdict_of(holds), () if holds else _why_jobs_differ(a, gains, low, high))


def energy_rises(a: Analysis) -> Outcome:
    """Judges that most programs use more energy at the highest clock than at the lowest."""
    a.needs_clocks(joules=True)
    rises = {name: -_ends(a, "node", _jobs_at_clocks(a, name)) for name in _names(a, JOBS)}
    more = [name for name, percent in rises.items() if percent > LEAST]
    ours = "; ".join(f"{name} {units.percent(percent)}" for name, percent in rises.items())
    return Outcome(f"more energy by {ours}", verdict_of(len(more) > len(rises) / 2), (), a.provenance)


def little_gained(a: Analysis, metric: str) -> Outcome:
    """Judges that programs that gain little time lose by a product of energy and delay."""
    a.needs_clocks(joules=True)
    points = {name: _jobs_at_clocks(a, name) for name in _names(a, JOBS)}
    little = {name: some for name, some in points.items() if _ends(a, "seconds", some) <= LITTLE}
    if not little:
        raise NotTestable(f"no program here gains {LITTLE} % of its time or less")
    saved = {name: _ends(a, metric, some) for name, some in little.items()}
    ours = "; ".join(f"{name} {units.percent(percent)}" for name, percent in saved.items())
    return Outcome(ours, verdict_of(all(percent < -LEAST for percent in saved.values())), (), a.provenance)


def mode_saves(a: Analysis, metric: str, lo: float, hi: float, mode: str) -> Outcome:
    """Judges the percent that a mode saves against `standard`, by a range."""
    a.needs_clocks(joules=metric == "node")
    point = next(iter(a.select(series=PROCESSES, mode=mode)), None)
    found = a.saving(metric, a.like(point, mode="standard") if point else None, point)
    if found is None:
        raise NotTestable(f"modes standard and {mode} were not both measured")
    kind = a.provenance if metric == "node" else "measured"
    beyond = past(found.median, lo, hi)
    return Outcome(units.percent(found.median), verdict_of(not beyond), (), kind, beyond)


def groups(a: Analysis) -> Outcome:
    points = a.select(series=PROCESSES, wait="spin", mode="off", clock=None)
    found = needed([(p, groups) for p in points if (groups := clusters_of(a, p))], "the jobs left no profile")
    point, groups = found[0]
    shares = [fmean(s) for s in zip(*a.waits(point), strict=True)]
    parts = []
    for group in groups:
        waits = [100 * shares[i] for i in group]
        parts.append(f"PEs {units.ranges(sorted(group))} wait {min(waits):.0f} to {max(waits):.0f} %")
    means = [100 * fmean(shares[i] for i in group) for group in groups]
    if len(groups) < 2 or max(means) - min(means) < APART:
        return Outcome("; ".join(parts), Verdict.WORSE)
    return Outcome("; ".join(parts), Verdict.CONSTRUCTION, (GIVEN,))


def memory_lower(a: Analysis) -> Outcome:
    """Judges that kernels limited by memory use the least energy at a lower clock than the highest without turbo."""
    a.needs_clocks(joules=True)
    parts, lower = [], True
    for name in MEMORY:
        points = _without_turbo(a, PHASES, name)
        energy, seconds = best(a, "node", points), best(a, "seconds", points)
        saved = a.saving("node", points[-1], energy)
        lower = lower and saved is not None and saved.median > LEAST
        words = f"{name}: least time at {seconds.clock:g} GHz, least energy at {energy.clock:g}"
        parts.append(words + (f" ({units.percent(saved.median)})" if saved else ""))
    return Outcome("; ".join(parts), verdict_of(lower), (), a.provenance)


def minima_differ(a: Analysis) -> Outcome:
    """Judges that computing and memory have the least energy at different clocks: at the clock of a kernel of STREAM,
    multiply-adds use more, or that kernel at theirs.
    """
    a.needs_clocks(joules=True)
    points = {name: _without_turbo(a, PHASES, name) for name in KERNELS}
    least = {name: best(a, "node", found) for name, found in points.items()}

    def more(name: str, other: str) -> float:
        there = a.like(least[name], clock=least[other].clock)
        found = needed(a.saving("node", there, least[name]), f"{name} was not measured at {least[other].clock:g} GHz")
        return found.median

    apart = {name: max(more(FMA, name), more(name, FMA)) for name in MEMORY}
    alike = [f"{name} ({units.percent(percent)})" for name, percent in apart.items() if percent <= LEAST]
    ours = "; ".join(f"{name} {point.clock:g} GHz" for name, point in least.items())
    words = f"{FMA} and {', '.join(alike)}: each uses at most {LEAST:g} % more at the clock of the other."
    return Outcome(f"least energy: {ours}", verdict_of(not alike), (words,) if alike else (), a.provenance)


def not_proportional(a: Analysis, kernels: list[str]) -> Outcome:
    """Judges that each of the kernels saves another share of its energy than of its time with a higher clock."""
    a.needs_clocks(joules=True)
    parts, holds = [], True
    for name in kernels:
        points = _without_turbo(a, PHASES, name)
        time, energy = (_ends(a, metric, points) for metric in ("seconds", "node"))
        holds = holds and abs(time - energy) > APART
        parts.append(f"{name}: time {units.percent(time)}, energy {units.percent(energy)}")
    return Outcome("; ".join(parts), verdict_of(holds), (), a.provenance)


def compute_energy(a: Analysis) -> Outcome:
    """Judges that energy first falls with a higher clock, and rises again to the highest without turbo."""
    a.needs_clocks(joules=True)
    points = _without_turbo(a, PHASES, FMA)
    least = best(a, "node", points)
    saved = [a.saving("node", end, least) for end in (points[0], points[-1])]
    against = zip((points[0], points[-1]), saved, strict=True)
    ends = " and ".join(f"{units.percent(s.median)} against {p.clock:g}" for p, s in against if s)
    holds = all(s is not None and s.median > LEAST for s in saved)
    return Outcome(f"least at {least.clock:g} GHz; saves {ends}", verdict_of(holds), (), a.provenance)


def compute_flat(a: Analysis) -> Outcome:
    """Judges that energy hardly changes from P-9 to the clock before the highest without turbo, and less than up to
    P-9.
    """
    a.needs_clocks(joules=True)
    points = _without_turbo(a, PHASES, FMA)
    flat = [p for p in points[:-1] if (p.clock or 0) >= FLAT_GHZ * (1 - PLATEAU)]
    if len(flat) < 2 or flat[0] is points[0]:
        raise NotTestable(f"needs a clock below {FLAT_GHZ:g} GHz, and two from there to the one before the highest")
    joules = [c.median for p in flat if (c := a.center("node", p))]
    change, before = 100 * (1 - min(joules) / max(joules)), _ends(a, "node", [points[0], flat[0]])
    ours = (
        f"changes by {units.percent(change)} from {flat[0].clock:g} to {flat[-1].clock:g} GHz; saves "
        f"{units.percent(before)} from {points[0].clock:g} to {flat[0].clock:g}"
    )
    return Outcome(ours, verdict_of(change <= 100 * PLATEAU and change < before), (), a.provenance)


def compute_time(a: Analysis) -> Outcome:
    a.needs_clocks()
    points = at_clocks(a, PHASES, FMA)
    seconds = [c.median for p in points if (c := a.center("seconds", p))]
    if len(seconds) < 2:
        raise NotTestable("needs two clocks at least")
    ours = (
        f"{units.seconds(seconds[0])} at {points[0].clock:g} GHz, {units.seconds(seconds[-1])} at {points[-1].clock:g}"
    )
    falls = all(later <= earlier for earlier, later in pairwise(seconds))
    return Outcome(ours, verdict_of(falls and seconds[-1] <= (1 - APART / 100) * seconds[0]))


ROWS = papers.read(__file__).figures(globals())
