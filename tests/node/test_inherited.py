"""Ignored or blocked signals, closed streams and limits of oshrun's caller change no result and no end of a job."""

from __future__ import annotations

import os
import signal
import subprocess
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


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("kilobytes", [0, 1024, 4000])
def test_too_small_files_are_refused(name: str, kilobytes: int) -> None:
    result = limited(f"-f {kilobytes}", "--launcher", name, "-n", "2", "true")
    assert "oshrun: the limit on the size of files" in result.out and "code 71" in result.out, result


INPUTS = [
    *(("openmpi", f"{option} F") for option in ("--hostfile", "-machinefile", "--rankfile", "-rf", "--app", "-app")),
    *(("openmpi", f"{option} F") for option in ("--default-hostfile", "--tune", "-tune", "--am", "--am none,F")),
    *(("openmpi", f"--mca {name} F") for name in ("orte_default_hostfile", "rmaps_rank_file_path")),
    *(("mpich", f"{option} F") for option in ("--hostfile", "-f", "--f", "-configfile", "--configfile")),
]
VARIABLES = [
    ("mpich", "HYDRA_HOST_FILE"),
    ("mpich", "HYDRA_CONFIG_FILE"),
    ("openmpi", "OMPI_MCA_orte_default_hostfile"),
    ("openmpi", "OMPI_MCA_mca_base_param_files"),
    ("openmpi", "PRTE_MCA_prte_default_hostfile"),
]


def fifo_is_refused(fifo: Path, *words: str, **variables: str) -> None:
    os.mkfifo(fifo)
    result = run(OSHRUN, *words, env=variables)
    assert result.code == 64 and f"{fifo}: is not a regular file" in result.err, result


@pytest.mark.parametrize(("name", "option"), INPUTS)
def test_fifo_as_input_file_of_a_launcher_is_refused(name: str, option: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    words = [word.replace("F", str(fifo)) for word in option.split()]
    fifo_is_refused(fifo, "--launcher", name, "-n", "2", *words, "true")


@pytest.mark.parametrize(("name", "variable"), VARIABLES)
def test_fifo_as_input_file_named_by_a_variable_is_refused(name: str, variable: str, tmp_path: Path) -> None:
    fifo_is_refused(tmp_path / "fifo", "--launcher", name, "true", **{variable: str(tmp_path / "fifo")})


def test_fifo_as_hostfile_of_a_later_part_is_refused(tmp_path: Path) -> None:
    later = ["-n", "1", "--hostfile", str(tmp_path / "fifo"), "true"]
    fifo_is_refused(tmp_path / "fifo", "--launcher", "openmpi", "-n", "1", "true", ":", *later)


def test_default_hostfile_is_an_option_with_a_value(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("localhost slots=2\n")
    for file in (str(tmp_path / "hosts"), "none"):
        words = ["--launcher", "openmpi", "-n", "2", "--default-hostfile", file]
        result = run(OSHRUN, *words, "sh", "-c", "exit 7")
        assert result.code == 7, result


# --- streams without a reader ---


def unread(stream: str, *command: str | Path) -> int:
    """The code of a command one of whose streams is a pipe without a reader; negative: the signal that ended it."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        return subprocess.run(command, timeout=LIMIT_S, **{stream: pipe}).returncode


@pytest.mark.parametrize("words", ["-n x ./y", "-n 2 ./nosuch", "--launcher none true"])
def test_the_exit_code_of_a_refusal_arrives_without_a_reader(words: str) -> None:
    assert unread("stderr", OSHRUN, *words.split()) == 64


def test_the_exit_code_of_a_wrong_setting_arrives_without_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHMEM_SYMMETRIC_SIZE", "much")
    for words in (["oshrun", "true"], ["wattle-info"], ["wattle-calibrate", "where"]):
        assert unread("stderr", OSHRUN.with_name(words[0]), *words[1:]) == 78, words


PRINTERS = ["oshrun --help", "oshrun --version", "oshrun --settings", "oshrun --dry-run true"]
PRINTERS += ["wattle-info", "wattle-info settings", "wattle-calibrate where"]


@pytest.mark.parametrize("line", PRINTERS)
def test_output_without_a_reader_ends_with_a_code_and_no_signal(line: str) -> None:
    name, *words = line.split()
    assert unread("stdout", OSHRUN.with_name(name), *words) == 71


def test_the_program_has_sigpipe_as_by_default() -> None:
    result = run(OSHRUN, "-n", "1", "sh", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status")
    masks = [int(line.split()[1], 16) for line in result.out.splitlines()]
    assert len(masks) == 2 and all(not mask >> (signal.SIGPIPE - 1) & 1 for mask in masks), result
