"""The judges of the study of slack: each compares a statement of the dissertation with the samples."""

from __future__ import annotations

import math
from statistics import fmean

from wattle.study import papers
from wattle.study.published import NotTestable, Outcome, by_form, needed, past, verdict_of
from wattle.study.stats import Center, trend
from wattle.study.sweep.analysis import ONLY_RECORDS, Analysis, Point
from wattle.text import units

RATIOS, EARLY, PAIRS = "ratios", "early", "pairs"
EARLY_CR = 3.0  # of the two series with several PEs, where work is unequal
MEETS = ("barrier", "pairs")
SHORT = 1.05  # CR of the timeline whose slack is too short for a change of clock
BOOST = ("performance", "hybrid")
NEAR = 1.0  # percent, or percentage points, that count as no difference


def baseline(a: Analysis, point: Point) -> Point | None:
    return a.like(point, mode="baseline")


def saving(a: Analysis, metric: str, point: Point) -> Center:
    """The saving of a mode against the baseline at the same load."""
    found = a.saving(metric, baseline(a, point), point)
    if found is None:
        raise NotTestable(f"mode {point.policy} and its baseline were not both measured")
    return found


def _modes(a: Analysis, series: str, modes: tuple[str, ...], **wanted: float) -> list[Point]:
    found = a.select(series=series, mode=modes, scaling="proactive", **wanted)
    if not found:
        raise NotTestable(f"no sample of {' or '.join(modes)} with these loads")
    return found


def _listed(a: Analysis, metric: str, points: list[Point]) -> str:
    return "; ".join(
        f"{p.mode} at CR {p.x:g}, EC {p.y:g}: {units.percent(saving(a, metric, p).median)}" for p in points
    )


def saves_time(a: Analysis) -> Outcome:
    a.needs_clocks(otherwise=ONLY_RECORDS)
    points = [p for p in _modes(a, RATIOS, BOOST) if (p.x or 0) > SHORT]
    others = [p for p in points if saving(a, "seconds", p).median <= NEAR]
    why = tuple(dict.fromkeys(UNSEEN if p.wait == "spin" else IDLE for p in others))
    return Outcome(_listed(a, "seconds", points), verdict_of(not others), why if a.knob.simulated else ())


def costs_time(a: Analysis) -> Outcome:
    a.needs_clocks(otherwise=ONLY_RECORDS)
    points = _modes(a, RATIOS, ("hybrid", "energy"), x=1.0)
    beyond = past(max(saving(a, "seconds", p).median for p in points), -math.inf, -NEAR)
    why = "Here a clock is lowered only where slack was seen, so that with CR = 1 no clock is changed."
    ours = _listed(a, "seconds", points)
    return Outcome(ours, verdict_of(not beyond), (why,) if beyond else (), past=beyond)


def boost_beats_energy(a: Analysis) -> Outcome:
    a.needs_clocks(joules=True, otherwise=ONLY_RECORDS)
    points = [p for p in _modes(a, RATIOS, BOOST) if (p.x or 0) > SHORT]
    pairs = [(p, other) for p in points if (other := a.like(p, mode="energy"))]
    holds = all(_gap(a, p, other) > NEAR for p, other in pairs)
    found = [p for pair in pairs for p in pair]
    ours = _listed(a, "node", list(dict.fromkeys(found)))
    return Outcome(ours, verdict_of(holds), _raised(a, holds, DEAR), a.provenance)


DEAR = (
    "By the profile a core above the base clock costs more power than it gains speed. Raising late PEs saves "
    "joules only where many PEs wait for few."
)
UNSEEN = (
    "A late PE is raised after the governor has seen its region often enough. A job this short ends before that at "
    "some loads (the timelines give the changes)."
)
IDLE = (
    "Where early PEs sleep instead of spinning, the governor raises far fewer clocks (see changes in a job), and "
    "its saving is about 0."
)


def _raised(a: Analysis, holds: bool, why: str) -> tuple[str, ...]:
    """The reason why a simulation differs, if it does."""
    return (why,) if a.knob.simulated and not holds else ()


def _gap(a: Analysis, point: Point, other: Point) -> float:
    """The saving of a mode less that of another, in percentage points."""
    return saving(a, "node", point).median - saving(a, "node", other).median


