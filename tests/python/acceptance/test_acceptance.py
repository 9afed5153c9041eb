"""`wattle acceptance`: the trials, the reasons for those that are impossible, and the one file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tarfile
import tempfile
from pathlib import Path

import fakes
import pytest
from wattle.acceptance import cli, found, reason, steps, trial
from wattle.acceptance.steps import SENSORS, Step
from wattle.acceptance.trial import Result
from wattle.acceptance.untried import Tried, untried
from wattle.base.errors import WattleError
from wattle.doctor.finding import Roots
from wattle.machine.paths import find_home


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
    assert "Not tested here" in done.stdout


def test_a_failed_step_is_reported_with_its_last_line_and_the_others_run(apps, wattle: fakes.Wattle, tmp_path):
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
    assert "exists already" in done.stderr
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
    result = trial.run(step, tmp_path, 0.3)
    assert (result.state, result.why) == ("failed", "not finished within 0 s (--limit)")


def test_a_step_that_cannot_run_has_a_reason(tmp_path):
    def refuse(out: Path) -> list[str]:
        raise WattleError("needs root")

    result = trial.run(Step("two-nodes", "transports", "", refuse), tmp_path, 1)
    assert (result.state, result.why) == ("not tried", "needs root")


@pytest.mark.parametrize("name", ["scaling_max_freq", "energy_performance_preference"])
def test_a_step_that_leaves_a_clock_changed_has_failed(tmp_path, monkeypatch, name):
    file = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq" / name
    file.parent.mkdir(parents=True)
    file.write_text("3000000\n")
    monkeypatch.setenv("WATTLE_SYSFS", str(tmp_path / "sys"))
    step = Step("clocks-energy", "knobs", "", lambda _: ["sh", "-c", f"echo 1200000 > {file}"])
    result = trial.run(step, tmp_path, 10)
    assert result.state == "failed"
    assert "left clocks changed" in result.why


def test_what_a_machine_has_is_not_among_what_was_not_tried(tmp_path, monkeypatch):
    (tmp_path / "sys/class/infiniband/mlx5_0").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("flags : fpu\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)))
    roots = Roots(tmp_path / "sys", tmp_path / "proc")
    meters = [{"name": name, "usable": True} for name in SENSORS]
    rich = dict(untried(roots, meters, Tried("", "", "passed", dict.fromkeys(SENSORS, ""))))
    assert "a network between machines" in rich
    assert not {"changing clocks", "measured joules of a run", "16 cores and more", "a real machine"} & set(rich)
    assert not any(what.startswith("sensor") for what in rich)
    assert rich["InfiniBand, hardware RDMA"].startswith("there is mlx5_0, but all of this runs on one machine")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    poor = dict(
        untried(
            Roots(tmp_path / "none", tmp_path / "proc"),
            [{"name": "powercap", "usable": False, "why": "no files"}, {"name": "new", "usable": True}],
            Tried("the knob is none: no files", "no", "failed", dict.fromkeys(SENSORS, "it was not chosen")),
        )
    )
    assert {"InfiniBand, hardware RDMA", "16 cores and more"} <= set(poor)
    assert (poor["sensor powercap"], poor["sensor new"]) == ("no files", "no step reads the meter new")
    assert poor["sensor redfish"] == "this version has no meter of that name"
    assert poor["changing clocks"] == "the knob is none: no files"
    assert poor["measured joules of a run"] == "no"
    assert poor["jobs between nodes"] == "see the step two-nodes"
    unasked = dict(untried(roots, meters, Tried()))
    assert unasked["changing clocks"] == "no governed job ran"
    assert unasked["jobs between nodes"] == "the step two-nodes was not chosen"


def left(folder: Path, run: str, *pes: dict) -> None:
    (folder / run / "profile").mkdir(parents=True)
    for number, pe in enumerate(pes):
        (folder / run / "profile" / f"pe-{number:05}.json").write_text(json.dumps(pe))


def ended(name: str, state: str = "passed", why: str = "") -> Result:
    return Result(name, "", "", state, why)


def test_why_no_clock_was_changed_is_the_knobs_own_word(tmp_path):
    def why(name: str, *clocks: dict) -> str | None:
        left(tmp_path / name, "clocks-energy", *({"clocks": c} for c in clocks))
        return found.tried(tmp_path / name, [ended("clocks-energy")]).clocks

    knob = {"knob": "cpufreq", "why": "", "failed": "", "sets": "clocks"}
    assert found.tried(tmp_path / "nothing", []).clocks is None
    failed_step = [ended("clocks-energy", "failed", "exit code 3: no luck")]
    assert found.tried(tmp_path / "x", failed_step).clocks == "the step clocks-energy failed: exit code 3: no luck"
    assert why("none", {"knob": "none", "why": "Permission denied"}) == "the knob is none: Permission denied"
    assert why("one", knob | {"changes": 0}, knob | {"changes": 3}) == ""
    assert why("hints", knob | {"changes": 3, "sets": "hints"}) == "the knob cpufreq only gives hints"
    assert why("idle", knob | {"changes": 0}) == "the knob is cpufreq"
    failed = knob | {"changes": 3, "failed": "cannot write x: Input/output error"}
    assert why("failed", failed) == "the knob cpufreq failed: cannot write x: Input/output error"


def test_joules_that_no_sensor_gave_are_among_what_was_not_tried(tmp_path):
    def why(name: str, provenance: str, meter: str = "model") -> str:
        node = {"joules": [fakes.figure("cpu", 3.0, provenance)]}
        left(tmp_path / name, "energy", {"node": node, "meter": {"name": meter, "why": "powercap: stand at 0"}})
        return found.tried(tmp_path / name, [ended("energy")]).joules

    assert why("a", "measured", "powercap") == ""
    assert why("b", "modelled") == "powercap: stand at 0"
    assert found.tried(tmp_path / "c", []).joules == "the step energy was not chosen"
    gpu = {"joules": [fakes.figure("cpu", 3.0), fakes.figure("gpu-0", 9.0, "measured") | {"scope": "device"}]}
    left(tmp_path / "d", "energy", {"node": gpu, "meter": {"name": "model+nvml", "why": "powercap: stand at 0"}})
    tried = found.tried(tmp_path / "d", [ended("energy")])
    assert (tried.joules, tried.sensors["nvml"]) == ("powercap: stand at 0", "")


def test_a_failed_step_is_not_listed_as_not_chosen(tmp_path):
    results = [ended("energy", "failed", "exit code 3: no luck"), ended("energy-cray", "not tried", "interrupted")]
    tried = found.tried(tmp_path, results)
    assert tried.joules == "the step energy failed: exit code 3: no luck"
    assert tried.sensors["cray"] == "interrupted"
    assert tried.sensors["nvml"] == "the step energy-nvml was not chosen"


MEASURED = """#!/usr/bin/python3 -IS
# Leaves a profile whose node was measured with the meter that was asked for; perf gives none, and hwmon fails.
import json, os, pathlib, sys
meter = os.environ.get("WATTLE_METER", "auto").replace("auto", "powercap")
if meter == "hwmon":
    sys.exit("no luck")
