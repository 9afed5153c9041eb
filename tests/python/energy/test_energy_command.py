"""`wattle energy` runs any program as a shell does, and gives the joules of its process tree."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import fakes
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tree import HOME, PACKAGE
from wattle.energy import tree
from wattle.run.job import descendants

BUSY = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
KNOWN = """
name: known
sockets: 1
idle:
  cpu: {value: 10, plus_minus: 1, unit: W, tag: assumed, how: a test}
  dram: {value: 2, plus_minus: 1, unit: W, tag: assumed, how: a test}
dram:
  per_byte: {value: 1e-9, plus_minus: 0, unit: J/B, tag: assumed, how: a test}
clocks:
  - ghz: 2
    base: true
    active: {value: 5, plus_minus: 1, unit: W, tag: assumed, how: a test}
    spin: {value: 5, plus_minus: 1, unit: W, tag: assumed, how: a test}
    yield: {value: 5, plus_minus: 1, unit: W, tag: assumed, how: a test}
    asleep: {value: 0, plus_minus: 0, unit: W, tag: assumed, how: a test}
"""


@pytest.fixture
def energy(wattle, tmp_path):
    """Runs `wattle energy` with the real meter tool and a machine of known watts, without a sensor."""
    (tmp_path / "known.yaml").write_text(KNOWN)
    (tmp_path / "sys").mkdir()
    env = {
        "WATTLE_HOME": str(HOME),
        "WATTLE_MACHINE": str(tmp_path / "known.yaml"),
        "WATTLE_SYSFS": str(tmp_path / "sys"),
    }
    return lambda *words, **more: wattle("energy", *words, env=env | more.pop("env", {}), **more)


def figure(document: dict, part: str, domain: str) -> dict:
    return next(f for f in document["joules"][part] if f["domain"] == domain)


def test_modelled_joules_are_watts_times_cpu_time(energy):
    found = json.loads(energy("--json", "--", "sh", "-c", BUSY).stdout)
    cpu = figure(found, "program", "cpu")
    assert cpu["provenance"] == "modelled"
    assert cpu["joules"] == pytest.approx(5 * found["cpu_s"], rel=1e-6)
    idle = figure(found, "idle", "cpu")
    assert idle["interval_s"] >= found["wall_s"]
    assert idle["joules"] == pytest.approx(10 * idle["interval_s"], rel=1e-6)
    assert found["joules"]["others"] == []


def test_idle_memory_in_the_watts_of_the_cpu_is_no_figure_of_its_own(energy, tmp_path):
    (tmp_path / "wall.yaml").write_text(
        KNOWN.replace("name: known", 'name: wall\ntitle: "a CPU, at the wall socket"').replace(
            "dram: {value: 2, plus_minus: 1,", "dram: {value: 0, plus_minus: 0,"
        )
    )
    shown = energy("--machine", tmp_path / "wall.yaml", "--", "sh", "-c", BUSY).stderr
    assert "in cpu" in shown and "0 ± 0 J" not in shown
    assert "model of a CPU, at the wall socket, ±20 %" in " ".join(shown.split())
    assert "in cpu" not in energy("--", "sh", "-c", BUSY).stderr


def half_width(env: dict, switches: int) -> float:
    """That of the CPU's joules of a program that slept, by the real meter tool and a generation of the table."""
    env = {**os.environ, **env, "WATTLE_METER": "model", "WATTLE_MACHINE": "amd-epyc-genoa"}
    tool = HOME / "bin" / "wattle-meter"
    with subprocess.Popen([tool], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as meter:
        meter.stdout.readline()
        time.sleep(0.5)
        answer = json.loads(meter.communicate(f"0.0~{switches}\n")[0])
    return next(f["uncertainty"] for f in answer["parts"][0]["figures"] if f["domain"] == "cpu")


def test_voluntary_switches_bound_the_wake_ups(tmp_path):
    # On a busy machine the meter may get a core late. In a long interval the sleep bounds the half-width, too.
    once, usual, often = (max(half_width({"WATTLE_HOME": str(HOME)}, n) for _ in range(3)) for n in (1, 0, 1000))
    assert often == pytest.approx(1000 * once, rel=1e-6)
    assert once < usual < often  # 50 a second in half a second


def test_switches_of_the_process_tree_are_counted():
    naps = [sys.executable, "-S", "-c", "import time\nfor _ in range(20): time.sleep(0.001)"]
    done = tree.run(["sh", "-c", '"$0" "$@"; true', *naps], os.environ, None, set(descendants()))
    assert done.exit_code == 0
    assert 20 <= done.switches < 200


def test_bytes_that_nobody_counts_leave_memory_unavailable(energy):
    found = json.loads(energy("--json", "true").stdout)
    for part in ("program", "node"):
        assert figure(found, part, "dram") | {"source": ""} == figure(found, part, "dram") | {
            "source": "",
            "joules": None,
            "provenance": "unavailable",
        }
    assert figure(found, "idle", "dram")["provenance"] == "modelled"


def test_children_and_what_they_leave_count(energy):
    shell = f"({BUSY}) & ({BUSY}); wait; ({BUSY}); sleep 300 & echo $!"
    done = energy("--json", "--", "sh", "-c", shell)
    found = json.loads(done.stdout)
    one = json.loads(energy("--json", "--", "sh", "-c", BUSY).stdout)
    assert found["cpu_s"] > 1.5 * one["cpu_s"]
    left = int(done.stderr.split()[0])
    os.kill(left, signal.SIGTERM)  # it still runs: a program's services are not ended


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a PID namespace")
def test_only_the_program_counts_in_a_pid_namespace_with_a_foreign_proc(energy):
    in_namespace = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-m", "wattle", "energy", "--json"]
    inside = json.loads(energy("--", *in_namespace, "--", "sh", "-c", BUSY).stdout)
    assert inside["cpu_s"] <= os.cpu_count() * (inside["wall_s"] + 1)


def test_more_cpu_time_than_the_machine_has_is_refused(monkeypatch, capsys):
    """It is of other processes, and the program's result stays."""
    monkeypatch.setattr(tree, "descendants", lambda: [] if not os.environ.get("LEFT") else [1])
    monkeypatch.setattr(tree.cpu_time, "of", lambda pid: 1e6)
    real = subprocess.Popen

    def start(*words, **more):
        monkeypatch.setenv("LEFT", "1")
        return real(*words, **more)

    monkeypatch.setattr(tree.subprocess, "Popen", start)
    done = tree.run(["sh", "-c", "exit 3"], os.environ, None, set())
    assert (done.exit_code, done.cpu_s < 60) == (3, True)
    assert "cannot be the program's" in capsys.readouterr().err


def test_the_table_goes_to_standard_error_and_the_exit_code_is_the_programs(energy):
    done = energy("--", "sh", "-c", "echo out; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert "of CPU time" in done.stderr
    assert "this program" in done.stderr
    assert max(map(len, done.stderr.splitlines())) <= 80


def test_a_program_that_a_signal_ends_has_128_more(energy):
    assert energy("--", "sh", "-c", "kill -9 $$").returncode == 137


def test_sigterm_is_passed_on_and_the_joules_are_shown(environment, tmp_path):
    shell = "trap 'exit 7' TERM; touch began; while :; do sleep 0.05; done"
    words = [sys.executable, "-m", "wattle", "energy", "--", "sh", "-c", shell]
    env = {**environment, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    process = subprocess.Popen(
        words, env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=fakes.heed_signals
    )
    fakes.until_there(tmp_path / "began", process)
    process.terminate()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 7
    assert "of CPU time" in said


def test_a_sensor_that_cannot_be_read_names_no_model(energy):
    said = " ".join(energy("--meter", "powercap", "--", "true").stderr.split())
    assert "Meter none (powercap: " in said
    assert "modelled" not in said


def test_a_sensor_is_divided_among_the_program_others_and_idle(energy, tmp_path):
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(text + "\n")
    shell = f"{BUSY}; echo 9000000 >{zone}/energy_uj"
    other = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        found = json.loads(energy("--json", "--meter", "powercap", "--", "sh", "-c", shell).stdout)
    finally:
        other.kill()
        other.wait()
    parts = {part: figure(found, part, "package-0")["joules"] for part in ("program", "others", "idle", "node")}
    assert parts["node"] == pytest.approx(8)
    assert parts["program"] + parts["others"] + parts["idle"] == pytest.approx(8)
    assert parts["others"] / parts["program"] == pytest.approx(found["others_cpu_s"] / found["cpu_s"], rel=1e-3)
    assert figure(found, "node", "package-0")["provenance"] == "measured"


def test_a_sensor_that_never_advanced_is_no_0_in_a_short_run(energy, tmp_path):
    for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "dram")):
        folder = tmp_path / "sys/class/powercap" / zone
        folder.mkdir(parents=True)
        for file, text in (("name", name), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
            (folder / file).write_text(f"{text}\n")
    shell = f"echo 2000000 >{tmp_path}/sys/class/powercap/intel-rapl:0/energy_uj"
    found = json.loads(energy("--json", "--meter", "powercap", "--", "sh", "-c", shell).stdout)
    assert figure(found, "node", "package-0")["provenance"] == "measured"
    for part in ("program", "idle", "node"):
        assert figure(found, part, "dram-0")["provenance"] == "unavailable"
        assert re.search("has not advanced yet|stands still", figure(found, part, "dram-0")["source"])
    assert re.search("dram-0 (has not advanced yet|stands still)", found["meter"]["why"])


def test_carbon_and_metrics_leave_out_a_gpu_whose_driver_names_no_processes(energy, tmp_path):
    zone, gpu, file = tmp_path / "sys/class/powercap/intel-rapl:0", tmp_path / "sys/class/hwmon/hwmon5", tmp_path / "m"
    for folder, texts in (
        (zone, {"name": "package-0", "energy_uj": "1000000", "max_energy_range_uj": "262143328850"}),
        (gpu, {"name": "i915", "energy1_input": "1000000"}),
    ):
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_text(f"{text}\n")
    shell = f"{BUSY}; echo 9000000 >{zone}/energy_uj; echo 5000000 >{gpu}/energy1_input"
    done = energy("--json", "--carbon", "360g/kWh", "--metrics", file, "--meter", "auto", "--", "sh", "-c", shell)
    found = json.loads(done.stdout)
    assert figure(found, "node", "i915-0")["joules"] == pytest.approx(4)
    for part in ("program", "idle"):
        assert figure(found, part, "i915-0")["provenance"] == "unavailable"
        assert figure(found, part, "i915-0")["source"].endswith("its driver names no processes")
    assert "i915-0: its driver names no processes" in found["meter"]["why"]
    known = [f for f in found["joules"]["program"] if f["joules"] is not None]
    assert found["carbon"]["co2_g"] == pytest.approx(sum(f["joules"] for f in known) / 3.6e6 * 360)
    families = {f.name: f for f in text_string_to_metric_families(file.read_text())}
    energies = families["wattle_program_energy_joules"].samples
    samples = {(s.labels["part"], s.labels["domain"]): s.value for s in energies}
    assert samples["node", "i915-0"] == pytest.approx(4)
    assert ("program", "i915-0") not in samples and ("idle", "i915-0") not in samples


def test_memory_without_a_sensor_stays_unavailable_beside_a_sensor_of_packages(energy, tmp_path):
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(f"{text}\n")
    shell = f"{BUSY}; echo 9000000 >{zone}/energy_uj"
    found = json.loads(energy("--json", "--meter", "powercap", "--", "sh", "-c", shell).stdout)
    assert figure(found, "node", "package-0")["provenance"] == "measured"
    for part in ("program", "node"):
        assert figure(found, part, "dram")["provenance"] == "unavailable"


def test_carbon_and_metrics_are_those_of_the_program(energy, tmp_path):
    file = tmp_path / "energy.prom"
    done = energy("--json", "--carbon", "360g/kWh", "--metrics", file, "--", "sh", "-c", BUSY)
    found = json.loads(done.stdout)
    joules = figure(found, "program", "cpu")["joules"]
    assert found["carbon"]["co2_g"] == pytest.approx(joules / 3.6e6 * 360)
    families = {f.name: f for f in text_string_to_metric_families(Path(file).read_text())}
    energies = families["wattle_program_energy_joules"].samples
    samples = {(s.labels["part"], s.labels["domain"]): s.value for s in energies}
    assert samples["program", "cpu"] == pytest.approx(joules)
    assert ("program", "dram") not in samples


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such-program",), "no-such-program: not found on PATH"),
        (("--carbon", "x", "true"), "such as 380g/kWh"),
        (("--metrics", "no/such.prom", "true"), "the folder does not exist"),
        (("--machine", "no-such", "true"), "no-such"),
    ],
)
def test_a_wrong_use_is_one_line_and_runs_nothing(energy, words, message):
    done = energy(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "of CPU time" not in done.stderr