def grows(a: Analysis, key: str, series: str, over_energy: bool = False) -> Outcome:
    """Judges that the saving of boosting rises with CR, or with EC, and is one at the highest. `over_energy`: the
    saving beyond that of energy mode.
    """
    a.needs_clocks(joules=True, otherwise=ONLY_RECORDS)
    points = [p for p in _modes(a, series, BOOST) if (p.x or 0) > SHORT]
    if len({getattr(p, key) for p in points}) < 3:
        raise NotTestable("needs three loads at least to rise with")
    values: dict[str, dict[float, list[float]]] = {mode: {} for mode in BOOST}
    for p in points:
        other = a.like(p, mode="energy")
        if over_energy and other is None:
            raise NotTestable("energy mode was not measured at each load")
        found = _gap(a, p, other) if over_energy and other else saving(a, "node", p).median
        values[p.mode].setdefault(getattr(p, key), []).append(found)
    means = {mode: {at: fmean(found) for at, found in sorted(some.items())} for mode, some in values.items()}
    holds = all(_rises(list(some), list(some.values())) for some in means.values())
    what = "beyond energy mode: " if over_energy else ""
    ours = "; ".join(
        f"{mode}: {units.percent(found)} at {NAMES[key]} {at:g}"
        for mode, some in means.items()
        for at, found in some.items()
    )
    return Outcome(f"{what}{ours}", verdict_of(holds), _raised(a, holds, DEAR), a.provenance)


NAMES = {"x": "CR", "y": "EC"}


def _rises(x: list[float], y: list[float]) -> bool:
    """Whether y rises with x, by more than no difference, to more than none."""
    return trend(x, y) > 0.5 and y[-1] - y[0] > NEAR and y[-1] > NEAR


def effect_is_reversed(a: Analysis) -> Outcome:
    """Judges that with CR = 1 the saving falls with EC, as it rises with EC elsewhere."""
    a.needs_clocks(joules=True, otherwise=ONLY_RECORDS)
    points = _modes(a, EARLY, ("hybrid",), x=1.0)
    found = [saving(a, "node", p).median for p in points]
    if len(found) < 3:
        raise NotTestable("needs three loads at least to fall with")
    lost = found[0] - found[-1]
    falls = trend([p.y or 0 for p in points], found) < -0.5 and lost > NEAR
    beyond = past(lost, NEAR, math.inf)
    return Outcome(_listed(a, "node", points), verdict_of(falls), () if falls else (EVEN,), a.provenance, beyond)


EVEN = "A clock is lowered only where slack was seen. With CR = 1 there is none, so EC has no effect."


def leaves_short_alone(a: Analysis) -> Outcome:
    """Judges that the governor loses no time in a slack too short for a change of clock. By D figures 11.1 D and 11.9 D
    a change there would delay the barrier; nothing here forces one.
    """
    a.needs_clocks(otherwise=ONLY_RECORDS)
    longer = [p for p in a.select(series=RATIOS, mode=("energy", "hybrid")) if (p.x or 0) > SHORT]
    if not any(a.changes(p) for p in longer):
        raise NotTestable("the governor changed no clock at longer slack either, so it left none alone")
    points = needed(a.select(series=RATIOS, mode=("energy", "hybrid"), x=SHORT), f"no sample with CR = {SHORT}")
    lost = [
        (p, found) for p in points if (other := baseline(a, p)) and (found := a.saving("seconds", other, p)) is not None
    ]
    if not lost:
        raise NotTestable("there is no baseline to compare with")
    ours = "; ".join(f"{p.wait}, {p.policy}: time {units.percent(-found.median)}" for p, found in lost)
    holds = all(found.median > -NEAR for _, found in lost)
    if not holds and all(found.hi > -NEAR for _, found in lost):
        raise NotTestable(
            f"times of these samples spread by more than the {NEAR:g} % in question, so no difference is certain "
            f"({ours})"
        )
    return Outcome(ours, verdict_of(holds))


def pairs_save(a: Analysis, metric: str, least: float) -> Outcome:
    """Judges that PEs which meet in pairs, where another one is late each time, need less than with a barrier."""
    if metric == "node":
        a.needs_joules()
    saved = {}
    for ratio in (1.0, EARLY_CR):
        point = next(iter(a.select(series=PAIRS, name="pairs", x=ratio)), None)
        found = a.saving(metric, a.like(point, name="barrier") if point else None, point)
        saved[ratio] = needed(found, "barrier and pairs were not both measured")
    ours = "; ".join(f"CR {ratio:g}: {units.percent(found.median)}" for ratio, found in saved.items())
    outcome = Outcome(f"saved at {ours}", verdict_of(saved[EARLY_CR].lo >= least), (), a.kind(metric))
    return by_form(a, outcome, "A simulated PE waits for the PEs that it meets and for no other.")


PAPERS = papers.read(__file__)
ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
