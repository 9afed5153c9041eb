"""`wattle study race -- PROGRAM`: a program of the user's at each clock, on a made-up /sys and in simulation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import sweeps
from governed_job import Machine
from tree import HOME
from wattle.base.errors import WattleError
from wattle.sim import simulation
from wattle.study import measuring
from wattle.study.race import own
from wattle.study.race.judges import JOBS
from wattle.study.sweep.analysis import SCHEMA, Analysis
from wattle.study.sweep.knob import Knob
from wattle.study.sweep.plan import Plan

OSHCC = HOME / "bin" / "oshcc"
needs_runtime = pytest.mark.skipif(not os.access(OSHCC, os.X_OK), reason="the runtime is not built")
needs_simulator = pytest.mark.skipif(simulation.unavailable() is not None, reason=str(simulation.unavailable()))

# Prints the highest clock that PE 0's file of /sys allows. Argument: the file, or "fails".
PROGRAM = """\
#include <shmem.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  char text[32] = "nothing\\n";
  if (argc > 1 && !strcmp(argv[1], "fails")) return 3;
  shmem_init();
  FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (f && fgets(text, sizeof text, f) && shmem_my_pe() == 0) printf("allowed: %s", text);
  if (f) fclose(f);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
"""


def built(folder: Path, *options: str) -> Path:
    source, program = folder / "shows.c", folder / "shows"
    source.write_text(PROGRAM)
    subprocess.run([OSHCC, *options, "-O2", source, "-o", program], check=True)
    return program


def race(folder: Path, *arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("WATTLE_", "SHMEM_"))}
    environment = inherited | {"WATTLE_HOME": str(HOME), "COLUMNS": "200"} | settings
    words = [sys.executable, "-m", "wattle", "study", "race", "--quick", "-o", folder / "out", *arguments]
    return subprocess.run(
        [str(w) for w in words], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@needs_runtime
def test_the_program_runs_at_each_clock_and_the_clocks_are_restored(tmp_path):
    machine = Machine(tmp_path / "sys")
    shown = machine.policy(machine.cpus[0]) / "scaling_max_freq"
    done = race(
        tmp_path, "--rounds", 1, "--json", "-n", 2, "--", built(tmp_path), shown, WATTLE_SYSFS=str(machine.root)
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    clocks = [point["clock"] for point in document["points"]]
    assert clocks == [None, 1.2, 2.4, 3.6]
    assert done.stderr.count("allowed: ") == len(clocks)
    for clock in ("1200000", "2400000", "3600000"):
        assert f"allowed: {clock}" in done.stderr
    assert {point["name"] for point in document["points"]} == {"shows"}
    assert machine.is_restored()
    assert document["published"] == []


@needs_runtime
@needs_simulator
def test_clocks_are_simulated_and_the_page_shows_them(tmp_path):
    done = race(tmp_path, "--on", "sim", "-n", 3, "--", built(tmp_path, "--sim"))
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "shows at each clock, 1 run" in text
    assert "shows has its least time at" in text and "E2DP at" in text
    assert set(pl.read_parquet(tmp_path / "out" / "samples.parquet")["pes"]) == {3}
    report = [sys.executable, "-m", "wattle", "report", tmp_path / "out"]
    environment = os.environ | {"WATTLE_HOME": str(HOME)}
    subprocess.run([str(word) for word in report], env=environment, check=True, capture_output=True)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Race to halt: shows" in page
    for figure in ("job-seconds", "job-node", "job-edp", "job-e2dp"):
        assert f'id="plot-{figure}"' in page
    assert 'id="published"' not in page


def test_without_published_figures_one_network_is_simulated():
    found = []
    for judged in (True, False):
        with measuring.asking("sim", False, judged, None, None, None):
            found.append(measuring.varies_network("race"))
    assert found == [True, False]


@needs_runtime
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", "2"], ["-n 2", "for a program of your own"]),
        (["-n", "0", "--", "./app"], ["-n 0", "1 to 100000"]),
        (["--", "/bin/true"], ["No clock can be set here", "--on sim:CLUSTER"]),
        (["--", "./missing"], ["wattle: ./missing: is not a program that can be started"]),
        (["--on", "sim", "--", "./missing"], ["wattle: ./missing: is not a program that can be started"]),
    ],
)
def test_what_cannot_be_done_is_said_with_the_remedy(tmp_path, arguments, words):
    done = race(tmp_path, *arguments, WATTLE_SYSFS=str(tmp_path))
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "out").exists()


@needs_runtime
def test_a_program_that_fails_or_is_not_there_ends_the_study(tmp_path):
    machine = Machine(tmp_path / "sys")
    (tmp_path / "other").mkdir()
    done = race(tmp_path, "--rounds", 1, "--", built(tmp_path), "fails", WATTLE_SYSFS=str(machine.root))
    assert (done.returncode, "shows failed with exit code" in done.stderr) == (2, True)
    done = race(tmp_path / "other", "--", tmp_path / "missing", WATTLE_SYSFS=str(machine.root))
    assert (done.returncode, "missing: is not a program that can be started" in done.stderr) == (2, True)
    assert machine.is_restored()


# ---- the least of each ----

KNOB = Knob("cpufreq", "", (1.0, 2.0, 3.0), 3.0)


def made(energy, provenance: str = "measured") -> Analysis:
    """Samples of a program whose time is 1 s of waiting and 2 s of computing at 1 GHz; `energy`: of the clock."""
    sweep = own.sweep_of(["/usr/bin/app"], 2)
    rows = []
    for number, job in enumerate(sweep.jobs(Plan(False, 1, KNOB))):
        clock = job.clock or 3.0
        rows.append(
            sweeps._row(job, "app", "all", None, None, (0, number, 0), 1 + 2 / clock, energy(clock))
            | {"more_json": "{}"}
        )
        known = {f"{domain}_provenance": provenance for domain in ("cpu", "dram")}
        rows[-1] |= known | {"cpu_source": "powercap", "dram_source": "powercap", "verified": True}
        if provenance == "unavailable":
            rows[-1] |= dict.fromkeys(("cpu_J", "dram_J", "cpu_uncertainty_J", "dram_uncertainty_J"))
    return Analysis(pl.DataFrame(rows, schema=SCHEMA), KNOB)


def test_the_least_of_each_metric_has_its_clock():
    found = made(lambda ghz: 10 + (ghz - 2) ** 2)  # least at 2 GHz
    assert {metric: point.clock for metric, point in own.least(found).items()} == {
        "seconds": 3.0,
        "node": 2.0,
        "edp": 3.0,  # 33, 20, 18.3
        "e2dp": 2.0,  # 363, 200, 201.7
    }
    assert "not right for it: its least energy is not at the highest clock, 3 GHz" in own._least_words(found)
    assert "Race to halt is right" in own._least_words(made(lambda ghz: 10 / ghz))
    title, heads, lines = own._table(found)
    assert heads == ["clock", "time", "energy", "power", "EDP", "E2DP"]
    assert [line[0] for line in lines] == ["unchanged", "1 GHz", "2 GHz", "3 GHz"]
    assert lines[2][1:3] == ["2.00 s (+33.3 %)", "10.0 J (+9.1 %)"]
    assert "app at each clock" in title


def test_without_joules_only_the_time_is_compared():
    found = made(lambda ghz: 1.0, "unavailable")
    assert list(own.least(found)) == ["seconds"]
    assert "only the time is compared" in own._least_words(found)


def test_the_plan_has_every_clock_and_one_run_without_a_request():
    jobs = own.sweep_of(["/usr/bin/app", "-x"], 4).jobs(Plan(False, 1, KNOB))
    assert [job.clock for job in jobs] == [None, 1.0, 2.0, 3.0]
    assert dict(jobs[1].settings) == {"WATTLE_CLOCKS": "0-3=1"}
    assert {(job.series, job.program, job.arguments, job.pes) for job in jobs} == {(JOBS, "/usr/bin/app", ("-x",), 4)}
    with pytest.raises(WattleError, match="No clock can be set"):
        own.check_clocks(Plan(False, 1, Knob("record", "a virtual machine")))
