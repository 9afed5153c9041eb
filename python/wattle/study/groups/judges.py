"""The judges of the study of groups: the governor's saving beside an oracle's, and the dissertation's statements on
groups of PEs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wattle.base.checked import parse_json
from wattle.study import papers, samples
from wattle.study.published import NotTestable, Outcome, needed, verdict_of
from wattle.study.stats import Center, center, savings
from wattle.study.sweep.analysis import METRICS, ONLY_RECORDS, Analysis, Point
from wattle.text import units

ALONE, SHARED = "alone", "shared"  # each PE has a node; nodes of PER_NODE PEs
PER_NODE = 8
PERCENT = 10.0  # by how much unequal work differs
NEAR = 1.0  # percent that count as no difference

Run = tuple[int, int]  # round and seed


def _center(values: list[float]) -> Center:
    return needed(center(values), "no sample")


@dataclass(frozen=True)
class Against:
    """A mode against the oracle, in percent, by seed: the parts of the oracle's saving, and the time lost."""

    parts: list[float]
    losses: list[float]

    @property
    def part(self) -> Center:
        return _center(self.parts)

    @property
    def longer(self) -> Center:
        return _center(self.losses)


def _of(a: Analysis, point: Point, value: Callable[[dict[str, Any]], float | None]) -> dict[Run, float | None]:
    return {(row["round"], row["repeat"]): value(row) for row in a.points[point]}


def _more(key: str) -> Callable[[dict[str, Any]], float | None]:
    def value(row: dict[str, Any]) -> float | None:
        facts = parse_json(samples.FILE, row["more_json"])
        return facts.positive(key) if facts.has(key) else None

    return value


def baseline(a: Analysis, point: Point) -> Point | None:
    return a.like(point, mode="off", scaling="")


def saved(
    a: Analysis, value: Callable[[dict[str, Any]], float | None], before: Point | None, after: Point | None
) -> list[float | None]:
    """Percent saved, seed by seed."""
    if before not in a.points or after not in a.points or before is None or after is None:
        return []
    old, new = _of(a, before, value), _of(a, after, value)
    runs = sorted(set(old) & set(new))
    return savings([old[run] for run in runs], [new[run] for run in runs])


def against(a: Analysis, point: Point) -> Against | None:
    """A mode's saving in cores' joules, beside the oracle's. None without an oracle: it needs a simulated core."""
    base = baseline(a, point)
    found = saved(a, _more("cores_J"), base, point)
    most = [] if base is None else [v for _, v in sorted(_of(a, base, _more("oracle_saves")).items())]
    parts = [s / o for s, o in zip(found, most, strict=False) if s is not None and o]
    losses = [-s for s in saved(a, _more("job_s"), base, point) if s is not None]
    return Against(parts, losses) if parts and losses else None


def saves_most(a: Analysis, pattern: str, least: float) -> Outcome:
    """Judges mode energy with proactive scaling, with equal work and with each seed."""
    points = a.select(name=pattern, mode="energy", scaling="proactive")
    found = [(p, needed(against(a, p), WITHOUT)) for p in needed(points, f"no sample of {pattern}")]
    holds = all(f.part.lo >= least and f.longer.hi <= NEAR for _, f in found)
    return Outcome("; ".join(f"{where(p)}: {words(f)}" for p, f in found), verdict_of(holds), (), a.provenance)


WITHOUT = "an oracle needs the watts of a simulated core at each clock"


def where(point: Point) -> str:
    """The PEs and nodes of a case, and how equal its work is."""
    nodes = f"{PER_NODE} a node" if point.series == SHARED else "one a node"
    return f"{point.pes} PEs, {nodes}" + (f", work ± {point.y:g} %" if point.y else "")


def words(found: Against) -> str:
    return f"{_range(found.part)} of the oracle's saving, time {_range(found.longer, '+')}"


def _range(c: Center, sign: str = "") -> str:
    digits = 2 if sign else 0
    middle, lo, hi = (f"{round(v, digits) + 0.0:{sign}.{digits}f}" for v in (c.median, c.lo, c.hi))
    return f"{middle} %" if c.n == 1 else f"{middle} % ({lo} to {hi})"


def saves_in(a: Analysis, patterns: list[str]) -> Outcome:
    """Judges that modes that lower clocks save joules where only PEs of a group wait for each other."""
    a.needs_clocks(joules=True, otherwise=ONLY_RECORDS)
    points = a.select(series=ALONE, name=tuple(patterns), mode="energy", scaling="proactive", pes=_usual(a))
    found = [(p, c) for p in points if (c := center(saved(a, METRICS["node"].value, baseline(a, p), p)))]
    needed(found, "mode energy and its baseline were not both measured")
    ours = "; ".join(f"{p.name}, {where(p)}: {units.percent(c.median)}" for p, c in found)
    return Outcome(ours, verdict_of(all(c.lo > NEAR for _, c in found)), (), a.provenance)


def _usual(a: Analysis) -> int:
    """The number of PEs that all patterns ran with."""
    points = needed(a.select(series=ALONE, name="world"), "no sample of a barrier of all PEs")
    return max({p.pes for p in points}, key=lambda pes: sum(p.pes == pes for p in points))


def pairs_beat_all(a: Analysis, metric: str) -> Outcome:
    """Judges that pairs that signal each other cost less than barriers of all PEs, where work differs."""
    if METRICS[metric].energy:
        a.needs_joules()
    points = a.select(series=ALONE, name="world", mode="off", y=PERCENT, pes=_usual(a))
    base = next(iter(needed(points, "work was equal in all samples")))
    found = center(saved(a, METRICS[metric].value, base, a.like(base, name="pairs")))
    if found is None:
        raise NotTestable("pairs and the barrier of all PEs were not both measured")
    if found.n < 2:
        raise NotTestable("one seed shows no spread")
    holds = found.median > NEAR and found.above_zero
    ours = f"{units.percent(found.median)} ({found.lo:.1f} to {found.hi:.1f}, {units.several(found.n, 'sample')})"
    return Outcome(ours, verdict_of(holds), (), a.kind(metric))


PAPERS = papers.read(__file__)
ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
