"""Rows, ratios within pairs of runs, and what they say about a bar."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from bench.jobs import BEST, OTHERS, Figures

FEWEST = 7  # pairs, below which quartiles mean nothing and no verdict is given
DISTURBED = 0.1  # share of the machine that others used in a run, from which on the run's pair is disturbed


@dataclass(frozen=True)
class Row:
    """One line of the comparison. `bar` is what the project promises: the most the ratio of times may be. `lenient`: an
    older, weaker promise that is still told. `against`: the second side's key, where it is another one than `key`."""

    key: str
    label: str
    bytes: int = 0  # shown as bandwidth where not zero
    bar: float | None = None
    lenient: float | None = None
    against: str = ""


def one_sided(test: str, label: str, size: int = 8, *, bandwidth: bool = False, bar: float | None = None) -> list[Row]:
    """Two rows: the target is busy with work of its own, the target waits."""
    shown = size if bandwidth else 0
    targets = {"computing": "busy", "waiting": "waits"}
    return [Row(f"{test}/{size}/{target}", f"{label}, {does}", shown, bar) for target, does in targets.items()]


def quartiles(values: list[float]) -> tuple[float, float]:
    """The lower and the upper one; of one value, that."""
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
    best_ratios: list[float] = field(default_factory=list)  # of the best batches of both runs; not for every row
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
        """Other work ran beside more than a third of the pairs."""
        return 3 * self.disturbed_pairs > len(self.ratios)

    @property
    def verdict(self) -> str:
        """Empty where nothing was promised or too few pairs were run."""
        if self.row.bar is None or len(self.ratios) < FEWEST:
            return ""
        low, high = self.quartiles
        word = "met" if self.median <= self.row.bar else "not met"
        return f"{word} (close)" if low <= self.row.bar <= high else word

    def as_data(self) -> dict:
        """For the JSON file; times in seconds."""
        return asdict(self) | {
            "median_ratio": self.median,
            "quartiles": list(self.quartiles),
            "best_ratio": self.best,
            "verdict": self.verdict,
            "disturbed": self.disturbed,
        }


Pairs = list[tuple[Figures, Figures]]


def both_of(first: str, second: str, pairs: Pairs) -> Pairs:
    """The pairs where both sides have their figure."""
    return [(a, b) for a, b in pairs if first in a and second in b]


def comparison(row: Row, pairs: Pairs) -> Comparison | None:
    """The row's figures; None where a side has none."""
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
    """Every row that both sides have figures for."""
    pairs = list(pairs)
    return [found for row in rows if (found := comparison(row, pairs))]


def between(rounds: list[list[Figures]], first: int, second: int) -> Pairs:
    """Pairs of two of the sides that alternated; of one with itself, where two of its own figures are compared."""
    return [(r[first], r[second]) for r in rounds]


def as_data(comparisons: list[Comparison]) -> list[dict]:
    """Comparisons for the JSON file."""
    return [c.as_data() for c in comparisons]
