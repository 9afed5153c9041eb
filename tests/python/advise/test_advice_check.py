"""`wattle advise --check` replays the run as long as it was, and takes the seconds of a finding out of it."""

import json

import advised
import fakes
import numpy as np
import pytest
import timelines
from wattle.advise.check import AS_IS, Replayed, Saving, check, here, replay_under
from wattle.advise.cli import CLUSTER
from wattle.advise.given import advise
from wattle.record import profile as profiles
from wattle.record.timeline_file import Span
from wattle.sim import recorded
from wattle.sim.recorded import Recorded
from wattle.sim.replay import Outcome, Trace

MEETINGS = 4
EVERY = 1_000_000_000  # ticks: 0.5 s, so that the run takes the 2 s of its profile


def with_timelines(run):
    """Timelines of two PEs that meet four times. PE 1 computes longer and leaves late; PE 0 waits elsewhere."""
    addr, spans = 0x555500001201, ([], [])
    for k in range(MEETINGS):
        at = EVERY * k
        spans[0].append((at + 100_000_000, at + 150_000_000, 0, 0, Span.SPIN))
        spans[0].append((at + 500_000_000, at + 920_000_000, addr, 1, Span.COLLECTIVE))
        spans[1].append((at + 900_000_000, at + 990_000_000, addr, 1, Span.COLLECTIVE))
    for pe in range(2):
        path = timelines.write(run / "profile", pe, [spans[pe]], length=MEETINGS * EVERY)
        head, _, body = path.read_bytes().partition(b"\n")
        facts = json.loads(head)
        facts["threads"] = [thread | {"collectives": MEETINGS} for thread in facts["threads"]]
        path.write_bytes(json.dumps(facts).encode() + b"\n" + body)
    return run


@pytest.fixture
def facts(tmp_path):
    return recorded.read(profiles.load(with_timelines(advised.make_run(tmp_path / "run"))))


def longest(trace):
    """The time of a replay in which all PEs spin."""
    return float((trace.compute.max(axis=1) + trace.barrier).sum())


def test_a_replay_without_a_change_takes_as_long_as_the_run(facts):
    assert facts.how.startswith("from timelines: 4 barriers of all PEs")
    assert facts.elsewhere > 0 and "waits elsewhere" in facts.with_omissions
    same = replay_under(facts, Saving(*[np.zeros(2)] * 3))
    assert longest(same) == pytest.approx(2.0)
    assert longest(facts.trace) < 2.0  # for other clocks, which do not change these waits


def test_seconds_that_the_late_pe_saves_shorten_the_run_and_those_of_another_do_not(facts):
    none, some = np.zeros(2), 0.2
    late = replay_under(facts, Saving(np.array([0.0, some]), none, none))
    early = replay_under(facts, Saving(np.array([some, 0.0]), none, none))
    # PE 1 sets the pace until each barrier, and both do after the last one.
    assert 2.0 - longest(late) == pytest.approx(some, rel=0.1)
    assert 2.0 - longest(early) < 0.2 * some


def test_savings_come_out_of_computing_waits_and_meetings_by_their_kind():
    trace = Trace(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([0.5, 0.5]))
    facts = Recorded(trace, np.array([[0.5, 0.0], [0.5, 0.0]]), trace.barrier, "", 0.0, 0.0, 0.0)
    none, both = np.zeros(2), np.array([0.5, 1.0])
    busy = replay_under(facts, Saving(both, none, none))
    assert busy.compute.sum(axis=0) == pytest.approx([2.5, 3.0]) and busy.barrier.sum() == 1.0
    waits = replay_under(facts, Saving(none, both, none))  # PE 1 has no waits of its own; PE 0 has no more than these
    assert waits.compute.sum(axis=0) == pytest.approx([2.5, 4.0]) and waits.barrier.sum() == 1.0
    meets = replay_under(facts, Saving(none, none, both))
    assert meets.compute.sum() == pytest.approx(7.0) and meets.barrier.sum() == pytest.approx(0.5)
    whole = replay_under(facts, Saving(np.array([4.0, 4.5]), none, none))
    assert whole.compute.sum() == 0 and whole.barrier.sum() == pytest.approx(0.5)


def test_a_finding_is_replayed_from_timelines_or_from_sums(tmp_path):
    for how in ("from the profile's sums", "from timelines"):
        directory = advised.make_run(tmp_path / how[-4:])
        if how == "from timelines":
            with_timelines(directory)
        found = recorded.read(profiles.load(directory))
        assert found.how.startswith(how)
        assert longest(replay_under(found, Saving(*[np.zeros(2)] * 3))) == pytest.approx(2.0)


