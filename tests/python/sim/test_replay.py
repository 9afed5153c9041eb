"""Replaying a job's work and barriers: closed forms, the oracle as a bound, and a recorded run as a trace."""

from __future__ import annotations

import numpy as np
import pytest
from wattle.figures import intervals
from wattle.record.timeline_file import EVENT, Kept, Span, Timeline
from wattle.sim.recorded import MEET
from wattle.sim.replay import Core, Policy, Trace, oracle, run

ACTIVE, SPIN, ASLEEP, ALWAYS = np.array([4.0, 10.0]), np.array([3.0, 9.0]), np.array([0.0, 0.0]), 1.0
NONE = np.zeros(2)
CORE = Core(
    (1.0, 2.0),
    np.array([1.0, 2.0]),
    1,
    {"active": ACTIVE, "spin": SPIN, "yield": SPIN, "asleep": ASLEEP},
    {"active": NONE, "spin": NONE, "yield": NONE, "asleep": NONE},
    ALWAYS,
    0.0,
    wake_s=0.01,
    change_s=0.005,
)
STEPS = 20
TRACE = Trace(np.tile([1.0, 4.0], (STEPS, 1)), np.zeros(STEPS))
BASE = Policy("base clock")


def test_spinning_at_the_base_clock_costs_its_watts_for_as_long_as_it_lasts() -> None:
    out = run(TRACE, CORE, BASE)
    assert out.seconds == pytest.approx(4 * STEPS)
    assert out.joules == pytest.approx(STEPS * (1 * 10 + 3 * 9 + 4 * 10 + 2 * 4 * ALWAYS))


def test_a_clock_for_each_pe_that_ends_in_time_costs_no_time() -> None:
    out = run(TRACE, CORE, Policy("plan", clocks=(0, 1)))
    assert out.seconds == pytest.approx(4 * STEPS)
    assert out.joules == pytest.approx(STEPS * (2 * 4 + 2 * 3 + 4 * 10 + 2 * 4 * ALWAYS))


def test_a_low_clock_for_all_makes_the_job_longer() -> None:
    assert run(TRACE, CORE, Policy("low", clocks=(0, 0))).seconds == pytest.approx(8 * STEPS)


def test_a_sleeper_draws_nothing_and_is_late_by_its_waking_up() -> None:
    out = run(TRACE, CORE, Policy("sleep", wait="sleep"))
    assert out.seconds == pytest.approx(4 * STEPS + 0.01)  # the early PE's, whose load is small, but at the end
    assert out.by_state["asleep"] == 0 and "spin" in out.by_state and out.by_state["spin"] == 0


def test_a_reactive_pe_spins_for_two_changes_and_then_at_the_lowest_clock() -> None:
    out = run(Trace(np.array([[1.0, 4.0]]), np.zeros(1)), CORE, Policy("energy", reactive=True))
    spins = 2 * 0.005 * 9 + (3 - 3 * 0.005) * 3
    always = out.seconds * 2 * ALWAYS
    assert out.joules == pytest.approx(10 + 40 + spins + 2 * 0.005 * 10 + always)
    assert out.seconds == pytest.approx(4.005)


@pytest.mark.parametrize("wait", ["spin", "yield", "sleep", "adaptive"])
def test_no_policy_draws_less_than_the_oracle_with_the_same_way_to_wait(wait: str) -> None:
    rng = np.random.default_rng(7)
    trace = Trace(rng.uniform(0.05, 2.0, (40, 12)), rng.uniform(0, 0.01, 40))
    bound = run(trace, CORE, oracle(wait)).joules
    ways = [{}, {"reactive": True}, {"stretches": True}, {"raises": True, "stretches": True}]
    for way in ways:
        assert run(trace, CORE, Policy("some", wait=wait, **way)).joules >= bound * (1 - 1e-9)  # type: ignore[arg-type]


def test_the_oracle_loses_no_time_and_saves_nothing_under_equal_loads() -> None:
    trace = Trace(np.full((5, 3), 2.0), np.zeros(5))
    assert run(trace, CORE, oracle("spin")).joules == pytest.approx(run(trace, CORE, BASE).joules)
    assert run(TRACE, CORE, oracle("sleep")).seconds == pytest.approx(4 * STEPS)


def facts(spans: list[tuple[int, int, Span]]) -> Timeline:
    events = np.array([(begin, end, 1, 0, span, -1) for begin, end, span in spans], dtype=EVENT)
    kept = Kept(len(events), len(events), 0, 0.0, 0.0, sum(span == Span.COLLECTIVE for _, _, span in spans))
    return Timeline(0, 1, 0, 50, 50, 50, 1.0, None, ["shmem_barrier_all"], [kept], [events])


def test_a_collective_within_another_is_a_part_of_it() -> None:
    spans = [(11, 14, Span.COLLECTIVE), (14, 20, Span.COLLECTIVE), (10, 20, Span.COLLECTIVE), (20, 22, Span.COLLECTIVE)]
    pe = intervals.spans_of(facts([*spans, (12, 13, Span.SPIN)]), same=True)
    assert pe.collectives.tolist() == [[10, 20], [20, 22]] and pe.waits.tolist() == [[12, 13]] and pe.total == 4


def test_between_collectives_a_pe_computes_except_for_its_other_waits() -> None:
    spans = [
        (5, 8, Span.ASLEEP),
        (10, 20, Span.COLLECTIVE),
        (11, 20, Span.SPIN),
        (19, 19, Span.SPIN),
        (22, 23, Span.SPIN),
    ]
    computing, elsewhere = intervals.computing(
        intervals.spans_of(facts([*spans, (30, 40, Span.COLLECTIVE)]), same=True)
    )
    assert computing.tolist() == [7, 9, 10] and elsewhere == 4


def test_calls_in_which_all_wait_for_all_are_known_by_their_names() -> None:
    meet = (
        "shmem_barrier_all",
        "shmem_int_sum_reduce",
        "shmem_team_sync",
        "MPI_Barrier",
        "MPI_Allreduce",
        "MPI_Alltoallv",
    )
    others = ("shmem_int_put", "shmem_broadcast64", "MPI_Send", "MPI_Win_sync", "MPI_Alloc_mem", "MPI_Reduce")
    assert all(MEET.search(name) for name in meet) and not any(MEET.search(name) for name in others)
