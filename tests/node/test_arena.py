"""The memory of a job: closed to other users, without a name, and of constant size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jobs import OSHRUN, Job, oshrun, program, run

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")


def preload(kind: str) -> dict[str, str]:
    return {"LD_PRELOAD": str(program("libno_proc_fd.so")), "NO_PROC_FD": kind}


def test_arena_is_sealed_and_closed_on_exec() -> None:
    result = oshrun(2, "arena")
    lines = [line for line in result.out.splitlines() if line.startswith("arena fd")]
    expected = "arena fd: sealed against shrinking 1 growing 1 unsealing 1, close-on-exec 1, truncation refused"
    assert result.code == 0 and lines == [expected] * 2, result


def test_a_core_file_holds_what_the_heap_has_allocated() -> None:
    """Where the heap is large and unused, the kernel would give memory to it to write it."""
    result = oshrun(2, "arena", env={"SHMEM_SYMMETRIC_SIZE": "1G"})
    assert result.code == 0 and result.out.count("a core file holds what is allocated") == 2, result


def test_running_job_has_no_name_in_shared_or_temporary_directories() -> None:
    with Job([OSHRUN, "-n", "2", program("victim"), "barrier"]) as job:
        job.until_said("there", 2)
        launchers = {path for path in job.tmp.iterdir() if path.name.startswith("wattle-")}  # its folder, by oshrun
        remains = job.remains()
        ours = [path for path in map(Path, remains) if "wattle" in path.name and path not in launchers]
        shared = {name for name in remains if name.startswith("/dev/shm")}
        assert ours == [] and not shared & set(job.remains())  # another job may just make some
        for pid in job.find("victim"):
            mapped = {
                line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "/dev/shm" in line
            }
            assert mapped == set()


def test_arena_passes_over_the_socket_where_proc_is_closed() -> None:
    result = oshrun(4, "arena", env=preload("deny"))
    assert result.code == 0 and result.out.count("good") == 4, result
    assert result.err.count(": deny") == 3, result  # it was exercised


@pytest.mark.parametrize("kind", ["file", "unsealed"])
def test_descriptor_that_is_not_the_arena_is_not_taken(kind: str) -> None:
    """The socket has the right one."""
    result = oshrun(2, "arena", env=preload(kind))
    assert result.code == 0 and result.out.count("good") == 2, result
    assert result.err.count(f": {kind}") == 1, result


@needs_root
@pytest.mark.parametrize("own_proc", [True, False], ids=["own", "foreign"])
def test_pes_in_pid_namespaces_of_their_own_share_the_arena(own_proc: bool) -> None:
    """Their numbers are equal, as in containers. With a foreign /proc they are those of other processes there."""
    words = ("unshare", "--pid", "--fork", "--kill-child", *(["--mount-proc"] if own_proc else []), program("arena"))
    result = run(OSHRUN, "-n", "3", *words)
    assert result.code == 0 and result.out.count("good") == 3, result


def abstract_names(pid: int) -> list[str]:
    """Abstract addresses at which a process listens."""
    try:
        files = {str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:  # one was closed meanwhile
        return []
    rows = (line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:])
    return [row[7][1:] for row in rows if len(row) == 8 and row[7][0] == "@" and f"socket:[{row[6]}]" in files]


@needs_root
def test_other_users_get_nothing_from_the_socket(tmp_path: Path) -> None:
    """PE 1 takes its time, so that PE 0's socket stays there."""
    asked = tmp_path / "asked"
    with Job([OSHRUN, "-n", "2", program("arena")], env=preload("deny") | {"NO_PROC_FD_UNTIL": str(asked)}) as job:
        job.until(lambda: "open of" in job.err, "PE 1")
        (leader,) = (pid for pid in job.find("arena") if f"/proc/{pid}/fd" in job.err)
        names: list[str] = []
        job.until(lambda: names.extend(abstract_names(leader)) or names, "its socket")
        (name,) = names
        theirs = run(program("stranger"), name, user="nobody", cwd=Path("/"), clean=False)
        assert "connected, got" in theirs.out and "nothing" in theirs.out, theirs
        asked.touch()
        assert job.wait().code == 0


@needs_root
def test_other_user_cannot_take_the_sockets_address_beforehand() -> None:
    """Another user has bound all addresses that follow from future process IDs, and /proc is closed."""
    last = int(Path("/proc/loadavg").read_text().split()[-1])
    with Job([program("squatter"), last, 4000], user="nobody", cwd=Path("/")) as squatter:
        squatter.until_said("holding")
        result = oshrun(2, "arena", env=preload("deny"))
        assert result.code == 0 and result.out.count("good") == 2, result


@pytest.mark.parametrize("kind", ["deny", "file"])
def test_socket_of_another_user_is_not_believed(kind: str) -> None:
    """The right address, but another user's process behind it: an error, no hang, no foreign memory."""
    result = oshrun(2, "arena", env=preload(kind) | {"NO_PROC_FD_PEER": "other"})
    assert result.code == 71 and "arena" in result.err and "good" not in result.out, result


# PRRTE 3.0.8 itself crashes at the end of some jobs that a PE aborts on a busy machine: 4 of 48.
CRASH = "oshrun: the launcher was ended by signal 11"


@pytest.mark.parametrize(
    ("why", "words", "absent"),
    [
        ("38", ["memfd_create", "seccomp"], "SHMEM_SYMMETRIC_SIZE"),
        ("1", ["memfd_create", "seccomp"], "SHMEM_SYMMETRIC_SIZE"),
        ("24", ["ulimit -n"], "SHMEM_SYMMETRIC_SIZE"),
        ("12", ["SHMEM_SYMMETRIC_SIZE"], "seccomp"),
    ],
)  # ENOSYS, EPERM, EMFILE, ENOMEM
def test_advice_is_true_where_the_arena_cannot_be_made(why: str, words: list[str], absent: str) -> None:
    result = oshrun(2, "arena", env={"LD_PRELOAD": str(program("libno_proc_fd.so")), "NO_MEMFD": why})
    assert result.code == 71 or CRASH in result.err, result
    assert all(word in result.err for word in words) and absent not in result.err, result


def test_arena_is_made_where_only_memory_that_cannot_be_executed_is_allowed() -> None:
    """As with the sysctl vm.memfd_noexec=2."""
    result = oshrun(2, "arena", env={"LD_PRELOAD": str(program("libno_proc_fd.so")), "NO_MEMFD": "exec"})
    assert result.code == 0 and result.out.count("good") == 2, result