def test_waits_in_other_calls_than_barriers_are_a_pe_s_own_in_sums(tmp_path):
    waits = {"spin": 0.3, "yield": 0.0, "asleep": 0.0}
    profiles_ = [fakes.pe_profile(pe) for pe in range(2)]
    profiles_[0]["sites"].append(fakes.site(0x1300, "shmem_long_wait_until", "wait", wait_s=waits, time_s=0.3))
    found = recorded.read(profiles.load(fakes.make_run(tmp_path / "run", profiles_)))
    assert found.own_s.sum(axis=0) == pytest.approx([0.3, 0.0])
    assert found.trace.compute.max(axis=1).sum() + found.trace.barrier.sum() == pytest.approx(2.0)
    assert longest(replay_under(found, Saving(*[np.zeros(2)] * 3))) == pytest.approx(2.0)
    less = replay_under(found, Saving(np.zeros(2), np.array([0.2, 0.0]), np.zeros(2)))
    assert longest(less) == pytest.approx(1.8)


def test_where_there_are_timelines_a_replay_decides_by_itself(tmp_path):
    def saved_s(folder: str, *late_saves: float) -> list[float]:
        """The ends of the saving by the seconds of the PEs in their quiets. PE 1 comes later to each barrier."""
        directory = advised.make_run(tmp_path / folder)
        for pe, seconds in enumerate(late_saves):
            path = directory / f"profile/pe-{pe:05d}.json"
            profile = json.loads(path.read_text())
            profile["sites"][1]["time_s"] = seconds
            path.write_text(json.dumps(profile))
        by_price = advise(directory).findings
        assert len(by_price) == 1 and not by_price[0].replayed
        found = advise(with_timelines(directory)).findings
        assert all(finding.replayed.startswith("A replay of the timelines shows it: ") for finding in found)
        return [s for finding in found for s in finding.saved.seconds.as_list()]

    low, high = saved_s("both", 0.4, 0.4)
    assert 0.1 < low < high < 0.4
    # PE 0 waits least by the sums, and PE 1 sets the pace.
    assert saved_s("other", 0.4, 0.0) == []


def test_a_number_without_a_finding_is_refused(wattle, home, tmp_path):
    directory = advised.make_run(tmp_path / "run")
    for number in (0, 2):
        done = wattle("advise", directory, "--check", number)
        assert done.returncode == 2
        assert "the run has findings 1 to 1" in done.stderr


@pytest.mark.parametrize(("share", "shown"), [(6e-11, "nothing"), (0.0009, "nothing"), (0.02, "0 to 2.0 %")])
def test_a_replay_without_a_gain_says_nothing_and_the_basis_of_the_finding(share, shown):
    before, after = Outcome(AS_IS, 1.0), Outcome(AS_IS, 1.0 - share)
    checked = Replayed(
        1, "PE 0 computes longer", "The computing times.", "", "a-cluster", 2.0, 2.0, before, before, after
    )
    words = here(checked)
    assert shown in words and words.startswith("Here: ")
    assert ("It rests on this: The computing times." in words) is (shown == "nothing")


def test_the_least_is_a_share_of_all_time_and_the_most_of_the_time_with_a_core_as_in_the_finding():
    before, least, most = Outcome(AS_IS, 1.0), Outcome(AS_IS, 0.95), Outcome(AS_IS, 0.9)
    checked = Replayed(1, "PE 0 computes longer", "", "", "a-cluster", 2.0, 0.5, before, least, most)
    assert here(checked) == "Here: 100 ms to 200 ms, 5.0 to 40 % of the run's time."


def test_a_replay_of_an_imbalance_saves_as_much_as_its_finding_though_several_pes_compute_longer(tmp_path):
    def pe(number: int, compute: float) -> dict:
        state = {"active": compute, "spin": 10 - compute, "yield": 0.0, "asleep": 0.0}
        times = {"compute": compute, "transfer": 0.0, "wait": 10 - compute}
        spent = {"spin": 10 - compute, "yield": 0.0, "asleep": 0.0}
        barrier = fakes.site(0x1200, "shmem_barrier_all", "wait", calls=50, time_s=10 - compute, wait_s=spent)
        facts = {"state_s": state, "time_s": times, "sites": [barrier]}
        return advised.with_lines(fakes.pe_profile(number, 4, wall_s=10.0, **facts))

    # The second PE is less than a tenth above the mean of 6.2 s, and is not named.
    directory = fakes.make_run(tmp_path / "run", [pe(i, s) for i, s in enumerate((9.0, 6.6, 5.0, 4.2))])
    given = advise(directory)
    (finding,) = given.findings
    checked = check(given, 1, CLUSTER)
    assert finding.advice.title == "PE 0 computes longer than the others"
    assert checked.share.scaled(10.0).as_list() == pytest.approx(finding.saved.seconds.as_list(), rel=0.02)


def test_where_pes_are_late_alternately_a_replay_saves_less_than_the_sums_say():
    trace = Trace(np.array([[4.0, 1.0], [2.0, 3.0]]), np.zeros(2))
    facts = Recorded(trace, np.zeros((2, 2)), trace.barrier, "", 0.0, 0.0, 0.0)
    above = Saving(np.array([1.0, 0.0]), np.zeros(2), np.zeros(2))  # the sums are 6 and 4 s, the mean 5 s
    assert longest(trace) - longest(replay_under(facts, above)) == pytest.approx(2 / 3)
