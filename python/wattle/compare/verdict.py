"""Whether two figures differ by more than is uncertain about them.

Two things blur a difference: the spread of repeats, judged by the exact rank test of Mann and Whitney at 5 %, and, for
joules, the half-width that the meter gives with each figure. Both must be exceeded. The half-widths are added up, as if
the two figures erred in opposite ways: the worst case, so that no saving is claimed that a wrong number in a machine
profile could undo. Only where both were modelled by one profile is more known (see shared_model.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wattle.metrics import Spread

ALPHA = 0.05
FEWEST_REPEATS = 4  # with three and three, even complete separation happens by chance once in ten


class Verdict(StrEnum):
    BEYOND = "beyond uncertainty"
    WITHIN = "within uncertainty"
    UNTESTED = "not tested"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Difference:
    """`saving_percent`: (before - after) / before x 100, positive is a saving; None where it cannot be told."""

    saving_percent: float | None
    verdict: Verdict
    why: str

    def as_dict(self) -> dict[str, object]:
        return {"saving_percent": self.saving_percent, "verdict": str(self.verdict), "why": self.why}


def saving(before: float | None, after: float | None) -> float | None:
    """I = (before - after) / before x 100."""
    if before is None or after is None or before == 0:
        return None
    return (before - after) / before * 100


def difference(before: Spread, after: Spread, width: float | None = None) -> Difference:
    """The difference of two medians and what it is worth. `width`: half-width of the difference, where it is known
    better than as the sum of both figures' half-widths."""
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
    """None for figures that no meter's uncertainty belongs to."""
    if before.joules is None or after.joules is None:
        return None
    if before.joules.uncertainty is None or after.joules.uncertainty is None:
        return _Opinion(Verdict.UNKNOWN, "the meter's uncertainty is not known")
    if width is None:
        width = before.joules.uncertainty + after.joules.uncertainty
    gap = abs((before.median or 0.0) - (after.median or 0.0))
    if gap > width:
        return _Opinion(Verdict.BEYOND, "beyond the ±")
    return _Opinion(Verdict.WITHIN, "within the ±")


def spread_says(before: Sequence[float], after: Sequence[float]) -> _Opinion:
    """The rank test, where there are enough repeats for it to say anything."""
    fewest = min(len(before), len(after))
    if fewest < FEWEST_REPEATS:
        return _Opinion(Verdict.UNTESTED, f"{fewest} of {FEWEST_REPEATS} repeats")
    if set(before) == set(after) and len(set(before)) == 1:
        return _Opinion(Verdict.WITHIN, "all equal")
    from scipy.stats import mannwhitneyu

    p = float(mannwhitneyu(before, after, alternative="two-sided", method="auto").pvalue)
    verdict = Verdict.BEYOND if p < ALPHA else Verdict.WITHIN
    return _Opinion(verdict, f"p = {p:.2g}")
