"""Medians, spreads and paired comparisons.

The interval of a median comes from ranks (the inverted sign test), which assumes nothing about the distribution of
the noise. Its coverage is computed exactly. With few repeats the wanted confidence may not be reachable: the
interval is then the whole range, and `confidence` gives its coverage.

Uses NumPy only: `scipy.stats` takes a second to load, and most commands use this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

CONFIDENCE = 0.95
FEWEST = 6  # fewest values whose range holds the median with that confidence: 1 - 2 / 2^6 is 97 %


@dataclass(frozen=True)
class Center:
    """The centre of repeated values: median, its interval (lo to hi, at `confidence`), quartiles, number of repeats."""

    median: float
    lo: float
    hi: float
    p25: float
    p75: float
    n: int
    confidence: float

    def as_dict(self) -> dict[str, float | int]:
        return {
            "median": self.median,
            "lo": self.lo,
            "hi": self.hi,
            "p25": self.p25,
            "p75": self.p75,
            "n": self.n,
            "confidence": self.confidence,
        }

    @property
    def above_zero(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.lo > 0

    @property
    def below_zero(self) -> bool:
        return self.hi < 0


def center(values: Iterable[float | None]) -> Center | None:
    """The centre of the known values; `n` is their number. None without any."""
    found = [v for v in values if v is not None and math.isfinite(v)]
    if not found:
        return None
    ordered = sorted(map(float, found))
    p25, median, p75 = (quantile(ordered, part) for part in (0.25, 0.5, 0.75))
    lo, hi, confidence = rank_interval(ordered)
    return Center(median, lo, hi, p25, p75, len(ordered), confidence)


def quantile(ordered: Sequence[float], part: float) -> float:
    """The value at a part of the way through ordered values, on a straight line between its neighbours."""
    below = min(int(part * (len(ordered) - 1)), max(len(ordered) - 2, 0))
    above = ordered[min(below + 1, len(ordered) - 1)]
    return ordered[below] + (part * (len(ordered) - 1) - below) * (above - ordered[below])


def rank_interval(values: Sequence[float] | np.ndarray, wanted: float = CONFIDENCE) -> tuple[float, float, float]:
    """(lo, hi, confidence): the narrowest symmetric pair of order statistics that holds the median with at least the
    wanted confidence. The whole range where no pair does.
    """
    ordered = sorted(float(v) for v in values)
    n = len(ordered)
    if n == 0:
        raise ValueError("no values")
    cut = 0  # values left out at each end
    while 2 * (cut + 1) < n and _coverage(n)[cut + 1] >= wanted:
        cut += 1
    return ordered[cut], ordered[n - 1 - cut], _coverage(n)[cut]


@cache
def _coverage(n: int) -> list[float]:
    """By the number of values left out at each end of n values: the probability that the true median is within the
    rest.
    """
    covered, below, ways = [], 0, 1  # outcomes of n coins with fewer heads than `cut`, and with exactly `cut`
    for cut in range((n + 1) // 2):
        below += ways
        covered.append(1 - 2 * below / 2**n)
        ways = ways * (n - cut) // (cut + 1)
    return covered


def savings(before: Sequence[float | None], after: Sequence[float | None]) -> list[float | None]:
    """Percent saved in each pair: (before - after) / before * 100. Positive is a saving."""
    if len(before) != len(after):
        raise ValueError(f"{len(before)} values before and {len(after)} after cannot be paired")
    return [None if b is None or a is None or b == 0 else (b - a) / b * 100 for b, a in zip(before, after, strict=True)]


def trend(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's rank correlation of x and y, -1 to 1. 0 where there is nothing to rank."""
    if len(x) < 3 or len(set(y)) < 2 or len(set(x)) < 2:
        return 0.0
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray:
    """Ranks from 1. Equal values get the mean of their ranks."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(times) - (times - 1) / 2)[place]


@dataclass(frozen=True)
class Line:
    """y = slope x + intercept, and r2, the share of y's variance that it explains."""

    slope: float
    intercept: float
    r2: float
    n: int

    def as_dict(self) -> dict[str, float | int]:
        return {"slope": self.slope, "intercept": self.intercept, "r2": self.r2, "n": self.n}


def line(x: Sequence[float], y: Sequence[float]) -> Line | None:
    """A line by least squares. None with fewer than three different x, or where y does not vary."""
    if len(set(x)) < 3 or len(set(y)) < 2:
        return None
    (of_x, shared), (_, of_y) = np.cov(x, y)
    slope = shared / of_x
    return Line(float(slope), float(np.mean(y) - slope * np.mean(x)), float(shared**2 / (of_x * of_y)), len(x))
