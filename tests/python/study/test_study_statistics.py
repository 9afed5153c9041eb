"""Medians, intervals and savings against values worked out another way."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from wattle.study.stats import center, line, rank_interval, savings, trend


def coverage(n: int, cut: int) -> float:
    """Of the median, by counting: the chance that at least cut + 1 of n coins, and at most n - cut - 1, show heads."""
    return sum(math.comb(n, k) for k in range(cut + 1, n - cut)) / 2**n


def test_a_median_and_its_quartiles_are_those_of_the_standard_library():
    rng = random.Random(7)
    for n in range(2, 40):
        values = [rng.lognormvariate(0, 1) for _ in range(n)]
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
        found = center(values)
        assert (found.p25, found.median, found.p75, found.n) == pytest.approx((low, middle, high, n))


def test_an_interval_is_the_narrowest_pair_of_ranks_with_enough_confidence():
    for n in range(1, 40):
        lo, hi, confidence = rank_interval(list(range(n)))
        cut = int(lo)
        assert hi == n - 1 - cut, n
        assert confidence == pytest.approx(coverage(n, cut)), n
        assert confidence >= 0.95 or cut == 0, n
        assert 2 * (cut + 1) >= n or coverage(n, cut + 1) < 0.95, n


def test_an_interval_holds_the_true_median_as_often_as_it_claims():
    rng = random.Random(3)
    claimed = rank_interval(range(9))[2]
    rounds, held = 4000, 0
    for _ in range(rounds):
        lo, hi, _confidence = rank_interval([rng.expovariate(1) for _ in range(9)])
        held += lo <= math.log(2) <= hi
    assert held / rounds == pytest.approx(claimed, abs=0.015)


def test_one_value_is_its_own_interval_and_claims_no_confidence():
    found = center([4.0])
    assert (found.median, found.lo, found.hi, found.n, found.confidence) == (4.0, 4.0, 4.0, 1, 0.0)


def test_a_gap_is_left_out_and_counted_out():
    found = center([1.0, None, 3.0, float("nan")])
    assert (found.median, found.n) == (2.0, 2)


def test_nothing_known_gives_no_number():
    assert center([]) is None
    assert center([None, None]) is None


def test_a_saving_is_positive_where_the_cost_falls():
    assert savings([10.0, 10.0], [8.0, 15.0]) == pytest.approx([20.0, -50.0])


def test_a_saving_on_an_unknown_cost_or_on_nothing_is_unknown():
    assert savings([None, 1.0, 0.0], [1.0, None, 1.0]) == [None, None, None]


def test_savings_of_unpaired_values_are_refused():
    with pytest.raises(ValueError, match="cannot be paired"):
        savings([1.0], [1.0, 2.0])


def test_a_trend_is_plus_one_for_any_rise_and_minus_one_for_any_fall():
    assert trend([1, 2, 4, 8], [1, 10, 11, 500]) == pytest.approx(1)
    assert trend([1, 2, 4, 8], [9, 8, 1, 0]) == pytest.approx(-1)


def test_what_does_not_change_has_no_trend():
    assert trend([1, 2, 4], [5, 5, 5]) == 0
    assert trend([1, 2], [1, 2]) == 0


def test_trends_and_lines_are_those_of_scipy_where_values_are_equal_too():
    from scipy.stats import linregress, spearmanr  # slow to load

    for seed in range(20):
        rng = random.Random(seed)
        x = [rng.choice((rng.uniform(1, 1e9), 2.0, 3.0)) for _ in range(rng.randrange(5, 60))] + [0.0, 1.0, 4.0]
        y = [rng.choice((3 * value + rng.gauss(0, 5), 7.0)) for value in x[:-2]] + [-1.0, -2.0]
        assert trend(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12), seed
        found, right = line(x, y), linregress(x, y)
        expected = (right.slope, right.intercept, len(x))
        assert (found.slope, found.intercept, found.n) == pytest.approx(expected, rel=1e-9), seed
        assert found.r2 == pytest.approx(right.rvalue**2, abs=1e-12), seed


def test_no_line_goes_through_what_does_not_vary():
    assert line([1, 2, 2, 1], [1, 2, 3, 4]) is None
    assert line([1, 2, 3], [5, 5, 5]) is None


def test_the_interval_of_a_thousand_values_is_found():
    lo, hi, confidence = rank_interval(range(1000))
    assert (lo, hi) == (468, 531) and confidence == pytest.approx(coverage(1000, 468))
