"""The judges of the study of power budgets: the time under a budget beside an optimum and beside equal caps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wattle.base.checked import parse_json
from wattle.study import papers, samples
from wattle.study.published import NotTestable, Outcome, needed, verdict_of
from wattle.study.stats import Center, center, savings
from wattle.study.sweep.analysis import METRICS, Analysis, Point

BUDGET, CAP = "budget", "off"  # modes; the scaling is the part of the highest watts in percent
NOISE = 2.0  # percent by which work differs in the cases with seeds
NO_CAPS = "equal caps were not measured"
ABOVE = 2.0  # percent above the budget that a second may be

Value = Callable[[dict[str, Any]], float | None]


def part_of(point: Point) -> float:
    return float(point.scaling.removesuffix(" %"))


def more(key: str) -> Value:
    """A number that only the samples under a budget have."""

    def value(row: dict[str, Any]) -> float | None:
        facts = parse_json(samples.FILE, row["more_json"])
        return facts.positive(key) if facts.has(key) else None

    return value


def capped(a: Analysis, point: Point) -> Point | None:
    """The same case under equal caps."""
    return a.like(point, mode=CAP)


def _of(a: Analysis, point: Point, value: Value) -> dict[tuple[int, int], float | None]:
    return {(row["round"], row["repeat"]): value(row) for row in a.points[point]}


def saved(a: Analysis, metric: str, point: Point) -> Center | None:
    """Percent that a budget saves of an equal cap's figure, seed by seed."""
    cap = capped(a, point)
    if cap is None:
        return None
    before, after = (_of(a, p, METRICS[metric].value) for p in (cap, point))
    runs = sorted(set(before) & set(after))
    return center(savings([before[run] for run in runs], [after[run] for run in runs]))


def beyond(a: Analysis, point: Point) -> Center | None:
    """Percent by which a budget takes longer than the optimum, seed by seed."""
    best, took = _of(a, point, more("optimum_s")), _of(a, point, METRICS["seconds"].value)
    return center(-s for run in sorted(took) for s in savings([best[run]], [took[run]]) if s is not None)


def highest(a: Analysis, point: Point) -> float | None:
    """The highest second of all seeds, in percent of the budget."""
    of = (_of(a, point, more(key)) for key in ("highest_w", "budget_w"))
    found = [100 * high / watts for high, watts in zip(*(m.values() for m in of), strict=True) if high and watts]
    return max(found, default=None)


def _points(a: Analysis, **wanted: Any) -> list[Point]:
    return needed(a.select(mode=BUDGET, **wanted), "no sample under such a budget")


def where(point: Point) -> str:
    noise = f", work ± {point.y:g} %" if point.y else ""
    return f"{point.name}, {point.x:g} to 1 at {point.scaling}, {point.pes} PEs{noise}"


def _worst(found: list[tuple[Point, float]]) -> str:
    point, value = max(found, key=lambda pair: pair[1])
    return f"at most {value:+.1f} % in {len(found)} cases ({where(point)})"


def near(a: Analysis, pattern: str, most: float) -> Outcome:
    """Judges that no case of a pattern takes longer than the optimum by more than `most` percent, with each seed."""
    points = _points(a, name=pattern)
    found = [
        (p, needed(beyond(a, p), "an optimum needs the watts of a simulated core at each clock").hi) for p in points
    ]
    return Outcome(_worst(found), verdict_of(all(v <= most for _, v in found)), (), a.provenance)


def no_slower(a: Analysis, most: float) -> Outcome:
    """Judges that no case takes longer than under equal caps by more than `most` percent."""
    found = [(p, -needed(saved(a, "seconds", p), NO_CAPS).lo) for p in _points(a)]
    return Outcome(_worst(found), verdict_of(all(v <= most for _, v in found)), (), a.provenance)


def kept(a: Analysis) -> Outcome:
    """Judges that no second is above the budget by more than ABOVE percent."""
    found = [(p, h - 100) for p in _points(a) if (h := highest(a, p)) is not None]
    needed(found, "no job lasted a second")
    return Outcome(_worst(found), verdict_of(all(v <= ABOVE for _, v in found)), (), a.provenance)


def gains(a: Analysis, ratio: float, percent: float, least: float) -> Outcome:
    """Judges the time and the joules saved against equal caps in static imbalance, with unequal work."""
    points = _points(a, name="static", x=ratio, scaling=f"{percent:g} %", y=NOISE)
    found = [(p, needed(saved(a, "seconds", p), NO_CAPS), needed(saved(a, "own", p), NO_CAPS)) for p in points]
    if any(s.n < 2 for _, s, _ in found):
        raise NotTestable("one seed shows no spread")
    words = "; ".join(f"time {-s.median:+.1f} %, energy {-j.median:+.1f} % ({where(p)})" for p, s, j in found)
    holds = all(s.lo >= least and j.above_zero for _, s, j in found)
    return Outcome(words, verdict_of(holds), (), a.provenance)


PAPERS = papers.read(__file__)
ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
