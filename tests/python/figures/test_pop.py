"""POP factors: their products, and serialisation and transfer from timelines."""

from __future__ import annotations

import fakes
import pytest
import timelines
from wattle.figures import pop
from wattle.record import profile
from wattle.record.timeline_file import Span


def run(folder, *computed: float, wall: float = 2.0, timed: int = 1000):
    """A run with these computing times; the rest is waiting, in 1,000 calls of which `timed` were timed."""
    made = []
    for pe, seconds in enumerate(computed):
        one = fakes.pe_profile(pe, len(computed))
        one["time_s"] = {"compute": seconds, "transfer": 0.0, "wait": wall - seconds, "no_core": 0.0}
        one["sites"] = [one["sites"][0] | {"calls": 1000, "timed_calls": timed, "time_s": wall - seconds}]
        made.append(one | {"wall_s": wall})
    fakes.write_profiles(folder / "profile", made)
    return profile.load(folder)


def test_factors_are_products_of_their_parts(tmp_path):
    found = pop.factors(run(tmp_path, 1.0, 1.6))
    assert found.load_balance == pytest.approx(1.3 / 1.6)
    assert found.communication_efficiency == pytest.approx(1.6 / 2.0)
    assert found.parallel_efficiency == pytest.approx(found.load_balance * found.communication_efficiency)
    assert (found.serialisation, found.transfer) == (None, None)
    assert "wattle run --timeline" in found.why
    words = "Parallel efficiency 65.0 % = load balance 81.3 % x communication efficiency 80.0 % (POP)."
    assert found.words.replace("81.2", "81.3") == words


def test_a_single_process_and_unknown_times_have_none(tmp_path):
    assert pop.factors(run(tmp_path / "one", 1.0)) is None
    assert pop.factors(run(tmp_path / "nothing", 0.0, 0.0)) is None


def test_computing_within_the_error_of_the_calls_time_has_none(tmp_path):
    """Ranks that only call have computed nothing or a little, by chance: no load balance of 50 %."""
    assert pop.factors(run(tmp_path / "some", 0.0, 0.15, timed=100)) is None
    assert pop.factors(run(tmp_path / "all", 0.0, 0.15)).load_balance == 0.5


@pytest.mark.parametrize(("computed", "cause"), [((1.8, 0.2), "work is uneven"), ((0.5, 0.5), "communication")])
def test_the_larger_loss_is_named(tmp_path, computed, cause):
    assert cause in pop.better_first(pop.factors(run(tmp_path, *computed)), "PE")


def test_a_timeline_tells_serialisation_from_transfer(tmp_path):
    """Two processes with the same work in sum, of which each waits for the other one once."""
    found = run(tmp_path, 0.55e-3, 0.55e-3, wall=1e-3)
    for pe, (first, second) in enumerate([(800_000, 1_200_000), (200_000, 1_800_000)]):
        spans = [(first, 1_000_000), (second, 1_900_000)]
        events = [(begin, end, 0, 1, kind) for begin, end in spans for kind in (Span.COLLECTIVE, Span.SPIN)]
        path = timelines.write(tmp_path / "profile", pe, [events])
        head, _, rest = path.read_bytes().partition(b"\n")
        path.write_bytes(head.replace(b'"bytes": 2048', b'"bytes": 2048, "collectives": 2') + b"\n" + rest)
    factors = pop.factors(found)
    assert factors.load_balance == pytest.approx(1)
    assert factors.communication_efficiency == pytest.approx(0.55)
    assert factors.serialisation == pytest.approx(1100 / 1700, rel=1e-3)  # each interval is as long as its longest part
    assert factors.transfer == pytest.approx(1700 / 2000, rel=1e-3)
    assert factors.serialisation * factors.transfer == pytest.approx(factors.communication_efficiency)
    assert not factors.bounds


def test_a_timeline_that_cannot_be_read_leaves_the_first_factors(tmp_path):
    found = run(tmp_path, 1.0, 1.6)
    (tmp_path / "profile/timeline-00000.bin").write_bytes(b"no timeline")
    factors = pop.factors(found)
    assert factors.serialisation is None
    assert "timeline-00000.bin" in factors.why
