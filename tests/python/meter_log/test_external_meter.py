"""External meters: the clock of a log, and joules of its intervals, against made logs whose truth is known."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import meter_logs
import numpy as np
import pytest
from wattle.base.errors import WattleError
from wattle.meter_log import clock, figures, given, kept, load, log, reading
from wattle.meter_log.session import Session
from wattle.meter_log.trace import Trace

KINDS = ("instant", "mean", "joules")


def made_log(tmp_path: Path, seed: int, kind: str, job_s: float = 60.0, noise_w: float = 2.0):
    """A made run, its log, and the true clock. The noise is not in the truth, so it is small beside the readings."""
    random_ = random.Random(seed)
    every = random_.choice((0.05, 0.1, 0.5, 1.0))
    step = load.step_s(every)
    made = meter_logs.made(seed, step, job_s, segment_s=max(1.0, 3 * every))
    truth = meter_logs.Clock(random_.uniform(-1e5, 1e5), random_.uniform(-3e-4, 3e-4), made.begin)
    rows = meter_logs.readings(made.load, truth, every, kind, noise_w, seed)
    heads = "time,energy_J" if kind == "joules" else "time,power_W"
    path = meter_logs.write(tmp_path / "log.csv", rows, heads)
    return made, truth, given.given(path, [f"every={every}", "error=0"])


def trace_of(logged: given.Given) -> Trace:
    (series,) = log.read(logged)
    return Trace(series)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_offset_drift_and_joules_are_within_their_half_widths(tmp_path, seed, kind):
    made, truth, logged = made_log(tmp_path, seed, kind)
    trace = trace_of(logged)
    found = clock.find(trace, made.patterns)
    # A mean over the time since the reading before stands for the middle of that time: the meter is half of it late.
    late = trace.series.step_s / 2 if kind == "mean" else 0.0
    offset = float(truth.log_time(np.array(found.at_s))) - found.at_s + late
    assert abs(found.offset_s - offset) <= found.offset_plus_minus_s <= 2 * trace.series.step_s
    assert abs(found.drift - truth.drift) <= found.drift_plus_minus
    figure = figures.joules(trace, found, made.begin, made.end, logged.error)
    assert figure.provenance == "measured"
    assert (figure.scope, figure.interval_s) == ("node", pytest.approx(60.0))
    assert abs(figure.joules - made.load.joules(made.begin, made.end)) <= figure.uncertainty


@pytest.mark.parametrize("seed", range(6))
def test_parts_of_an_interval_add_up_to_it(tmp_path, seed):
    made, _, logged = made_log(tmp_path, seed, "instant")
    trace = trace_of(logged)
    found = clock.find(trace, made.patterns)
    moment = random.Random(seed)
    cuts = [made.begin, *sorted(moment.uniform(made.begin, made.end) for _ in range(5)), made.end]
    parts = [figures.joules(trace, found, a, b, 0.05) for a, b in pairwise(cuts)]
    whole = figures.joules(trace, found, made.begin, made.end, 0.05)
    assert sum(part.joules for part in parts) == pytest.approx(whole.joules)
    assert sum(part.uncertainty for part in parts) >= whole.uncertainty * 0.999


def test_the_stated_error_of_the_meter_is_part_of_the_half_width(tmp_path):
    made, _, logged = made_log(tmp_path, 1, "joules")
    trace = trace_of(logged)
    found = clock.find(trace, made.patterns)
    none, some = (figures.joules(trace, found, made.begin, made.end, error) for error in (0.0, 0.05))
    assert some.uncertainty - none.uncertainty == pytest.approx(0.05 * some.joules)


@pytest.mark.parametrize("seed", range(4))
def test_a_log_without_the_pattern_is_refused(tmp_path, seed):
    made, _, logged = made_log(tmp_path, seed, "instant")
    other = meter_logs.made(seed + 100, load.step_s(logged.every_s), 60.0)
    rng = np.random.default_rng(seed)
    rows = meter_logs.readings(other.load, meter_logs.Clock(0, 0, 0), logged.every_s, "instant", seed=seed)
    rows[:, 1] = rng.normal(100, 20, len(rows)).clip(0)
    meter_logs.write(logged.file, rows)
    with pytest.raises(WattleError, match="is not in this log"):
        clock.find(trace_of(logged), made.patterns)


def test_a_log_that_ends_before_the_second_pattern_is_refused(tmp_path):
    made, truth, logged = made_log(tmp_path, 3, "mean")
    rows = meter_logs.readings(made.load, truth, logged.every_s, "mean")
    meter_logs.write(logged.file, rows[rows[:, 0] < truth.log_time(np.array(made.end))])
    with pytest.raises(WattleError, match=r"load pattern|not in this log"):
        clock.find(trace_of(logged), made.patterns)


def test_a_meter_that_is_too_slow_for_the_pattern_is_refused_with_the_remedy(tmp_path):
    made, truth, logged = made_log(tmp_path, 3, "mean")
    meter_logs.write(logged.file, meter_logs.readings(made.load, truth, 10 * logged.every_s, "mean"))
    with pytest.raises(WattleError, match="run again with --meter-set every="):
        clock.find(trace_of(logged), made.patterns)


def test_a_clock_that_was_set_during_the_run_is_refused(tmp_path):
    made, truth, logged = made_log(tmp_path, 5, "instant")
    rows = meter_logs.readings(made.load, truth, logged.every_s, "instant")
    rows[rows[:, 0] > truth.log_time(np.array(made.end)), 0] += 50.0
    meter_logs.write(logged.file, rows)
    with pytest.raises(WattleError, match=r"not in this log|drift|does not cover"):
        clock.find(trace_of(logged), made.patterns)


def test_a_gap_is_in_the_time_that_is_not_covered(tmp_path):
    made, truth, logged = made_log(tmp_path, 6, "mean")
    rows = meter_logs.readings(made.load, truth, logged.every_s, "mean")
    low, high = truth.log_time(np.array([made.begin + 20, made.begin + 30]))
    meter_logs.write(logged.file, rows[(rows[:, 0] < low) | (rows[:, 0] > high)])
    trace = trace_of(logged)
    found = clock.find(trace, made.patterns)
    figure = figures.joules(trace, found, made.begin, made.end, 0.0)
    assert figure.covered_s == pytest.approx(50, abs=2 * logged.every_s)
    assert abs(figure.joules - made.load.joules(made.begin, made.end)) <= figure.uncertainty
    assert "gaps of" in kept.figure_words(figure)
    mostly = figures.joules(trace, found, made.begin + 19, made.begin + 31, 0.0)
    assert mostly.provenance == "unavailable"


def test_an_interval_outside_of_the_log_has_no_joules(tmp_path):
    made, _, logged = made_log(tmp_path, 7, "joules")
    trace = trace_of(logged)
    found = clock.find(trace, made.patterns)
    figure = figures.joules(trace, found, made.begin, made.end + 1e6, 0.0)
    assert (figure.joules, figure.uncertainty, figure.provenance) == (None, None, "unavailable")


# ---- the directory of a run ----


def recorded(tmp_path: Path, made: meter_logs.Made, logged: given.Given) -> Path:
    directory = tmp_path / "run"
    directory.mkdir()
    intervals = [kept.JobTime("", made.begin, made.end)]
    kept.write(directory, kept.External(str(logged.file), [], list(made.patterns), intervals))
    return directory


def test_a_log_is_read_into_a_run_and_read_back(tmp_path):
    made, _, logged = made_log(tmp_path, 11, "mean")
    found = reading.read(recorded(tmp_path, made, logged), logged)
    again = kept.load(tmp_path / "run")
    assert again is not None
    assert again.as_dict() == json.loads(json.dumps(found.as_dict()))
    (figure,) = again.figures("")
    assert abs(figure.joules - made.load.joules(made.begin, made.end)) <= figure.uncertainty
    (power,) = again.power
    inside = (np.array(power.at_s) > made.begin) & (np.array(power.at_s) < made.end)
    assert np.array(power.watts)[inside].mean() == pytest.approx(figure.joules / 60.0, rel=0.1)
    assert "offset" in again.meter_words


def test_an_unusable_log_leaves_the_reason_and_no_figures(tmp_path):
    made, _, logged = made_log(tmp_path, 11, "mean")
    directory = recorded(tmp_path, made, logged)
    logged.file.write_text("time,power_W\n")
    found = reading.read(directory, logged)
    assert "holds 0 readings" in found.why
    assert (found.joules, found.power) == ({}, [])


def test_power_is_kept_at_most_at_1_khz(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "POINTS", 100)
    made, _, logged = made_log(tmp_path, 12, "instant")
    (power,) = reading.read(recorded(tmp_path, made, logged), logged).power
    assert len(power.at_s) == 100
    begin, end = made.patterns[0].begin_s, made.patterns[1].end_s
    assert np.mean(power.watts) == pytest.approx(made.load.joules(begin, end) / (end - begin), rel=0.1)


# ---- the load itself ----


def children() -> set[str]:
    """The child processes of this one."""
    return {pid for tasks in Path("/proc/self/task").glob("*/children") for pid in tasks.read_text().split()}


def test_the_pattern_has_the_code_and_leaves_no_process():
    others = children()
    made = load.make((1, 0, 1), 0.05)
    assert len(made.busy) == 2
    moments = [made.begin_s, *(m for pair in made.busy for m in pair), made.end_s]
    assert moments == sorted(moments)
    assert children() == others


def test_the_two_patterns_differ_and_neither_is_like_a_shift_of_the_other():
    before, after = (np.array(code) * 2 - 1 for code in (load.BEFORE, load.AFTER))
    assert np.abs(np.correlate(before, after, "full")).max() < len(before) * 0.7
    assert sorted(np.abs(np.correlate(before, before, "full")))[-2] <= 1


def test_a_log_that_is_not_there_yet_is_named_and_its_folder_must_be(tmp_path, capsys):
    Session(given.given(tmp_path / "later.csv", []), tmp_path)
    assert "is not there yet; it is read at the end" in capsys.readouterr().err
    with pytest.raises(WattleError, match="there is no folder"):
        Session(given.given(tmp_path / "none" / "log.csv", []), tmp_path)
