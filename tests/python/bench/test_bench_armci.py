"""ARMCI's figures in `make bench`: sums that must agree, and the joules at a profile's upper bound."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bench import armci, learned, schemes
from bench.jobs import OTHERS

KEYS = ("clocks[0].active", "clocks[0].asleep", "idle.cpu", "idle.dram")


@pytest.fixture
def watts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core of 10 W, 8 to 12; asleep 0, -1 to 1; a socket's idle draw of 20 and 5 W, known exactly."""
    ends = ((8.0, 12.0), (-1.0, 1.0), (20.0,), (5.0,))
    corners = [dict(zip(KEYS, corner, strict=True)) for corner in itertools.product(*ends)]
    monkeypatch.setattr(schemes, "corners", lambda: (dict(zip(KEYS, (10.0, 0.0, 20.0, 5.0), strict=True)), corners))


def rounds(asleep: tuple[float, float], polling: tuple[float, float], n: int = 7) -> list[list[dict[str, float]]]:
    """(seconds, CPU seconds) of both PEs, for puts of 64 KiB."""
    both = [{"put/65536": s, "put/65536/cpu": c, OTHERS: 0.0} for s, c in (asleep, polling)]
    return [both] * n


def bars(*words: Any) -> tuple[Any, Any]:
    pes, nodes = schemes.energy_bars("a title", "put", "64 KiB", rounds(*words))
    return pes, nodes


def test_joules_at_worst_are_those_of_the_corner_where_sleeping_saves_least(watts):
    pes, nodes = bars((1.0, 0.4), (1.0, 2.0))
    assert pes.value == pytest.approx((8 * 0.4 + 1.6) / (8 * 2))
    assert nodes.value == pytest.approx((8 * 0.4 + 1.6 + 100) / (8 * 2 + 100))
    assert (pes.verdict, nodes.verdict, pes.ours, pes.other) == ("met", "met", "4.00 J", "20.0 J")


def test_a_longer_time_costs_the_nodes_idle_draw(watts):
    pes, nodes = bars((1.3, 0.4), (1.0, 2.0))
    assert pes.verdict == "met"
    assert nodes.verdict == "not met"
    assert nodes.beyond > 0


def test_too_few_pairs_give_no_verdict_on_joules(watts):
    few = rounds((1.0, 0.4), (1.0, 2.0), 3)
    assert {bar.verdict for bar in schemes.energy_bars("a title", "put", "64 KiB", few)} == {""}


def test_cpu_seconds_have_a_bar_where_ranks_idle(monkeypatch):
    monkeypatch.setattr(armci.os, "sched_getaffinity", lambda _: {0, 1})
    barred = {n: [row.key for row in armci.array_rows(n) if row.bar == armci.CPU_BAR] for n in (2, 4)}
    assert barred == {2: ["idle_cpu"], 4: ["dgemm_cpu", "jacobi_cpu", "idle_cpu"]}


def test_sums_that_differ_between_libraries_are_reported():
    figures = {"dgemm_sum": 3.0, "jacobi_sum": -7.0, "idle_sum": 0.5}
    assert armci.same_sums([[figures, figures]]) == "the same in all runs"
    assert "differ by up to" in armci.same_sums([[figures, figures | {"jacobi_sum": -7.001}]])


def ring(*rounds: dict[int, tuple[float, float]]) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Rounds of polling and asleep, of which these are the ratios in time and CPU seconds; elsewhere 2 and 2."""
    polling, asleep = [], []
    for ratios in rounds:
        polling.append({})
        asleep.append({})
        for size in learned.SIZES:
            time, cpu = ratios.get(size, (2.0, 2.0))
            polling[-1] |= {f"put/{size}": 1.0, f"put/{size}/cpu": 2.0}
            asleep[-1] |= {f"put/{size}": time, f"put/{size}/cpu": 2 * cpu}
    return polling, asleep


def test_sleeping_pays_from_the_size_on_with_the_fewest_on_the_wrong_side():
    large = {size: (1.04, 0.5) for size in learned.SIZES if size >= 65536}
    assert learned.crossovers(*ring(large), "put") == [65536]
    assert learned.crossovers(*ring(large | {8192: (1.0, 0.5)}), "put") == [65536]  # by chance
    assert learned.crossovers(*ring(large | {65536: (1.06, 0.5)}), "put") == [131072]
    assert learned.crossovers(*ring(large | {65536: (1.0, 1.0)}), "put") == [131072]
    assert learned.crossovers(*ring({}), "put") == [2 * learned.SIZES[-1]]
    assert learned.crossovers(*ring({learned.SIZES[-2]: (1.0, 0.5)}), "put") == [
        learned.SIZES[-2],
        2 * learned.SIZES[-1],
    ]


def test_where_rounds_differ_by_chance_all_places_are_as_good():
    large = {size: (1.04, 0.5) for size in learned.SIZES if size >= 65536}
    more, less = large | {65536: (1.06, 0.5)}, large | {65536: (1.02, 0.5), 131072: (1.06, 0.5)}
    assert learned.pays(*ring(large, large, more, less), "put", 32768) is False
    assert learned.pays(*ring(large, more, more, less), "put", 65536) is None
    assert learned.pays(*ring(large, large, more, less), "put", 262144) is True
    places = learned.crossovers(*ring(large, more, less, more, less), "put")
    assert places == [65536, 131072, 262144]
    assert learned.span(places) == "64.0 KiB to 256 KiB"
    assert learned.span(places[:1]) == "64.0 KiB"
    assert learned.span([learned.SIZES[-1], 2 * learned.SIZES[-1]]) == "1.00 MiB to none up to 1.00 MiB"


def test_a_bar_shows_the_learned_and_the_measured_threshold():
    polling, asleep = ring(*3 * [{size: (1.0, 0.5) for size in learned.SIZES if size >= 65536}])
    both = [
        [{key.replace("put", op): value for op in learned.OPS for key, value in side.items()} | {OTHERS: 0.0}]
        for side in (polling[0], asleep[0])
    ]
    rounds = [[both[0][0], both[1][0]]] * 3
    bars = learned.bars_of("1gbit", rounds, dict.fromkeys(learned.OPS, 131072), judged=True)
    assert len(bars) == len(learned.OPS)
    assert {(bar.ours, bar.other, bar.value, bar.verdict) for bar in bars} == {("128 KiB", "64.0 KiB", 2, "met")}


def test_learned_and_measured_are_apart_by_a_factor_within_the_sizes_that_were_tried():
    assert (learned.factor(32768, 65536), learned.factor(131072, 32768)) == (2, 4)
    assert learned.factor(16, learned.SIZES[0]) == 1
    assert learned.factor(1 << 30, 2 * learned.SIZES[-1]) == 1
