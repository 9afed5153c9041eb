"""Groups PEs with similar waits: clusters numbers on a line with the least spread inside the groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

MOST = 4  # largest number of clocks of a plan
EXPLAINED = 0.95  # share of the spread between groups above which no further group is made
ALIKE = 0.05  # share of the run's time: waits that differ by less are one group


def cluster(values: Sequence[float], whole: float) -> list[list[int]]:
    """Groups of indices, those with the smallest values first. `whole`: the total that the values are parts of."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranked = [values[i] for i in order]
    if not ranked or ranked[-1] - ranked[0] <= ALIKE * whole:
        return [order] if order else []
    total = _Sums(ranked).spread(0, len(ranked))
    for k in range(2, min(MOST, len(ranked)) + 1):
        cuts, inside = _best_cuts(ranked, k)
        if inside <= (1 - EXPLAINED) * total or k == min(MOST, len(ranked)):
            ends = [0, *cuts, len(ranked)]
            return [order[a:b] for a, b in pairwise(ends) if a < b]
    return [order]


class _Sums:
    """The spread of any part of a sorted list, in constant time."""

    def __init__(self, ranked: Sequence[float]) -> None:
        self.one, self.two = [0.0], [0.0]
        for value in ranked:
            self.one.append(self.one[-1] + value)
            self.two.append(self.two[-1] + value * value)

    def spread(self, a: int, b: int) -> float:
        """The sum of squared distances from the mean of ranked[a:b]."""
        total = self.one[b] - self.one[a]
        return max(0.0, self.two[b] - self.two[a] - total * total / (b - a)) if b > a else 0.0


def _best_cuts(ranked: Sequence[float], k: int) -> tuple[list[int], float]:
    """The optimal groups by dynamic programming: best[j][b] is the least spread of ranked[:b] in j + 1 groups."""
    sums, n = _Sums(ranked), len(ranked)
    best = [[sums.spread(0, b) for b in range(n + 1)]]
    begins: list[list[int]] = []
    for j in range(1, k):
        row, where = [0.0] * (n + 1), [0] * (n + 1)
        for b in range(1, n + 1):
            row[b], where[b] = min((best[j - 1][a] + sums.spread(a, b), a) for a in range(min(j, b), b + 1))
        best.append(row)
        begins.append(where)
    cuts, b = [], n
    for where in reversed(begins):
        b = where[b]
        cuts.append(b)
    return cuts[::-1], best[-1][n]
