"""The judges of the study of PASCoL: each compares a figure of the paper with the samples.

Energy is the node's, including idle, as the paper measured it. Ratios are over polling, repeat by repeat in the
order of the runs. The bytes are the same on both sides, so a ratio of joules is one of joules per MB.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wattle.study import papers
from wattle.study.published import NotTestable, Outcome, Verdict, needed, past, verdict_of
from wattle.study.stats import Center, center
from wattle.study.sweep.analysis import METRICS, Analysis, Point
from wattle.text import units

RING = "ring"
PAPERS = papers.read(__file__)
OPS: dict[str, int] = PAPERS.values["crossover"]  # bytes from which sleeping with scaling wins
NEAR = 0.05  # relative to polling's latency: "less than 5% difference"
CONVERGED = 1 + NEAR
SMALL = 1024  # bytes of a small message; the paper gives no number
WIDE = 3.0  # percentage points that a saving may differ
LEAST = 1.0  # percent that an effect must exceed


@dataclass(frozen=True)
class Scheme:
    """One way of waiting. `mode`: of the clock. The aware scheme decides both by size."""

    name: str
    wait: str
    mode: str


SCHEMES = (
    Scheme("polling", "spin", "off"),
    Scheme("polling, scaled", "spin", "scale"),
    Scheme("sleeping", "sleep", "off"),
    Scheme("sleeping, scaled", "sleep", "scale"),
)
POLLING, POLLING_SCALED, SLEEPING, SLEEPING_SCALED = SCHEMES
AWARE = Scheme("power-aware", "adaptive", "aware")
CALLED = {scheme.name: scheme for scheme in SCHEMES}


def points(a: Analysis, op: str, scheme: Scheme) -> list[Point]:
    return a.select(series=RING, name=op, wait=scheme.wait, mode=scheme.mode)


def ratio(a: Analysis, metric: str, op: str, scheme: Scheme, size: float) -> Center | None:
    """The ratio over polling, in pairs."""
    before, after = (a.select(series=RING, name=op, wait=s.wait, mode=s.mode, x=size) for s in (POLLING, scheme))
    if not before or not after:
        return None
    value = METRICS[metric].value
    pairs = zip(a.points[before[0]], a.points[after[0]], strict=False)
    both = [(value(first), value(second)) for first, second in pairs]
    return center(y / x for x, y in both if x and y is not None)


def waits(a: Analysis) -> bool:
    """Whether there are waits: only with more than one node."""
    return a.knob.simulated or a.place.across


def paying(a: Analysis) -> Scheme:
    """The scheme that should win from the crossover on: with scaling where the knob and the joules show clocks, else by
    sleep alone.
    """
    return SLEEPING_SCALED if a.knob.acts and a.knows_clocks else SLEEPING


def pays(a: Analysis, op: str, size: float) -> bool | None:
    """Whether the scheme wins at a size: less energy, beyond chance, and latency within 5 %."""
    energy, latency = (ratio(a, metric, op, paying(a), size) for metric in ("node", "seconds"))
    if energy is None or latency is None:
        return None
    return energy.hi < 1 and latency.median <= CONVERGED


def crossover(a: Analysis, op: str) -> int | None:
    """The smallest size from which the scheme wins at all sizes. None where there is none, where joules are not known,
    or where there are no waits, so that it would win by chance.
    """
    sizes = sorted({int(p.x or 0) for p in points(a, op, POLLING)}) if waits(a) else []
    found = None
    for size in reversed(sizes):
        if not pays(a, op, size):
            break
        found = size
    return found


def spread(a: Analysis, op: str) -> str:
    """The ratios at the largest size where their spread hides a crossover; else empty."""
    sizes = [p.x or 0 for p in points(a, op, POLLING)] if waits(a) else []
    energy = ratio(a, "node", op, paying(a), max(sizes)) if sizes else None
    if energy is None or crossover(a, op) is not None or not energy.median < 1 <= energy.hi:
        return ""
    return f"{energy.lo:.2f} to {energy.hi:.2f} x polling's energy at {units.size(int(max(sizes)))}"


def crossover_words(a: Analysis, op: str) -> str:
    size = crossover(a, op)
    if not waits(a):
        return units.UNKNOWN
    if size is not None:
        return units.size(size)
    return "unclear" if spread(a, op) else "none"


def learned(a: Analysis, op: str) -> int | None:
    """The learned threshold: the median of the jobs that tried both ways, the lower one of two middle values."""
    facts = [t.integer(op) for p in points(a, op, AWARE) for t in a.more(p, "thresholds")]
    return int(statistics.median_low(facts)) if facts else None


# ---- rows ----


def _between_nodes(judge: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Wraps the judge of a figure about transfers between nodes, as all figures of this study are."""

    @functools.wraps(judge)
    def judged(a: Analysis, **at: Any) -> Outcome:
        if not waits(a):
            raise NotTestable(
                "within a node an operation is a copy by its caller without a wait, and the schemes differ by "
                "chance only"
            )
        return judge(a, **at)

    return judged


