"""Options that all studies have: shielded cores and an external meter, in the manifest and on the page."""

from __future__ import annotations

import inspect
import json
import os
import signal
from pathlib import Path

import fakes
import meter_logs
import numpy as np
import pytest
from fakes import Wattle
from test_study_sweeps import says  # noqa: F401 (a fixture)
from tree import PACKAGE
from wattle.meter_log import kept
from wattle.report.cli import write
from wattle.study import measuring, registry

QUICK = ("study", "barrier", "--quick", "--rounds", 1)


@pytest.fixture
def by_affinity(tmp_path: Path) -> dict[str, str]:
    """The environment of a command that sees no cgroup v2. A real partition would take the cores from other tests."""
    folder = tmp_path / "without-cgroups"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("from wattle.shield import group\ngroup.mounted = lambda: None\n")
    return {"PYTHONPATH": f"{folder}:{PACKAGE}"}


def manifest_of(directory: Path) -> dict:
    return json.loads((directory / "manifest.json").read_text())


def test_every_study_has_the_options(wattle: Wattle):
    assert registry.commands()
    for name in registry.commands():
        command = registry.command(name)
        assert {"shield", "meter_log", "meter_set"} <= set(inspect.signature(command).parameters), name
    assert "--shield" in wattle("study", "barrier", "--help").stdout


@pytest.mark.parametrize("option", [("--shield", "auto"), ("--meter-log", "x.csv")])
def test_simulated_studies_refuse_them(wattle: Wattle, option):
    result = wattle(*QUICK, "--on", "sim", *option)
    assert result.returncode == 2
    assert "--on sim simulates them" in result.stderr
    assert not Path("x.csv").exists()


def test_a_shielded_study_names_its_cores_and_what_ran_there(says, by_affinity, wattle: Wattle, tmp_path):  # noqa: F811
    core = max(os.sched_getaffinity(0))
    directory = tmp_path / "study"
    result = wattle(*QUICK, "-o", directory, "--shield", core, env=by_affinity)
    assert result.returncode == 0, result.stderr
    entry = manifest_of(directory)["shield"]
    assert (entry["cores"], entry["why"]) == (str(core), "there is no cgroup v2")
    assert entry["others_s"] >= 0
    assert entry["words"] in " ".join(result.stdout.split())
    assert f"Cores {core}, " in write(directory, tmp_path / "r.html").read_text()


def test_wrong_cores_end_the_study_before_it_starts(says, wattle: Wattle, tmp_path):  # noqa: F811
    result = wattle(*QUICK, "-o", tmp_path / "study", "--shield", "9999")
    assert result.returncode == 2
    assert "--shield 9999: this process may use the cores" in result.stderr


def test_an_interrupted_study_keeps_the_shields_entry(says, by_affinity, environment, tmp_path):  # noqa: F811
    directory, ready = tmp_path / "study", tmp_path / "ready-now"
    more = {"FAKE_READY": str(ready), "FAKE_SWEEP": "stops"}
    words = [*map(str, QUICK), "-o", str(directory), "--shield", "auto"]
    started = fakes.started(words, {**environment, **by_affinity, **more})
    fakes.until_there(ready, started)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=300)
    assert started.returncode == 130, said
    entry = manifest_of(directory)
    assert entry["exit_code"] == 130
    assert entry["shield"]["words"]


def test_jobs_of_a_study_are_intervals_of_the_meter(says, wattle: Wattle, tmp_path):  # noqa: F811
    directory, log = tmp_path / "study", tmp_path / "log.csv"
    result = wattle(*QUICK, "-o", directory, "--meter-log", log, "--meter-set", "every=0.02")
    assert result.returncode == 0, result.stderr
    found = kept.load(directory)
    assert {one.name.partition(" ")[2] for one in found.intervals} >= {"barrier"}
    edges = [found.patterns[0].begin_s - 20, *(m for p in found.patterns for pair in p.busy for m in pair)]
    load = meter_logs.Load(np.array([*edges, edges[-1] + 20]), np.array([100.0, *[200.0, 100.0] * (len(edges) // 2)]))
    meter_logs.write(log, meter_logs.readings(load, meter_logs.Clock(-500, 0, 0), 0.02, "mean"))
    assert wattle("external", directory, log).returncode == 0
    page = write(directory, tmp_path / "r.html").read_text()
    assert "of barrier: External meter, node:" in page
    assert 'id="plot-power"' in page


def test_without_options_a_study_has_no_session():
    with measuring.job("x"):
        pass
    assert measuring._session.get() is None
