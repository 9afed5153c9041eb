"""`wattle acceptance`: what is tried, what is said of what cannot be, and the one file."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from pathlib import Path

import fakes
import pytest
from wattle.acceptance import steps
from wattle.acceptance.steps import Step
from wattle.acceptance.untried import untried
from wattle.doctor.finding import Roots
from wattle.errors import WattleError
from wattle.paths import find_home


def unpacked(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}


@pytest.fixture
def apps(home: Path) -> Path:
    fakes.script(home / "lib/wattle/apps/barrier", "#!/bin/sh\nexit 0\n")
    return home


def test_one_file_holds_every_step_with_its_output(apps, wattle: fakes.Wattle, tmp_path):
    out = tmp_path / "acceptance.tar.gz"
    done = wattle("acceptance", "--only", "jobs-2,doctor", "-o", out)
    assert done.returncode == 0, done.stdout + done.stderr
    files = unpacked(out)
    document = json.loads(files["acceptance/acceptance.json"])
    assert [(s["name"], s["state"]) for s in document["steps"]] == [("doctor", "passed"), ("jobs-2", "passed")]
    assert json.loads(files["acceptance/doctor.out"])["kind"] == "doctor"
    assert document["untried"]
    assert "What could not be tried here" in done.stdout


def test_a_step_that_fails_is_said_with_its_last_words_and_the_rest_goes_on(apps, wattle: fakes.Wattle, tmp_path):
    fakes.script(apps / "lib/wattle/apps/barrier", "#!/bin/sh\necho no luck >&2\nexit 3\n")
    out = tmp_path / "acceptance.tar.gz"
    done = wattle("acceptance", "--only", "jobs-2,doctor", "-o", out)
    assert done.returncode == 1
    results = {s["name"]: s for s in json.loads(unpacked(out)["acceptance/acceptance.json"])["steps"]}
    assert results["jobs-2"]["state"] == "failed"
    assert "exit code 3: no luck" in results["jobs-2"]["why"]
    assert results["doctor"]["state"] == "passed"


def test_a_file_that_is_there_is_not_written_over(apps, wattle: fakes.Wattle, tmp_path):
    out = tmp_path / "there"
    out.write_text("mine")
    done = wattle("acceptance", "--only", "doctor", "-o", out)
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert out.read_text() == "mine"


def test_a_step_that_does_not_exist_is_named(apps, wattle: fakes.Wattle):
    done = wattle("acceptance", "--only", "dance")
    assert done.returncode == 2
    assert "--only dance" in done.stderr


def test_everything_asked_of_a_foreign_machine_is_among_the_steps(apps):
    groups = {s.group for s in steps.all_steps(find_home(), False)}
    assert groups == {"sensors", "transports", "knobs", "studies", "bars"}


def test_what_takes_too_long_is_ended(tmp_path):
    step = Step("slow", "sensors", "", lambda _: [sys.executable, "-c", "import time; time.sleep(60)"])
    result = steps.run(step, tmp_path, 0.3)
    assert (result.state, result.why) == ("failed", "not done within 0 s")


def test_what_cannot_be_tried_says_why(tmp_path):
    def refuse(out: Path) -> list[str]:
        raise WattleError("needs root")

    result = steps.run(Step("two-nodes", "transports", "", refuse), tmp_path, 1)
    assert (result.state, result.why) == ("not tried", "needs root")


def test_a_step_that_leaves_a_clock_changed_has_failed(tmp_path, monkeypatch):
    file = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"
    file.parent.mkdir(parents=True)
    file.write_text("3000000\n")
    monkeypatch.setenv("WATTLE_SYSFS", str(tmp_path / "sys"))
    step = Step("clocks-energy", "knobs", "", lambda _: ["sh", "-c", f"echo 1200000 > {file}"])
    result = steps.run(step, tmp_path, 10)
    assert result.state == "failed"
    assert "left clocks changed" in result.why


def test_what_a_machine_has_is_not_among_what_was_not_tried(tmp_path, monkeypatch):
    (tmp_path / "sys/class/infiniband/mlx5_0").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("flags : fpu\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)))
    roots = Roots(tmp_path / "sys", tmp_path / "proc")
    meters = [{"name": name, "usable": True} for name in ("powercap", "perf", "cray", "hwmon", "nvml")]
    rich = {what for what, _ in untried(roots, meters, "cpufreq", True)}
    assert "a network between machines" in rich
    assert not {"changing clocks", "InfiniBand, hardware RDMA", "16 cores and more", "a real machine"} & rich
    assert not any(what.startswith("sensor") for what in rich)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    poor = {what for what, _ in untried(Roots(tmp_path / "none", tmp_path / "proc"), [], "none", False)}
    assert {"changing clocks", "InfiniBand, hardware RDMA", "16 cores and more", "sensor powercap"} <= poor