def _why(a: Analysis, saves_more: bool) -> tuple[str, ...]:
    """Why sleeping saves more than was published, or from smaller sizes on; or less."""
    if a.knob.simulated:
        wake, change = (units.seconds(a.numbers.get(key)) for key in ("wake", "clock_change"))
        return (
            f"In simulation a wake-up takes {wake} and a change of clock {change}. A process that sleeps draws none of "
            "the watts of a core at work; the paper does not say how much of a transfer its processes slept.",
        )
    if saves_more:
        return (
            "Over TCP a transfer takes longer than over InfiniBand, so more of its time is waited. Where other "
            "work is running, a process that polls shares the core with it.",
        )
    return (
        "The network is TCP on the same processors, not InfiniBand: a sleep costs more, and transfers keep cores busy.",
    )


def _no_crossover(a: Analysis, op: str) -> None:
    if found := spread(a, op):
        raise NotTestable(f"the samples spread too much for a verdict ({found})")


@_between_nodes
def crossover_is_near(a: Analysis, op: str) -> Outcome:
    a.needs_joules()
    _no_crossover(a, op)
    size = crossover(a, op)
    ours = f"{paying(a).name} pays from {units.size(size)}" if size else f"{paying(a).name} pays at no size"
    close = size is not None and OPS[op] / 2 <= size <= OPS[op] * 2
    why = () if close else _why(a, size is not None and size < OPS[op])
    beyond = past(size, OPS[op] / 2, OPS[op] * 2, "times") if size else None
    return Outcome(ours, verdict_of(close), why, a.provenance, beyond)


def _why_learned(op: str, own: int) -> str:
    if own == OPS[op]:
        return (
            "It is the start value of thresholds: trials may cost at most 1 % of a job's time, so short "
            "jobs try little."
        )
    return "Thresholds are learned from few trials in jobs of their own; the crossover comes from other jobs."


@_between_nodes
def learned_is_near(a: Analysis, op: str) -> Outcome:
    """Judges the threshold that the runtime learned. It is not published."""
    a.needs_joules()
    found, own = crossover(a, op), learned(a, op)
    if own is None:
        raise NotTestable("no threshold was learned: too few transfers were tried the other way")
    _no_crossover(a, op)
    if found is None:
        raise NotTestable(f"there is no crossover here to compare {units.size(own)} with")
    close = found / 2 <= own <= found * 2
    why = () if close else (_why_learned(op, own),)
    ours = f"learned {units.size(own)}, crossover {units.size(found)}"
    return Outcome(ours, verdict_of(close), why, a.provenance)


def _clocks(a: Analysis) -> None:
    if not a.knob.acts:
        raise NotTestable(f"{a.knob.words}; no clock was changed")
    if not a.knows_clocks:
        raise NotTestable(f"joules are {a.provenance} here and do not depend on the clock")