pe = json.loads(os.environ["FAKE_PES"])[int(os.environ["FAKE_PE"])]
pe["meter"] = {"name": meter, "why": ""}
for figure in (pe["node"] or {}).get("joules", []):
    figure["provenance"] = "unavailable" if meter == "perf" else "measured"
    figure["joules"], figure["uncertainty"] = (None, None) if meter == "perf" else (40.0, 1.0)
(pathlib.Path(os.environ["WATTLE_PROFILE_DIR"]) / f"pe-{pe['pe']:05d}.json").write_text(json.dumps(pe))
"""


def test_every_meter_that_can_be_used_is_read_and_every_other_says_why_not(apps, wattle: fakes.Wattle, tmp_path):
    fakes.script(apps / "lib/wattle/apps/barrier", MEASURED)
    usable = {name: name != "redfish" for name in SENSORS}
    meters = [{"name": n, "usable": u, "why": "" if u else "WATTLE_REDFISH is not set"} for n, u in usable.items()]
    settings = [*fakes.INFO["settings"], {"name": "WATTLE_GOVERN", "kind": "choice", "default": "off", "value": "off"}]
    (apps / "bin" / "info.json").write_text(json.dumps(fakes.INFO | {"meters": meters, "settings": settings}))
    out = tmp_path / "acceptance.tar.gz"
    pes = json.dumps([fakes.pe_profile(0), fakes.pe_profile(1)])
    chosen = ",".join(["energy", *(f"energy-{name}" for name in SENSORS)])
    done = wattle("acceptance", "--only", chosen, "-o", out, env={"FAKE_PES": pes})
    document = json.loads(unpacked(out)["acceptance/acceptance.json"])
    states = {s["name"]: (s["state"], s["why"]) for s in document["steps"]}
    assert states["energy-nvml"] == ("passed", ""), done.stdout + done.stderr
    assert states["energy-redfish"] == ("not tried", "WATTLE_REDFISH is not set")
    given = {m["step"]: m for m in document["joules"]}
    for name in ("powercap", "cray", "nvml"):
        assert given[f"energy-{name}"]["meter"] == name
        figures = given[f"energy-{name}"]["figures"]
        assert [(f["joules"], f["provenance"]) for f in figures] == [(40.0, "measured")] * 2
    missing = {entry["what"]: entry["why"] for entry in document["untried"]}
    assert {what: why for what, why in missing.items() if what.startswith("sensor ")} == {
        "sensor perf": "its sensors gave none",
        "sensor hwmon": "the step energy-hwmon failed: exit code 1: no luck",
        "sensor redfish": "WATTLE_REDFISH is not set",
    }
    assert "measured joules of a run" not in missing


def test_a_profile_is_fitted_only_where_there_is_a_sensor(apps, wattle: fakes.Wattle, tmp_path):
    out = tmp_path / "acceptance.tar.gz"
    done = wattle("acceptance", "--only", "profile,mpi", "-o", out)
    assert done.returncode == 0, done.stdout + done.stderr
    results = {s["name"]: s for s in json.loads(unpacked(out)["acceptance/acceptance.json"])["steps"]}
    assert (results["profile"]["state"], results["mpi"]["state"]) == ("not tried", "not tried")
    assert "no sensor of this node can be read" in results["profile"]["why"]
    assert "mst-mpi is missing" in results["mpi"]["why"]


MPIRUN = """
wattle: PE 1: shmem_int_p: PE 7 does not exist
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
"""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (MPIRUN, "wattle: PE 1: shmem_int_p: PE 7 does not exist"),
        (
            MPIRUN.partition("7 does not exist\n")[2],
            "a non-zero exit code. Per user-direction, the job has been aborted.",
        ),
        ("wattle: no room\n\nKept in wattle-runs/x\n", "wattle: no room"),
        (
            "\x1b[31mwattle:\x1b[0m slack: a knob is missing\nKept in x\nThe report: wattle report x\n",
            "wattle: slack: a knob is missing",
        ),
        ("wattle: barrier: 3 of 40, 10 s late\n", "it said nothing"),
        ("", "it said nothing"),
    ],
)
def test_the_reason_is_the_first_error_line_and_not_a_later_one(said, why):
    assert reason.of(said) == why


def test_a_run_that_fails_gives_its_programs_reason(apps, wattle: fakes.Wattle, tmp_path):
    fakes.script(apps / "lib/wattle/apps/barrier", "#!/bin/sh\necho no luck >&2\nexit 3\n")
    out = tmp_path / "acceptance.tar.gz"
    wattle("acceptance", "--only", "timeline", "-o", out)
    (step,) = json.loads(unpacked(out)["acceptance/acceptance.json"])["steps"]
    assert step["why"] == "exit code 3: no luck"


def test_ctrl_c_ends_the_step_and_keeps_what_was_found(apps, environment, tmp_path):
    ready = tmp_path / "ready"
    fakes.script(apps / "lib/wattle/apps/barrier", f"#!/bin/sh\ntouch {ready}\nexec sleep 60\n")
    out = tmp_path / "acceptance.tar.gz"
    words = ["acceptance", "--only", "doctor,jobs-2,timeline", "-o", str(out)]
    started = fakes.started(words, environment | {"TMPDIR": str(tmp_path)})
    fakes.until_there(ready, started)
    started.send_signal(signal.SIGINT)
    said, wrong = started.communicate(timeout=300)
    assert started.returncode == 130, said + wrong
    results = json.loads(unpacked(out)["acceptance/acceptance.json"])["steps"]
    found = [(s["name"], s["state"], s["why"]) for s in results]
    assert found == [
        ("doctor", "passed", ""),
        ("jobs-2", "not tried", "interrupted"),
        ("timeline", "not tried", "interrupted before"),
    ]
    assert wrong.endswith("wattle: interrupted\n")
    assert not list(tmp_path.glob("wattle-acceptance-*"))


def test_a_file_that_cannot_be_written_is_reported_before_anything_is_tried(apps, wattle: fakes.Wattle, tmp_path):
    done = wattle("acceptance", "--only", "doctor", "-o", tmp_path / "no" / "such.tar.gz")
    assert done.returncode == 2
    assert "such.tar.gz: cannot be written: No such file or directory" in done.stderr
    assert "Steps" not in done.stdout


def test_what_cannot_be_packed_stays_where_it_is(apps, wattle: fakes.Wattle, tmp_path):
    out = tmp_path / "there" / "acceptance.tar.gz"
    out.parent.mkdir()
    fakes.script(apps / "lib/wattle/apps/barrier", f"#!/bin/sh\nrm -r {out.parent}\n")
    done = wattle("acceptance", "--only", "jobs-2", "-o", out, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 2
    (folder,) = tmp_path.glob("wattle-acceptance-*/acceptance")
    assert f"what was found stays in {folder}" in done.stderr
    assert json.loads((folder / "acceptance.json").read_text())["steps"]


def test_a_disk_without_space_is_reported_before_anything_is_tried(apps, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    full = tmp_path / "full"
    full.mkdir()
    monkeypatch.setattr(
        cli.shutil, "disk_usage", lambda path: usage._replace(free=0 if Path(path) == full else 1 << 40)
    )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # Python uses this instead
    monkeypatch.setenv("TMPDIR", str(full))
    with pytest.raises(WattleError, match="full: less than 64 MiB is free there; set TMPDIR"):
        cli.acceptance(tmp_path / "x.tar.gz", "doctor", False, False, 900)
    assert not list(tmp_path.glob("**/wattle-acceptance-*"))


def test_a_folder_for_temporary_files_that_is_not_there_is_one_clear_line(apps, wattle: fakes.Wattle, tmp_path):
    done = wattle("acceptance", "--only", "doctor", env={"TMPDIR": str(tmp_path / "none")})
    assert done.returncode == 2
    assert (
        done.stderr == f"wattle: {tmp_path}/none: cannot be used: No such file or directory; "
        "set TMPDIR to a folder with free space\n"
    )


def test_what_was_measured_leaves_the_users_own_prices_alone(apps, tmp_path):
    step = next(s for s in steps.all_steps(find_home(), False) if s.name == "prices")
    assert f"XDG_CACHE_HOME={tmp_path}" in step.command(tmp_path)


def test_the_benchmarks_write_nothing_into_a_repository_that_may_be_anothers(apps, tmp_path):
    (apps / "share/wattle/bench").mkdir()
    (apps / "share/wattle/bench/run.py").touch()
    step = next(s for s in steps.all_steps(find_home(), False) if s.name == "bench")
    command = step.command(tmp_path / "scratch" / "acceptance" / "bench")
    assert f"BENCH_OUT={tmp_path}/scratch/programs" in command  # beside what is sent back


def test_the_time_left_follows_what_the_steps_so_far_took():
    chosen = [
        Step(name, "studies", "", lambda _: [], usual_s=usual) for name, usual in (("a", 60), ("b", 120), ("c", 60))
    ]
    assert cli._left(chosen, 0, 0.0, 0.0) == "about 4 min left"
    assert cli._left(chosen, 1, 120.0, 0.0) == "about 6 min left"  # twice as slow
    assert cli._left(chosen, 1, 120.0, 180.0) == "about 3 min left"
    assert cli._left(chosen, 2, 90.0, 10.0) == "less than a minute left"
