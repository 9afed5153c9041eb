"""The profile of an MPI job that did not finish: killed, aborted, interrupted, or without space for its profile."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from governed_job import processes
from jobs import HOME, clean_environment, complaints, default_signals
from mpi_jobs import loses_codes
from preload import BOTH, EITHER, ENVIRONMENT, Mpi, profiles
from tree import PACKAGE
from wattle.record.kept_counts import End
from wattle.run.process_ends import Ends

RANKS = 3
SECONDS = 300
LONG_S = 0.1  # a wait of this length has been noted as a long one


def kept() -> set[str]:
    return {path.name for path in Path("/dev/shm").glob(f"wattle-profile.{os.geteuid()}.*")}


class Run:
    """`wattle run` of ended.c in the background."""

    def __init__(self, mpi: Mpi, folder: Path, way: str, *before: object) -> None:
        self.folder, self.ready, self.before = folder, folder / "ready", kept()
        self.program = mpi.compile("ended.c", folder)
        launched = [mpi.tool("mpirun"), "-n", RANKS, self.program, way, self.ready]
        words = [*before, sys.executable, "-m", "wattle", "run", "--mpi", "-o", folder / "run", "--", *launched]
        environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "WATTLE_METER": "model"}
        self.process = subprocess.Popen(
            list(map(str, words)),
            env={**environment, "PYTHONPATH": str(PACKAGE), "COLUMNS": "120"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=default_signals,
        )

    def until_ranks_wait(self) -> None:
        until = time.monotonic() + SECONDS
        while not self.ready.exists() and time.monotonic() < until and self.process.poll() is None:
            time.sleep(0.02)
        assert self.ready.exists()

    def pids(self) -> list[int]:
        """The ranks, in no order."""
        return processes(lambda entry: (entry / "exe").readlink() == self.program.resolve())

    def end(self) -> str:
        _, err = self.process.communicate(timeout=SECONDS)
        return " ".join(complaints(err).split())

    @property
    def pes(self) -> list[dict]:
        return profiles(self.folder / "run/profile")

    @property
    def manifest(self) -> dict:
        return json.loads((self.folder / "run/manifest.json").read_text())


def check_counts(pes: list[dict]) -> None:
    """Each rank is there with all its calls, and its times add up."""
    assert [pe["pe"] for pe in pes] == list(range(RANKS))
    for pe in pes:
        calls = {site["call"]: site["calls"] for site in pe["sites"]}
        assert calls["MPI_Allreduce"] == 20
        assert sum(s for s in pe["state_s"].values() if s) == pytest.approx(pe["wall_s"], rel=1e-3, abs=1e-3)
        assert pe["program"].rpartition("/")[2].startswith("ended-")
        where = [pe["modules"][site["module"]]["path"] for site in pe["sites"] if site["call"] == "MPI_Allreduce"]
        assert where == [pe["program"]]
    ended = [pe for pe in pes if pe.get("ended")]
    assert ended
    for pe in ended:
        assert pe["joules"], "the model needs no reading at the end"
        assert {figure["provenance"] for figure in pe["joules"]} == {"modelled"}
        if pe["pe"] != 1:
            assert pe["ended"]["wait"]["call"] == "MPI_Recv"
            assert pe["ended"]["wait"]["for_s"] <= pe["wall_s"]
            if pe["ended"]["wait"]["for_s"] > LONG_S:
                assert pe["no_core"]["until_s"] == pytest.approx(pe["wall_s"], rel=1e-3)
                assert pe["state_s"]["no_core"] is not None


WAYS = {
    "SIGKILL": "by SIGKILL",
    "SIGSEGV": "by SIGSEGV",
    "abort": "by SIGABRT",
    "_exit": "with exit code 3",
    "exit": "with exit code 3",
    "MPI_Abort": "",
}


@EITHER
@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_fails_leaves_the_figures_of_all(mpi: Mpi, way: str, tmp_path: Path) -> None:
    run = Run(mpi, tmp_path, way)
    err = run.end()
    assert run.process.returncode != 0 or loses_codes(mpi.name)
    check_counts(run.pes)
    assert "The job was ended before it finished" in err, err
    pids = {str(pe["pid"]) for pe in run.pes}
    assert not {name for name in kept() - run.before if name.split(".")[2] in pids}
    first = run.manifest.get("first_end")
    if first is None:
        pytest.skip("the ranks ended together, or the kernel does not say how they ended")
    if way == "SIGKILL":  # so launchers end the other ranks, and on a busy machine one of those may be seen first
        assert re.search(r"rank \d was seen to end first, by SIGKILL", err), err
    else:
        assert way == "MPI_Abort" or f"rank 1 ended first, {WAYS[way]}" in err, err


def test_the_first_failure_is_only_named_where_it_is_known() -> None:
    def first(*ends: End, ordered: bool = True) -> int | None:
        watch = Ends(list)
        watch.ends, watch.is_ordered = {end.pid: end for end in ends}, ordered
        found = watch.first_failed()
        watch.close()
        return found.pid if found else None

    killed, later = End(1, signal.SIGKILL, None, 5), End(2, signal.SIGKILL, None, 9)
    assert first(killed, later) == 1
    assert first(killed, later, ordered=False) is None
    assert first(killed, End(2, signal.SIGKILL, None, 5)) is None  # seen together
    assert first(killed, End(3, None, 3, 9)) == 3  # no launcher ends a process so
    assert first(End(4, None, None, 1), killed, later) is None
    assert first(End(4, None, 0, 1)) is None


@BOTH
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_job_leaves_the_figures_of_all(mpi: Mpi, name: str, tmp_path: Path) -> None:
    run = Run(mpi, tmp_path, "none")
    run.until_ranks_wait()
    run.process.send_signal(getattr(signal, name))
    err = run.end()
    assert run.process.returncode == 128 + getattr(signal, name)
    check_counts(run.pes)
    assert f"by {name}{' (Ctrl-C)' if name == 'SIGINT' else ''} to `wattle run`" in err, err


@EITHER
def test_a_second_interrupt_kills_the_job_and_leaves_the_figures(mpi: Mpi, tmp_path: Path) -> None:
    run = Run(mpi, tmp_path, "none")
    run.until_ranks_wait()
    os.killpg(run.process.pid, signal.SIGINT)
    time.sleep(0.05)
    os.killpg(run.process.pid, signal.SIGINT)
    run.end()
    check_counts(run.pes)


@EITHER
def test_a_time_limit_leaves_the_figures(mpi: Mpi, tmp_path: Path) -> None:
    run = Run(mpi, tmp_path, "none", "timeout", "--preserve-status", 3600)
    run.until_ranks_wait()
    run.process.send_signal(signal.SIGALRM)  # timeout's own signal at its limit
    assert "by SIGTERM to `wattle run`" in run.end()
    check_counts(run.pes)


def launcher_of(run: Run) -> int:
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


@BOTH
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_an_end_of_the_launcher_leaves_the_figures(mpi: Mpi, name: str, tmp_path: Path) -> None:
    run = Run(mpi, tmp_path, "none")
    run.until_ranks_wait()
    os.kill(launcher_of(run), getattr(signal, name))
    assert "The job was ended before it finished" in run.end()
    check_counts(run.pes)


def wattle(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "wattle", *map(str, words)],
        env={**clean_environment(), "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


@EITHER
def test_a_job_that_is_killed_with_its_command_is_read_later(mpi: Mpi, tmp_path: Path) -> None:
    run = Run(mpi, tmp_path, "none")
    run.until_ranks_wait()
    ranks = run.pids()
    assert len(ranks) == RANKS
    os.kill(run.process.pid, signal.SIGSTOP)  # so that it ends nothing itself
    for pid in (launcher_of(run), *ranks, run.process.pid):
        with suppress(ProcessLookupError):  # the launcher's end is its end, too
            os.kill(pid, signal.SIGKILL)
    run.process.communicate(timeout=SECONDS)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and any(Path(f"/proc/{pid}/exe").exists() for pid in ranks):
        time.sleep(0.05)
    assert "are not known: times are those up to their last long wait" in wattle("report", "--text", tmp_path / "run")
    check_counts(run.pes)
    assert {pe["ended"]["time"] for pe in run.pes} == {"record"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """A full file system at tmp_path/run; a call gives it space."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root may mount a file system")
    place = tmp_path / "run"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", place], check=False)
    if mounted.returncode != 0:
        pytest.skip("this container may not mount a file system")
    yield lambda: (place / "fill").unlink()
    subprocess.run(["umount", "-l", place], check=True)