@_between_nodes
def saved(a: Analysis, op: str, scheme: str, percent: float, size: int | None = None) -> Outcome:
    """Judges the energy per MB from the paper's crossover on, or at one size."""
    a.needs_joules()
    way = CALLED[scheme]
    if way.mode == "scale":
        _clocks(a)
    sizes = [x for p in points(a, op, way) if (x := p.x or 0) >= OPS[op] and size in (None, x)]
    ratios = [ratio(a, "node", op, way, x) for x in sizes]
    middle = needed(center(100 * (1 - r.median) for r in ratios if r), "was not measured")
    where = f"at {units.size(size)}" if size else f"in the median over sizes from {units.size(OPS[op])}"
    ours = f"{units.percent(middle.median)} saved {where}"
    beyond = past(middle.median, max(percent - WIDE, LEAST), percent + WIDE)
    why = _why(a, middle.median > percent) if beyond else ()
    return Outcome(ours, verdict_of(not beyond), why, a.provenance, beyond)


@_between_nodes
def latencies_converge(a: Analysis, op: str) -> Outcome:
    scheme = SLEEPING_SCALED if a.knob.acts else SLEEPING
    ratios = [
        r for p in points(a, op, scheme) if (p.x or 0) >= OPS[op] and (r := ratio(a, "seconds", op, scheme, p.x or 0))
    ]
    if not ratios:
        raise NotTestable("was not measured")
    farthest = max(ratios, key=lambda r: abs(r.median - 1))
    close = abs(farthest.median - 1) <= NEAR
    least, most = (f(r.median for r in ratios) for f in (min, max))
    ours = f"{scheme.name}: {least:.2f} to {most:.2f} x polling's from {units.size(OPS[op])}"
    beyond = any(r.lo > 1 + NEAR or r.hi < 1 - NEAR for r in ratios)
    hidden = any(r.lo < 1 - NEAR and r.hi > 1 + NEAR for r in ratios)
    if not beyond and (hidden or not close):
        raise NotTestable(f"the samples spread too much for a verdict ({ours})")
    least_size = min(p.x or 0 for p in points(a, op, scheme))
    first = ratio(a, "seconds", op, scheme, least_size)
    if close and first is not None and abs(first.median - 1) <= NEAR:
        why = f"At {units.size(least_size)} it is {first.median:.2f} already: nothing has converged."
        return Outcome(ours, Verdict.WORSE, (why,))
    by = past(100 * (farthest.median - 1), -100 * NEAR, 100 * NEAR)
    return Outcome(ours, verdict_of(close), () if close else _why(a, farthest.median < 1), past=by)


@_between_nodes
def in_order(a: Analysis, metric: str, schemes: Sequence[str], words: str) -> Outcome:
    """Judges that, in the median over operations and small sizes, each of `schemes` costs more than the one before."""
    if metric != "seconds":
        a.needs_joules()
    if any(CALLED[name].mode == "scale" for name in schemes):
        _clocks(a)
    middles = []
    for scheme in (CALLED[name] for name in schemes):
        found = [
            ratio(a, metric, op, scheme, p.x or 0) for op in OPS for p in points(a, op, scheme) if (p.x or 0) <= SMALL
        ]
        middle = needed(center(r.median for r in found if r), "was not measured")
        middles.append(middle.median)
    ours = ", ".join(f"{name} {m:.2f}" for name, m in zip(schemes, middles, strict=True))
    rising = all(y > (1 + LEAST / 100) * x for x, y in pairwise(middles))
    kind = "measured" if metric == "seconds" else a.provenance
    return Outcome(f"{ours} x polling's {words}", verdict_of(rising), () if rising else _why(a, True), kind)


@_between_nodes
def slightly_slower(a: Analysis, op: str, size: int) -> Outcome:
    """Judges "a slight degradation": longer than polling by more than no effect, and by 10 % at most."""
    scheme = SLEEPING_SCALED if a.knob.acts else SLEEPING
    found = needed(ratio(a, "seconds", op, scheme, size), f"{units.size(size)} was not measured")
    ours = f"{scheme.name}: {found.median:.2f} x polling's at {units.size(size)}"
    beyond = past(100 * (found.median - 1), LEAST, 200 * NEAR)
    return Outcome(ours, verdict_of(not beyond), _why(a, found.median < 1) if beyond else (), past=beyond)


ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
