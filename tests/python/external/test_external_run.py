"""`wattle run --meter-log` and `wattle external`: the patterns, the joules of each repeat, and the page."""

from __future__ import annotations

import json
from pathlib import Path

import fakes
import meter_logs
import numpy as np
import pytest
from wattle.meter_log import kept
from wattle.report.cli import write

STEP_S = 0.25


def log_of(directory: Path, path: Path, offset: float) -> meter_logs.Load:
    """A log of the run in the directory, by a clock that is `offset` ahead: 100 W idle, 200 W in patterns and jobs."""
    found = kept.load(directory)
    edges, watts = [found.patterns[0].begin_s - 20.0], []
    intervals = [*found.patterns[0].busy, *((i.begin_s, i.end_s) for i in found.intervals), *found.patterns[1].busy]
    for begin, end in intervals:
        edges += [begin, end]
        watts += [100.0, 200.0]
    load = meter_logs.Load(np.array([*edges, edges[-1] + 20.0]), np.array([*watts, 100.0]))
    rows = meter_logs.readings(load, meter_logs.Clock(offset, 0.0, 0.0), 0.02, "mean")
    meter_logs.write(path, rows)
    return load


@pytest.fixture
def profiles(tmp_path):
    return {"FAKE_PROFILES": str(fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0), fakes.pe_profile(1)]))}


def test_a_log_that_comes_later_gives_the_joules_of_each_repeat(wattle, tmp_path, profiles):
    directory, log = tmp_path / "run", tmp_path / "pdu.csv"
    words = ["run", "-n", 2, "-o", directory, "--repeat", 2, "--meter-log", log, "--meter-set", "every=0.02"]
    ran = wattle(*words, "--", "sleep", "0.3", env=profiles)
    assert ran.returncode == 0, ran.stderr
    assert "s of load on" in ran.stderr
    assert f"read a later log with `wattle external {directory} LOG`" in ran.stderr
    assert kept.load(directory).why

    load = log_of(directory, log, 4321.0)
    result = wattle("external", directory, log)
    assert result.returncode == 0, result.stderr
    assert "its clock has an offset of +4,321." in result.stdout
    found = kept.load(directory)
    assert [one.name for one in found.intervals] == ["repeat-001", "repeat-002"]
    for one in found.intervals:
        (figure,) = found.figures(one.name)
        assert figure.provenance == "measured"
        assert abs(figure.joules - load.joules(one.begin_s, one.end_s)) <= figure.uncertainty
    assert json.loads((directory / "manifest.json").read_text())["external"]["why"] == ""

    page = write(directory, tmp_path / "report.html").read_text()
    assert "External meter, node:" in page
    assert 'id="plot-power"' in page


def test_a_log_that_is_there_and_wrong_ends_the_command_before_the_program_starts(wattle, tmp_path):
    log = tmp_path / "pdu.csv"
    log.write_text("time,load\n" + "".join(f"{k},1\n" for k in range(20)))
    result = wattle("run", "--meter-log", log, "--", "touch", tmp_path / "ran")
    assert result.returncode == 2
    assert "its name has no unit; give it with --meter-set unit=W" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_settings_of_a_log_need_a_log(wattle):
    result = wattle("run", "--meter-set", "unit=W", "--", "true")
    assert result.returncode == 2
    assert "--meter-set: is for --meter-log FILE" in result.stderr


def test_a_run_without_patterns_takes_no_log(wattle, run_dir, tmp_path):
    result = wattle("external", run_dir, tmp_path / "x.csv")
    assert result.returncode == 2
    assert "was not run with --meter-log" in result.stderr
