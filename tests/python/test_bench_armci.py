"""What `make bench` makes of ARMCI's figures: sums that must agree, and joules at the worst of a profile."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import armci, schemes
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


def test_sums_that_differ_between_libraries_are_said():
    figures = {"dgemm_sum": 3.0, "jacobi_sum": -7.0, "idle_sum": 0.5}
    assert armci.same_sums([[figures, figures]]) == "the same in all runs"
    assert "differ by up to" in armci.same_sums([[figures, figures | {"jacobi_sum": -7.001}]])
