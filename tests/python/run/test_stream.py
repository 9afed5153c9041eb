"""`--stream` of `wattle run` and `wattle energy` writes a line for each interval, and the lines fit their schema."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fakes import Wattle
from governed_job import until
from schema import violations
from tree import HOME, PACKAGE, ROOT
from wattle.base.errors import WattleError
from wattle.run import stream as streams

SCHEMA = json.loads((ROOT / "docs" / "stream.schema.json").read_text())
BUSY = "while :; do :; done"
PES = """
#include <shmem.h>
#include <time.h>
int main(void)
{
  shmem_init();
  time_t end = time(NULL) + 3;
  while (shmem_my_pe() == 0 && time(NULL) < end) {}
  shmem_barrier_all();
  shmem_finalize();
}
"""


def lines_of(text: str) -> list[dict[str, Any]]:
    """The lines, each of which must fit the schema."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert [problem for line in lines for problem in violations(SCHEMA, line)] == []
    return lines


def joules(line: dict[str, Any], part: str, domain: str = "package-0", pe: int | None = None) -> float:
    known = [f for f in line["figures"] if (f["part"], f["domain"], f["pe"]) == (part, domain, pe)]
    assert len(known) == 1, (part, domain, pe)
    return known[0]["joules"]


@pytest.fixture
def real(wattle: Wattle) -> Wattle:
    """Runs a command with the real tools and the model."""
    env = {"WATTLE_HOME": str(HOME), "WATTLE_METER": "model", "WATTLE_MACHINE": "sandybridge-e5-2670"}
    return lambda *words, **more: wattle(*words, env=env | more.pop("env", {}), **more)


def test_a_program_has_a_line_for_each_interval_and_a_total(real: Wattle, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    done = real("energy", "--stream", file, "--stream-every", "200ms", "--", "timeout", "2", "sh", "-c", BUSY)
    assert done.returncode == 124
    *intervals, total = lines_of(file.read_text())
    assert len(intervals) > 1
    assert {line["kind"] for line in intervals} == {"interval"}
    assert (total["kind"], total["exit_code"]) == ("total", 124)
    for before, after in pairwise(intervals):
        assert after["begin_s"] == before["end_s"]
    streamed = sum(joules(line, "program", "cpu") for line in intervals)
    assert streamed == pytest.approx(joules(total, "program", "cpu"), rel=0.25)
    figures = [f for line in intervals for f in line["figures"] if f["joules"] is not None]
    assert all(f["watts"] == pytest.approx(f["joules"] / f["interval_s"], rel=0.2) for f in figures)
    assert all(f["provenance"] == "modelled" for f in figures)


def test_joules_of_a_sensor_are_in_the_interval_in_which_it_counted_them(real: Wattle, tmp_path: Path) -> None:
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(text + "\n")
    shell = f"sleep 1; echo 41000000 >{zone}/energy_uj; sleep 1"
    settings = {"WATTLE_SYSFS": str(tmp_path / "sys"), "WATTLE_METER": "powercap"}
    done = real("energy", "--stream", "-", "--stream-every", "0.25s", "--", "sh", "-c", shell, env=settings)
    lines = lines_of(done.stdout)
    counted = [joules(line, "node") for line in lines]
    assert counted[-1] == 40
    assert [j for j in counted[:-1] if j] == [40]
    assert {f["provenance"] for line in lines for f in line["figures"] if f["domain"] == "package-0"} >= {"measured"}


def test_each_pe_has_its_joules_while_the_job_runs(real: Wattle, tmp_path: Path) -> None:
    source, program = tmp_path / "pes.c", tmp_path / "pes"
    source.write_text(PES)
    subprocess.run([HOME / "bin" / "oshcc", source, "-o", program], check=True)
    done = real("run", "-n", 2, "--stream", "-", "--stream-every", "500ms", program)
    assert done.returncode == 0, done.stderr
    *intervals, total = lines_of(done.stdout)
    pes = [{f["pe"] for f in line["figures"] if f["part"] == "pe"} for line in intervals]
    assert {0, 1} in pes
    computing = [line for line, found in zip(intervals, pes, strict=True) if found == {0, 1}]
    assert sum(joules(line, "pe", "cpu", 0) for line in computing) > sum(
        joules(line, "pe", "cpu", 1) for line in computing
    )
    assert {f["pe"] for f in total["figures"] if f["part"] == "pe"} == {0, 1}
    assert {f["part"] for f in total["figures"]} >= {"node", "idle", "pe"}


def test_the_output_of_the_program_does_not_mix_with_the_lines(real: Wattle) -> None:
    done = real("energy", "--stream", "-", "--", "echo", "words")
    assert "words\n" in done.stderr
    assert lines_of(done.stdout)


def test_a_stream_that_cannot_be_written_is_said_before_the_start(real: Wattle, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for words, said in (
        (("--stream", tmp_path / "none" / "x"), "No such file or directory"),
        (("--stream", tmp_path), "Is a directory"),
        (("--stream", tmp_path / "fifo"), "a FIFO needs a reader"),
        (("--stream", "-", "--json"), "both write to standard output"),
        (("--stream", "-", "--stream-every", "50ms"), "expected a time from 100ms"),
        (("--stream", "-", "--stream-every", "soon"), "expected a time from 100ms"),
    ):
        done = real("energy", *words, "--", "touch", tmp_path / "ran")
        assert done.returncode != 0
        assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "ran").exists()


def test_a_failure_while_it_runs_is_said_once_and_leaves_the_program_alone(real: Wattle) -> None:
    done = real("energy", "--stream", "/dev/full", "--stream-every", "100ms", "--", "sh", "-c", "sleep 1; exit 3")
    assert done.returncode == 3
    assert done.stderr.count("No space left on device") == 1


def test_the_stream_ends_with_the_command_that_is_killed(python_environment: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "lines"
    words = [sys.executable, "-m", "wattle", "energy", "--stream", str(file), "--stream-every", "100ms", "--", "sleep"]
    env = {**python_environment, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE), "WATTLE_METER": "model"}
    process = subprocess.Popen([*words, "30"], env=env, cwd=tmp_path)
    assert until(lambda: file.exists() and file.read_text().count("\n") > 2)
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    process.kill()
    process.wait()
    for pid in children:
        with suppress(ProcessLookupError):  # its meter ends by itself
            os.kill(pid, signal.SIGKILL)

    def writes() -> bool:
        size = file.stat().st_size
        time.sleep(1)
        return file.stat().st_size > size

    assert until(lambda: not writes())


@pytest.mark.parametrize(("text", "seconds"), [("1s", 1), ("500ms", 0.5), ("2", 2), ("0.1 s", 0.1)])
def test_intervals_are_times(text: str, seconds: float) -> None:
    assert streams.opened("/dev/null", text, json_too=False, programs=True).every_s == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "-1s", "0", "1m", "nan", "4000s"])
def test_other_intervals_are_refused(text: str) -> None:
    with pytest.raises(WattleError, match="expected a time"):
        streams.opened("/dev/null", text, json_too=False, programs=True)
