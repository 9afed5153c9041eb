"""The rank test of Mann and Whitney: whether two samples come from distributions with the same centre."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

EXACT_MOST = 8  # samples of the smaller side, above which the normal approximation is good enough


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided probability of samples that differ as much by chance (H. B. Mann and D. R. Whitney, 1947).

    It is exact for samples without equal values of which one has at most EXACT_MOST. Otherwise it is the normal
    approximation, corrected for equal values and for continuity. Both samples must have a value, and not all values may
    be equal.
    """
    m, n = sorted((len(first), len(second)))
    greater = sum((a > b) + 0.5 * (a == b) for a in first for b in second)
    u = max(greater, m * n - greater)
    ties = [count for count in Counter((*first, *second)).values() if count > 1]
    if not ties and m <= EXACT_MOST:
        counts = _ways(m, n)
        return min(1.0, 2 * sum(counts[int(u) :]) / math.comb(m + n, m))
    whole = m + n
    tied = sum(count**3 - count for count in ties) / (whole * (whole - 1))
    deviation = math.sqrt(m * n / 12 * (whole + 1 - tied))
    return min(1.0, math.erfc((u - m * n / 2 - 0.5) / deviation / math.sqrt(2)))


def _ways(m: int, n: int) -> list[int]:
    """The number of orders of m and n values for each value of U, 0 to m n. These are the coefficients of the Gaussian
    binomial: the product over i = 1..m of (1 - x^(n+i)) / (1 - x^i).
    """
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for k in range(m * n, n + i - 1, -1):
            ways[k] -= ways[k - n - i]
        for k in range(i, m * n + 1):
            ways[k] += ways[k - i]
    return ways
