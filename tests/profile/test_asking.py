"""A job that stands still is asked where: by `wattle top`, and by SIGQUIT."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import fakes
import loaded
import pytest
from jobs import HOME, clean_environment, compile_once
from preload import BOTH, ENVIRONMENT, Mpi
from tree import PACKAGE
from wattle.top.page import LAYOUT, MARK, chosen_of, read

# PE 1 is late until it is let go: by a file of this name.
STANDS = """
#ifdef MPI
#include <mpi.h>
#else
#include <shmem.h>
#endif
#include <unistd.h>
int main(int argc, char **argv)
{
  int rank;
#ifdef MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#else
  shmem_init();
  rank = shmem_my_pe();
#endif
  while (rank == 1 && access(argv[1], F_OK) != 0) usleep(10000);
#ifdef MPI
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
#else
  shmem_barrier_all();
  shmem_finalize();
#endif
}
"""


def environment(**more: str) -> dict[str, str]:
    made = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    return {**made, **more}


def start(command: list[object], **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*map(str, command)],
        env=environment(**more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=fakes.heed_signals,
    )


def ask(job: subprocess.Popen[str], call: str) -> list[dict[str, Any]]:
    """Figures of both PEs of a job once one of them waits in that call. The other one may still be starting."""
    until, pes = time.monotonic() + 120, []
    while time.monotonic() < until:
        done = loaded.wattle("top", "--json", job.pid, environment=environment(), folder=Path.cwd())
        assert done.returncode == 0, done.stderr
        pes = json.loads(done.stdout)["pes"]
        if len(pes) == 2 and any(pe["call"] == call for pe in pes):
            return pes
        time.sleep(0.1)
    raise AssertionError(f"of two PEs none came to wait in {call}: {pes}")


def end(job: subprocess.Popen[str]) -> None:
    if job.poll() is None:
        job.terminate()
        job.wait(120)


def check(job: subprocess.Popen[str], program: Path, call: str, go: Path, whole: bool = False) -> None:
    """`go`: the file that lets PE 1 go on. `whole`: `job` is `wattle run`, and gets the signal itself."""
    noun = "rank" if call.startswith("MPI_") else "PE"
    words = [f"wattle: {noun} 0: waits in {call} at program+0x"] + [f"wattle: {noun} 1: does not wait, for"] * whole
    err = ""
    try:
        pes = ask(job, call)
        assert all(pe["program"].endswith(f"/{program.name}") for pe in pes)
        assert [pe["pe"] for pe in pes] == [0, 1]
        waiting = next(pe for pe in pes if pe["call"] == call)
        assert waiting["pe"] == 0
        assert not pes[1]["waits"]
        assert waiting["where"]
        counts = [pe["counts"] for pe in pes]
        assert all(0 <= one["cpu_s"] <= one["wall_s"] * 1.1 + 0.1 for one in counts)
        assert counts[0]["waiting_s"] > 0 and counts[0]["calls"] > 0
        assert counts[0]["joules"][0]["provenance"] == "modelled"
        os.kill(job.pid if whole else waiting["pid"], signal.SIGQUIT)  # notified, not ended
        assert job.stderr
        for line in job.stderr:
            err += line
            if all(word in err for word in words):
                break
        go.touch()
        err += job.stderr.read()
        job.wait(60)
    finally:
        end(job)
    assert job.returncode == 0, err
    assert all(word in err for word in words), err
    assert (f"wattle: {noun} 1: does not wait, for" in err) == whole, err


def stands(compiler: object, folder: Path, name: str, *options: str) -> Path:
    source, program = folder / "stands.c", folder / f"stands-{name}"
    source.write_text(STANDS)
    return compile_once([compiler, "-g", *options, source], program)


def stands_mpi(mpi: Mpi, folder: Path) -> Path:
    return stands(mpi.tool("mpicc"), folder, mpi.name, "-DMPI")


@pytest.mark.parametrize("wait", ["spin", "adaptive"])
def test_an_openshmem_job(wait: str, tmp_path: Path) -> None:
    program, go = stands(HOME / "bin/oshcc", tmp_path, wait), tmp_path / "go"
    job = start([HOME / "bin/oshrun", "-n", 2, "--", program, go], WATTLE_WAIT=wait)
    check(job, program, "shmem_barrier_all", go)


@BOTH
def test_an_mpi_job(mpi: Mpi, tmp_path: Path) -> None:
    program, go = stands_mpi(mpi, tmp_path), tmp_path / "go"
    job = start([mpi.tool("mpirun"), "-n", 2, program, go], LD_PRELOAD=str(HOME / "lib/libwattle-mpi.so"))
    check(job, program, "MPI_Barrier", go)


def run_of(folder: Path, *words: object) -> subprocess.Popen[str]:
    return start([sys.executable, "-m", "wattle", "run", "-o", folder / "run", *words])


def test_wattle_run_asks_all_pes_of_its_job(tmp_path: Path) -> None:
    program, go = stands(HOME / "bin/oshcc", tmp_path, "shmem"), tmp_path / "go"
    check(run_of(tmp_path, "-n", 2, "--", program, go), program, "shmem_barrier_all", go, whole=True)


@BOTH
def test_wattle_run_asks_the_processes_of_an_mpi_job(mpi: Mpi, tmp_path: Path) -> None:
    program, go = stands_mpi(mpi, tmp_path), tmp_path / "go"
    job = run_of(tmp_path, "--mpi", "--", mpi.tool("mpirun"), "-n", 2, program, go)
    check(job, program, "MPI_Barrier", go, whole=True)


def test_a_second_question_at_once_ends_the_job(tmp_path: Path) -> None:
    answer, err = "wattle: PE 0: waits in shmem_barrier_all", ""
    job = run_of(tmp_path, "-n", 2, "--", HOME / "lib/wattle/apps/barrier", 60000)
    try:
        ask(job, "shmem_barrier_all")
        job.send_signal(signal.SIGQUIT)
        assert job.stderr
        # Two signals of a kind at once may be one, and the second one may end the job before the first is answered.
        for line in job.stderr:
            err += line
            if answer in err:
                break
        job.send_signal(signal.SIGQUIT)
        err += job.stderr.read()
        job.wait(120)
    finally:
        end(job)
    assert job.returncode == 128 + signal.SIGQUIT, err
    assert answer in err


def told(tmp_path: Path, body: str) -> subprocess.CompletedProcess[str]:
    """A program of one PE with this body, run."""
    source, program = tmp_path / "own.c", tmp_path / "own"
    source.write_text(f"#include <shmem.h>\n#include <signal.h>\n#include <unistd.h>\n{body}\n")
    subprocess.run([HOME / "bin/oshcc", source, "-o", program], check=True)
    return subprocess.run(
        [program], env=environment(), check=False, text=True, capture_output=True, preexec_fn=fakes.heed_signals
    )


def test_a_program_that_has_a_handler_of_its_own_keeps_it(tmp_path: Path) -> None:
    result = told(
        tmp_path,
        "static void mine(int n) { (void)n; _exit(7); }\n"
        "int main(void) { signal(SIGQUIT, mine); shmem_init(); raise(SIGQUIT); shmem_finalize(); }",
    )
    assert result.returncode == 7


def test_a_pe_that_has_finalized_answers_too(tmp_path: Path) -> None:
    """It would take with it the others, which are asked in the same moment."""
    result = told(tmp_path, "int main(void) { shmem_init(); shmem_finalize(); raise(SIGQUIT); return 5; }")
    assert result.returncode == 5 and "wattle: PE 0: has been finalized, for " in result.stderr, result


# ---- the page ----


def page(**changes: Any) -> bytes:
    values = {"mark": MARK, "pid": 7, "pe": 1, "n": 2, "turn": 2, "taken": 1, "base": 1000, "end": 2000, "since": 10**9}
    values |= {"addr": 1501, "a": 1, "b": 2, "c": 3 * 10**9, "call": b"shmem_quiet"} | changes
    return LAYOUT.pack(*values.values())


def test_a_page_is_read_as_it_was_written() -> None:
    live = read(page(), 7, 3, "/p", now_ns=3 * 10**9)
    assert (live.pe, live.n_pes, live.call, live.offset, live.for_s) == (1, 2, "shmem_quiet", 500, 2.0)
    assert live.waited_s["asleep"] == 3.0


@pytest.mark.parametrize("change", [{"mark": b"WTLLIVE9"}, {"mark": b"\0TLLIVE1"}, {"pid": 8}])
def test_pages_of_others_are_passed_over(change: dict[str, Any]) -> None:
    assert read(page(**change), 7, 3, "/p") is None


def test_a_call_from_a_library_has_no_offset_in_the_program() -> None:
    assert read(page(addr=5000), 7, 3, "/p").offset is None


def test_only_the_job_that_was_asked_for_is_chosen() -> None:
    some = [read(page(pid=pid), pid, parent, "/p") for pid, parent in ((7, 3), (8, 3), (9, 4))]
    assert [live.pid for live in chosen_of(some, 8)] == [7, 8]
    assert [live.pid for live in chosen_of(some, 4)] == [9]
    assert chosen_of(some, 99) == []


def test_a_job_is_chosen_by_whatever_started_its_launcher(tmp_path: Path) -> None:
    for pid, parent in ((3, 20), (20, 10), (4, 10), (10, 1)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a (b) c) S {parent} 0 0\n")
    some = [read(page(pid=pid), pid, parent, "/p") for pid, parent in ((7, 3), (8, 3), (9, 4))]
    assert [live.pid for live in chosen_of(some, 20, tmp_path)] == [7, 8]
    assert [live.pid for live in chosen_of(some, 10, tmp_path)] == [7, 8, 9]
    assert chosen_of(some, 21, tmp_path) == []
