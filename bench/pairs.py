"""Rows, ratios within pairs of runs, and the verdict about a bar."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from wattle.study.stats import quantile

from bench.jobs import BEST, OTHERS, Figures, Rounds

FEWEST = 7  # with fewer pairs, quartiles have no meaning and there is no verdict
DISTURBED = 0.1  # share of the machine used by others, above which the run's pair counts as disturbed


@dataclass(frozen=True)
class Row:
    """One row of a comparison. `bar` is the largest ratio of times that the project promises. `lenient`: an older,
    weaker bar that is still reported. `against`: the second side's key, where it differs from `key`.
    """

    key: str
    label: str
    bytes: int = 0  # shown as a bandwidth where not zero
    bar: float | None = None
    lenient: float | None = None
    against: str = ""


def without_bars(rows: Iterable[Row]) -> list[Row]:
    return [replace(row, bar=None, lenient=None) for row in rows]


def one_sided(
    test: str, label: str, size: int = 8, *, bandwidth: bool = False, bar: float | None = None, against: str = ""
) -> list[Row]:
    """Two rows: the target computes, the target waits. `against`: another test of the same size and target."""
    shown, other = size if bandwidth else 0, f"{against}/{size}/{{}}" if against else ""
    targets = {"computing": "busy", "waiting": "waits"}
    return [
        Row(f"{test}/{size}/{target}", f"{label}, {does}", shown, bar, against=other.format(target))
        for target, does in targets.items()
    ]


def quartiles(values: list[float]) -> tuple[float, float]:
    """The lower and the upper quartile; of one value, the value itself."""
    ordered = sorted(values)
    return quantile(ordered, 0.25), quantile(ordered, 0.75)


def disturbed_rounds(rounds: Iterable[Iterable[Figures]]) -> int:
    """The number of rounds, or pairs, in one of whose runs other work ran."""
    return sum(max(figures.get(OTHERS, 0.0) for figures in runs) > DISTURBED for runs in rounds)


@dataclass
class Comparison:
    """A row with both sides' medians and the ratios of its pairs (first over second)."""

    row: Row
    first: float
    second: float
    ratios: list[float]
    best_ratios: list[float] = field(default_factory=list)  # of the best batches of both runs; some rows have none
    disturbed_pairs: int = 0

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)

    @property
    def best(self) -> float | None:
        return statistics.median(self.best_ratios) if self.best_ratios else None

    @property
    def quartiles(self) -> tuple[float, float]:
        return quartiles(self.ratios)

    @property
    def disturbed(self) -> bool:
        """Whether other work ran during more than a third of the pairs."""
        return 3 * self.disturbed_pairs > len(self.ratios)

    @property
    def verdict(self) -> str:
        """The verdict; empty without a bar or with too few pairs."""
        if self.row.bar is None or len(self.ratios) < FEWEST:
            return ""
        low, high = self.quartiles
        word = "met" if self.median <= self.row.bar else "not met"
        return f"{word} (close)" if low <= self.row.bar <= high else word

    def as_data(self) -> dict[str, Any]:
        """The comparison as a dictionary for the JSON file; times in seconds."""
        return asdict(self) | {
            "median_ratio": self.median,
            "quartiles": list(self.quartiles),
            "best_ratio": self.best,
            "verdict": self.verdict,
            "disturbed": self.disturbed,
        }


Pairs = list[tuple[Figures, Figures]]


def compare(rows: Iterable[Row], pairs: Pairs) -> list[Comparison]:
    """The comparisons of all rows for which both sides have figures."""
    return [found for row in rows if (found := comparison(row, pairs))]


def comparison(row: Row, pairs: Pairs) -> Comparison | None:
    first, second = row.key, row.against or row.key
    pairs = [(a, b) for a, b in pairs if first in a and second in b]
    if not pairs:
        return None
    best = [(a, b) for a, b in pairs if BEST + first in a and BEST + second in b]
    return Comparison(
        row,
        statistics.median(a[first] for a, _ in pairs),
        statistics.median(b[second] for _, b in pairs),
        [a[first] / b[second] for a, b in pairs],
        [a[BEST + first] / b[BEST + second] for a, b in best],
        disturbed_rounds(pairs),
    )


def between(rounds: Rounds, first: int, second: int) -> Pairs:
    """Pairs of two alternating sides; of one side with itself, to compare two of its own figures."""
    return [(r[first], r[second]) for r in rounds]


def as_data(comparisons: list[Comparison]) -> list[dict[str, Any]]:
    """Comparisons for the JSON file."""
    return [c.as_data() for c in comparisons]