@EITHER
def test_figures_without_space_for_them_are_written_later(
    mpi: Mpi, tmp_path: Path, small_disk: Callable[[], None]
) -> None:
    run = Run(mpi, tmp_path, "none")
    run.until_ranks_wait()
    fill = (tmp_path / "run/fill").open("wb", buffering=0)
    try:
        while fill.write(bytes(4096)):
            continue
    except OSError:
        fill.close()
    run.process.send_signal(signal.SIGTERM)
    err = run.end()
    assert "cannot write the profile" in err, err
    assert run.process.returncode == 128 + signal.SIGTERM
    assert not run.pes
    small_disk()
    wattle("report", "--text", tmp_path / "run")
    check_counts(run.pes)


@EITHER
def test_a_job_without_wattle_run_is_collected_from_its_folder(mpi: Mpi, tmp_path: Path) -> None:
    done = mpi.run(RANKS, mpi.compile("ended.c", tmp_path), "SIGKILL", profile=tmp_path / "profile")
    assert done.returncode != 0 or loses_codes(mpi.name)
    assert not profiles(tmp_path / "profile")
    words = [HOME / "bin/wattle-profiles", "collect", tmp_path / "profile"]
    until, running = time.monotonic() + SECONDS, RANKS
    while running and time.monotonic() < until:
        found = subprocess.run(words, capture_output=True, text=True, check=True)
        running = json.loads(found.stdout)["running"]
    check_counts(profiles(tmp_path / "profile"))
