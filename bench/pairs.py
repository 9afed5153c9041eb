"""Rows, ratios within pairs of runs, and the verdict about a bar."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from bench.jobs import BEST, OTHERS, Figures

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


def one_sided(test: str, label: str, size: int = 8, *, bandwidth: bool = False, bar: float | None = None) -> list[Row]:
    """Two rows: the target computes, the target waits."""
    shown = size if bandwidth else 0
    targets = {"computing": "busy", "waiting": "waits"}
    return [Row(f"{test}/{size}/{target}", f"{label}, {does}", shown, bar) for target, does in targets.items()]


def quartiles(values: list[float]) -> tuple[float, float]:
    """The lower and the upper quartile; of one value, the value itself."""
    if len(values) < 2:
        return values[0], values[0]
    cuts = statistics.quantiles(values, n=4, method="inclusive")
    return cuts[0], cuts[2]


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

    def as_data(self) -> dict:
        """The comparison as a dictionary for the JSON file; times in seconds."""
        return asdict(self) | {
            "median_ratio": self.median,
            "quartiles": list(self.quartiles),
            "best_ratio": self.best,
            "verdict": self.verdict,
            "disturbed": self.disturbed,
        }


Pairs = list[tuple[Figures, Figures]]


def both_of(first: str, second: str, pairs: Pairs) -> Pairs:
    """The pairs in which both sides have their figure."""
    return [(a, b) for a, b in pairs if first in a and second in b]


def comparison(row: Row, pairs: Pairs) -> Comparison | None:
    """The comparison of a row; None where a side has no figures."""
    keys = row.key, row.against or row.key
    pairs = both_of(*keys, pairs)
    if not pairs:
        return None
    first, second = keys
    best = both_of(BEST + first, BEST + second, pairs)
    return Comparison(
        row,
        statistics.median(a[first] for a, _ in pairs),
        statistics.median(b[second] for _, b in pairs),
        [a[first] / b[second] for a, b in pairs],
        [a[BEST + first] / b[BEST + second] for a, b in best],
        sum(max(a.get(OTHERS, 0.0), b.get(OTHERS, 0.0)) > DISTURBED for a, b in pairs),
    )


def compare(rows: Iterable[Row], pairs: Iterable[tuple[Figures, Figures]]) -> list[Comparison]:
    """The comparisons of all rows for which both sides have figures."""
    pairs = list(pairs)
    return [found for row in rows if (found := comparison(row, pairs))]


def between(rounds: list[list[Figures]], first: int, second: int) -> Pairs:
    """Pairs of two alternating sides; of one side with itself, to compare two of its own figures."""
    return [(r[first], r[second]) for r in rounds]


def as_data(comparisons: list[Comparison]) -> list[dict]:
    """Comparisons for the JSON file."""
    return [c.as_data() for c in comparisons]
