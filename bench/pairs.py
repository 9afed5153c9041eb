"""Rows, ratios within pairs of runs, and what they say about a bar."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from bench.jobs import BEST, Figures

FEWEST = 7  # pairs, below which quartiles mean nothing and no verdict is given


@dataclass(frozen=True)
class Row:
    """One line of the comparison. `bar` is what the project promises: the most the ratio of times may be."""

    key: str
    label: str
    bytes: int = 0  # shown as bandwidth where not zero
    bar: float | None = None


def one_sided(test: str, label: str, size: int = 8, *, bandwidth: bool = False, bar: float | None = None) -> list[Row]:
    """Two rows: the target computes, the target waits."""
    shown = size if bandwidth else 0
    targets = {"computing": "computes", "waiting": "waits"}
    return [Row(f"{test}/{size}/{target}", f"{label}, {does}", shown, bar) for target, does in targets.items()]


@dataclass
class Comparison:
    """A row with both sides' medians and the ratios of its pairs (first over second)."""

    row: Row
    first: float
    second: float
    ratios: list[float]
    best_ratios: list[float] = field(default_factory=list)  # of the best batches of both runs; not for every row

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)

    @property
    def quartiles(self) -> tuple[float, float]:
        if len(self.ratios) < 2:
            return self.median, self.median
        cuts = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return cuts[0], cuts[2]

    @property
    def verdict(self) -> str:
        """Empty where nothing was promised or too few pairs were run."""
        if self.row.bar is None or len(self.ratios) < FEWEST:
            return ""
        low, high = self.quartiles
        word = "met" if self.median <= self.row.bar else "not met"
        return f"{word} (close)" if low <= self.row.bar <= high else word


def both_of(key: str, pairs: list[tuple[Figures, Figures]]) -> list[tuple[float, float]]:
    """One figure of both sides, of the pairs where both have it."""
    return [(a[key], b[key]) for a, b in pairs if key in a and key in b]


def ratios_of(key: str, pairs: list[tuple[Figures, Figures]]) -> list[float]:
    """First over second within each pair."""
    return [a / b for a, b in both_of(key, pairs)]


def compare(rows: Iterable[Row], pairs: Iterable[tuple[Figures, Figures]]) -> list[Comparison]:
    """Every row that both sides have figures for."""
    found, pairs = [], list(pairs)
    for row in rows:
        both = both_of(row.key, pairs)
        if both:
            first, second = (statistics.median(values) for values in zip(*both, strict=True))
            found.append(Comparison(row, first, second, [a / b for a, b in both], ratios_of(BEST + row.key, pairs)))
    return found


def between(rounds: list[list[Figures]], first: int, second: int) -> list[tuple[Figures, Figures]]:
    """Pairs of two of the sides that alternated."""
    return [(r[first], r[second]) for r in rounds]


def as_data(comparisons: list[Comparison]) -> list[dict]:
    """Comparisons for the JSON file; times in seconds."""
    return [
        asdict(c) | {"median_ratio": c.median, "quartiles": list(c.quartiles), "verdict": c.verdict}
        for c in comparisons
    ]
