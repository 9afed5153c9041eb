"""The rank test has the probabilities of SciPy's, and those that can be counted by hand."""

from __future__ import annotations

import random

import pytest
from wattle.compare.rank_test import p_value


def test_complete_separation_of_four_and_four_is_two_of_seventy_orders() -> None:
    assert p_value([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)


@pytest.mark.parametrize("most", [3, 10**9], ids=["with equal values", "without equal values"])
def test_it_agrees_with_scipy(most: int) -> None:
    from scipy.stats import mannwhitneyu  # slow to load

    for seed in range(40):
        draw = random.Random(seed)
        first, second = (
            [float(draw.randint(0, most)) for _ in range(draw.randint(4, 20 if seed % 2 else 8))] for _ in range(2)
        )
        theirs = mannwhitneyu(first, second, alternative="two-sided", method="auto").pvalue
        assert p_value(first, second) == pytest.approx(theirs, rel=1e-9), seed


def test_many_repeats_take_no_time() -> None:
    """The larger side of an exact test may have all repeats that a run can have."""
    assert p_value([-1, -2, -3, -4], list(range(999))) < 0.001
