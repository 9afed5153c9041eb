"""Decides whether two figures differ by more than their uncertainty.

A difference must exceed two uncertainties. The first is the spread of repeats, judged by the exact rank test of Mann
and Whitney at 5 %. The second, for joules, is the meter's half-width of each figure. The half-widths are added, the
worst case, so that no wrong number in a machine profile could undo a claimed saving. Where one profile modelled both
figures, the half-width of the difference is smaller (see shared_model.py).

Joules of two sources have no verdict: measured and modelled ones, those of two sensors or models, or of two scopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wattle.base.documents import fields
from wattle.compare.rank_test import p_value
from wattle.figures.metrics import Spread
from wattle.text.provenance import Joules

ALPHA = 0.05
FEWEST_REPEATS = 4  # with three and three repeats, complete separation happens by chance once in ten


class Verdict(StrEnum):
    BEYOND = "beyond uncertainty"
    WITHIN = "within uncertainty"
    UNTESTED = "not tested"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Difference:
    """`saving_percent`: (before - after) / before x 100, so positive is a saving. None where it is not known."""

    saving_percent: float | None
    verdict: Verdict
    why: str

    def as_dict(self) -> dict[str, object]:
        return fields(self, "saving_percent verdict why")


def saving(before: float | None, after: float | None) -> float | None:
    """The saving in percent: I = (before - after) / before x 100."""
    if before is None or after is None or before == 0:
        return None
    return (before - after) / before * 100


def difference(before: Spread, after: Spread, width: float | None = None) -> Difference:
    """The difference of two medians. `width`: its half-width where that is smaller than the sum of both."""
    percent = saving(before.median, after.median)
    if before.median is None or after.median is None:
        return Difference(None, Verdict.UNKNOWN, "a figure is not known")
    by_meter = _meter_says(before, after, width)
    if by_meter is not None and by_meter.verdict is not Verdict.BEYOND:
        return Difference(percent, by_meter.verdict, by_meter.why)
    by_spread = spread_says(before.values, after.values)
    untested = by_spread.verdict is Verdict.UNTESTED
    meter = f"{by_meter.why}, " if by_meter is not None and untested else ""
    return Difference(percent, by_spread.verdict, meter + by_spread.why)


@dataclass(frozen=True)
class _Opinion:
    verdict: Verdict
    why: str


def _meter_says(before: Spread, after: Spread, width: float | None) -> _Opinion | None:
    """The verdict by the meter's uncertainty. None for figures that have none."""
    if before.joules is None or after.joules is None:
        return None
    if other := _of_another_kind(before.joules, after.joules):
        return _Opinion(Verdict.UNKNOWN, other)
    if before.joules.uncertainty is None or after.joules.uncertainty is None:
        return _Opinion(Verdict.UNKNOWN, "the meter's uncertainty is not known")
    if width is None:
        width = before.joules.uncertainty + after.joules.uncertainty
    gap = abs((before.median or 0.0) - (after.median or 0.0))
    if gap > width:
        return _Opinion(Verdict.BEYOND, "beyond the ±")
    return _Opinion(Verdict.WITHIN, "within the ±")


def _of_another_kind(before: Joules, after: Joules) -> str:
    """Why two known figures cannot be compared: `measured and modelled`. Empty where they can."""
    for name in ("provenance", "source", "scope"):
        b, a = str(getattr(before, name)), str(getattr(after, name))
        if b != a:
            return f"{b or 'none'} and {a or 'none'}" if name == "provenance" else f"another {name}"
    return ""


def spread_says(before: Sequence[float], after: Sequence[float]) -> _Opinion:
    """The verdict of the rank test, if there are enough repeats."""
    fewest = min(len(before), len(after))
    if fewest < FEWEST_REPEATS:
        return _Opinion(Verdict.UNTESTED, f"{fewest} of {FEWEST_REPEATS} repeats")
    if set(before) == set(after) and len(set(before)) == 1:
        return _Opinion(Verdict.WITHIN, "all equal")
    p = p_value(before, after)
    verdict = Verdict.BEYOND if p < ALPHA else Verdict.WITHIN
    return _Opinion(verdict, f"p = {p:.2g}")
