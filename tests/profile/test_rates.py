"""The rates that `wattle top` shows, and call sites in shared libraries."""

from __future__ import annotations

import io
import json
import subprocess
import time
from pathlib import Path

import fakes
import loaded
import pytest
from jobs import HOME, clean_environment
from tree import PACKAGE
from wattle.record.pe import PE
from wattle.record.pe_file import pe_of
from wattle.text.console import Console
from wattle.top.cli import document
from wattle.top.page import Live
from wattle.top.rates import Reading, between, jobs
from wattle.top.tables import rates_table

LIBRARY = "#include <shmem.h>\nvoid meet(void) { shmem_barrier_all(); }\n"
PROGRAM = """
#include <shmem.h>
#include <unistd.h>
void meet(void);
static long flag;
int main(void)
{
  shmem_init();
  for (int i = 0; i < 10; i++) shmem_barrier_all();
  if (shmem_my_pe() == 0) meet();
  sleep(60);
  return 0;
}
"""


def made(**changes: object) -> PE:
    return pe_of("made up", json.dumps(fakes.pe_profile(0, 1, **changes)))


def test_the_rates_of_an_interval_are_the_differences_of_two_readings() -> None:
    sites = fakes.pe_profile(0, 1)["sites"]
    more = [{**site, "calls": site["calls"] + 7, "bytes": site["bytes"] + 70} for site in sites]
    before = made()
    now = made(wall_s=3.0, cpu_s=before.cpu_s + 0.5, sites=more, joules=[fakes.figure("cpu", 15.0)])
    found = between(before, now)
    assert found.wall_s == pytest.approx(1.0)
    assert found.cpu_s == pytest.approx(0.5)
    assert [site.calls for site in found.sites] == [7, 7]
    assert [site.bytes for site in found.sites] == [70, 70]
    assert found.joules[0].joules == pytest.approx(5.0)
    assert found.joules[0].uncertainty == pytest.approx(now.joules[0].uncertainty / 3)


def test_sites_of_one_call_with_different_paths_have_their_own_differences() -> None:
    """Their nodes may have other places in the list of a later reading."""

    def reading(paths: list[list[int]], *calls: tuple[int, int]) -> PE:
        sites = [fakes.site(calls=n, path=path) for path, n in calls]
        return made(paths=paths, sites=sites)

    before = reading([[-1, 0, 0x10], [-1, 0, 0x20]], (0, 100), (1, 200))
    now = reading([[-1, 0, 0x5], [-1, 0, 0x20], [-1, 0, 0x10]], (0, 1), (1, 205), (2, 103))
    assert [site.calls for site in between(before, now).sites] == [1, 5, 3]


def live() -> object:
    return type("Live", (), {"pid": made().pid, "parent": 1})


def counted(active: float, spin: float) -> PE:
    """A PE that computed and waited for so many seconds, by wall clock."""
    state = {"active": active, "spin": spin, "yield": 0.0, "asleep": 0.0}
    times = {"compute": active, "transfer": 0.0, "wait": spin}
    return made(wall_s=active + spin, state_s=state, time_s=times)


def test_time_without_a_core_is_that_of_the_interval() -> None:
    first, second = (
        {made().pid: Reading(*r)} for r in ((counted(1.0, 0.0), 0.25, 0.75), (counted(3.0, 0.0), 1.75, 1.25))
    )
    (job,) = jobs([live()], second, first)
    assert job.profile.pes[0].time_s == {"compute": 0.5, "no_core": 1.5, "transfer": 0.0, "wait": 0.0}
    (job,) = jobs([live()], second)
    assert job.profile.pes[0].time_s["no_core"] == 1.75


@pytest.mark.parametrize(("lacked", "no_core"), [(0.0, 0.0), (2.0, 1.5), (4.0, 3.0), (None, None)])
def test_no_core_is_a_state_of_its_own_and_computing_is_what_ran(lacked: float | None, no_core: float | None) -> None:
    """A quarter of the time is a wait, which has a quarter of the time without a core."""
    found = Reading(counted(3.0, 1.0), lacked, None if lacked is None else 4.0 - lacked).split
    assert found.time_s["no_core"] == found.state_s["no_core"] == no_core
    assert found.time_s["wait"] == 1.0
    assert sum(s or 0.0 for s in found.time_s.values()) == sum(s or 0.0 for s in found.state_s.values()) == 4.0


def test_the_columns_of_the_states_add_up_and_the_document_has_them() -> None:
    reading = Reading(counted(3.0, 1.0), 2.0, 2.0)
    (job,) = jobs([live()], {made().pid: reading})
    output = io.StringIO()
    Console(file=output, width=130).print(rates_table(job, "The job"))
    (row,) = [line.split() for line in output.getvalue().splitlines() if line.startswith("0 ")]
    assert row[1:9] == ["37.5", "%", "37.5", "%", "0.0", "%", "25.0", "%"]
    one = Live(made().pid, 1, "/opt/halo", 0, 1, "", 0, None, 0.0, {}, 0)
    counts = document(one, "", reading)["counts"]
    assert (counts["no_core_s"], counts["time_s"]["no_core"], counts["time_s"]["compute"]) == (2.0, 1.5, 1.5)


def test_a_site_without_new_calls_is_left_out_and_the_first_reading_is_whole() -> None:
    assert between(made(), made()).sites == []
    assert between(None, made()) == made()


def top(*words: object) -> str:
    environment = {**clean_environment(), "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE), "COLUMNS": "130"}
    done = loaded.wattle("top", *words, environment=environment, folder=Path.cwd())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wait_in_a_shared_library_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "meet.c").write_text(LIBRARY)
    (tmp_path / "program.c").write_text(PROGRAM)
    compiler, library, program = HOME / "bin/oshcc", tmp_path / "libmeet.so", tmp_path / "meets"
    subprocess.run([compiler, "-g", "-shared", "-fPIC", tmp_path / "meet.c", "-o", library], check=True)
    subprocess.run(
        [compiler, "-g", tmp_path / "program.c", library, f"-Wl,-rpath,{tmp_path}", "-o", program], check=True
    )
    job = subprocess.Popen(
        [HOME / "bin/oshrun", "-n", "2", program], env={**clean_environment(), "WATTLE_METER": "model"}
    )
    try:
        # The first ten barriers are waits of main(). A wait is shown after its call is counted.
        until, found = time.monotonic() + 120, {}
        while not (found.get("call") and found["where"].startswith("meet.c")) and time.monotonic() < until:
            pes = json.loads(top(job.pid, "--json"))["pes"] if job.poll() is None else []
            found = next((pe for pe in pes if pe["pe"] == 0), {})
        assert found["call"] == "shmem_barrier_all"
        assert found["where"].startswith("meet.c:2 meet"), found
        assert found["counts"]["calls"] == 11
        words = " ".join(top(job.pid).split())
        assert "meet.c:2 meet() shmem_barrier_all" in words  # the nearest frame in the program or a library of its own
        assert "The job since its start" in words
    finally:
        job.terminate()
        job.wait(60)
