"""What oshrun has from its caller (signals ignored or blocked, closed streams, limits) changes no result and no end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from jobs import OSHRUN, Job, Result, program, run

LIMIT_S = 100  # against a hang
SEVEN = [str(OSHRUN), "-n", "2", "sh", "-c", "exit 7"]


@pytest.mark.parametrize("how", ["--ignore-signal=CHLD", "--ignore-signal=PIPE", "--block-signal=CHLD,TERM,CHLD"])
def test_exit_code_arrives_whatever_the_caller_ignores_or_blocks(how: str) -> None:
    result = run("env", how, *SEVEN)
    assert result.code == 7 and result.said == [], result


def test_exit_code_arrives_where_the_callers_streams_are_closed() -> None:
    result = run("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *SEVEN)
    assert result.code == 7, result


def test_a_blocked_signal_still_ends_the_job() -> None:
    with Job(["env", "--block-signal=TERM", OSHRUN, "-n", "2", program("victim"), "barrier"]) as job:
        job.until_said("there", 2)
        os.kill(job.process.pid, signal.SIGTERM)
        assert job.wait(LIMIT_S).code == 128 + signal.SIGTERM
        job.all_gone()


def test_job_ends_with_its_reader_where_the_caller_ignores_sigpipe() -> None:
    line = f"env --ignore-signal=PIPE '{OSHRUN}' -n 1 sh -c 'while echo x; do :; done' | head -n 1"
    with Job(["sh", "-c", line]) as job:
        assert job.wait(LIMIT_S).out == "x\n"
        job.all_gone()


def limited(limit: str, *words: str) -> Result:
    """oshrun under a limit; its code and what it says come through a pipe, which no limit on files holds for."""
    quoted = " ".join(f"'{word}'" for word in (OSHRUN, *words))
    with Job(["sh", "-c", f"(ulimit {limit}; {quoted}; echo code $?) 2>&1 | cat"]) as job:
        result = job.wait(LIMIT_S)
        job.all_gone()
    return result


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_too_few_open_files_are_refused(name: str) -> None:
    result = limited("-n 32", "--launcher", name, "-n", "2", "true")
    assert "oshrun: the limit on open files is 32 (ulimit -n" in result.out and "code 71" in result.out, result


def test_limit_on_open_files_is_raised_where_it_may_be() -> None:
    result = limited("-S -n 32", "-n", "2", "true")
    assert result.out == "code 0\n", result


@pytest.mark.parametrize("kilobytes", [0, 1024])
def test_too_small_files_are_refused(kilobytes: int) -> None:
    result = limited(f"-f {kilobytes}", "-n", "2", "true")
    assert "oshrun: the limit on the size of files" in result.out and "code 71" in result.out, result


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_fifo_as_hostfile_is_refused(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    result = run(OSHRUN, "--launcher", name, "-n", "2", "--hostfile", tmp_path / "fifo", "true")
    assert result.code == 64 and "is not a regular file" in result.err, result
