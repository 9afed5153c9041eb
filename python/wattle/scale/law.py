"""Fits a law of the number of processes n to times or joules: a sum of few terms with factors of at least 0.

The candidates are all sums of up to MOST terms. The one with the least corrected information criterion of Akaike (C. M.
Hurvich and C.-L. Tsai, 1989) is taken, as performance models of Extra-P choose among few terms. Errors are relative, so
that small and large numbers of processes count alike. The interval comes from fits to repeats that are drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import nnls

Points = Mapping[int, Sequence[float]]  # the values of the repeats by number of processes
Term = Callable[[np.ndarray], np.ndarray]
TERMS: dict[str, Term] = {
    "1": lambda n: np.ones_like(n),
    "1/n": lambda n: 1 / n,
    "log2(n)": np.log2,
    "n": lambda n: n,
    "n log2(n)": lambda n: n * np.log2(n),
    "n^2": lambda n: n**2,
}
OF_TIME = ("1", "1/n", "log2(n)", "n")  # serial and parallel part, trees, and messages to all others
OF_JOULES = tuple(TERMS)  # of n processes for that time, and of the idle nodes
MOST = 3
DRAWN = 200  # fits to repeats that are drawn again
LEAST_SIZES = 3  # numbers of processes
SEED = 1


@dataclass(frozen=True)
class Law:
    """A law. `factors`: by term. `drawn`: those of the fits to drawn repeats, a row each; empty without repeats."""

    factors: dict[str, float]
    drawn: np.ndarray

    def at(self, n: np.ndarray) -> np.ndarray:
        """The values for numbers of processes."""
        found: np.ndarray = _columns(tuple(self.factors), n) @ np.array(list(self.factors.values()))
        return found

    def drawn_at(self, n: np.ndarray) -> np.ndarray:
        """The values of each drawn fit, a row each; with no drawn fit the law itself."""
        columns = _columns(tuple(self.factors), n)
        return np.atleast_2d(self.drawn @ columns.T if len(self.drawn) else self.at(n))

    def interval(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The range of about 95 % of each value; None without repeats."""
        if not len(self.drawn):
            return None
        low, high = np.percentile(self.drawn_at(n), (2.5, 97.5), axis=0)
        return low, high

    @property
    def words(self) -> str:
        """`0.05 + 0.95/n + 0.002 log2(n)`."""
        parts = []
        for name, factor in self.factors.items():
            parts.append(f"{factor:.3g}" + ("" if name == "1" else "/n" if name == "1/n" else f" {name}"))
        return " + ".join(parts) or "0"


def fit(points: Points, terms: Sequence[str]) -> Law | None:
    """The law of some points; None with fewer than LEAST_SIZES numbers of processes."""
    if len(points) < LEAST_SIZES:
        return None
    n, y = _flat(points)
    best = min(_candidates(terms, len(points)), key=lambda names: _criterion(names, n, y))
    factors = _factors(best, n, y)
    kept = [name for name, factor in zip(best, factors, strict=True) if factor > 0]
    drawn = np.array(list(_drawn(points, kept))) if any(len(values) > 1 for values in points.values()) else np.empty(0)
    return Law(dict(zip(kept, _factors(kept, n, y), strict=True)), drawn)


def _flat(points: Points) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(n, value) for n, values in sorted(points.items()) for value in values]
    return np.array([n for n, _ in pairs], dtype=float), np.array([value for _, value in pairs])


def _candidates(terms: Sequence[str], sizes: int) -> list[tuple[str, ...]]:
    most = min(MOST, sizes - 1)  # a law through all points would have no error
    return [names for k in range(1, most + 1) for names in combinations(terms, k)]


def _columns(names: Sequence[str], n: np.ndarray) -> np.ndarray:
    return np.stack([TERMS[name](n) for name in names], axis=1)


def _factors(names: Sequence[str], n: np.ndarray, y: np.ndarray) -> np.ndarray:
    found: np.ndarray = nnls(_columns(names, n) / y[:, None], np.ones_like(y))[0]
    return found


def _criterion(names: Sequence[str], n: np.ndarray, y: np.ndarray) -> float:
    """The corrected information criterion of the relative errors."""
    errors = _columns(names, n) @ _factors(names, n, y) / y - 1
    count, free = len(y), len(names) + 1
    beyond = max(count - free - 1, 0.5)
    square = max(float(np.mean(errors**2)), 1e-12)
    return float(count * np.log(square) + 2 * free + 2 * free * (free + 1) / beyond)


def _drawn(points: Points, names: Sequence[str]) -> list[np.ndarray]:
    chance = np.random.default_rng(SEED)
    found = []
    for _ in range(DRAWN):
        again = {n: list(chance.choice(np.asarray(values), len(values))) for n, values in points.items()}
        found.append(_factors(names, *_flat(again)))
    return found
