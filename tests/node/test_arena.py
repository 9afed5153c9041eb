"""The memory of a job: nobody else's, without a name, and of one size for ever."""

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


def test_running_job_has_no_name_in_shared_or_temporary_directories() -> None:
    with Job([OSHRUN, "-n", "2", program("victim"), "barrier"]) as job:
        job.until_said("there", 2)
        names = [name for name in job.remains() if "wattle" in name or name.startswith("/dev/shm")]
        assert names == []
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
def test_descriptor_that_is_not_the_arena_is_refused(kind: str) -> None:
    result = oshrun(2, "arena", env=preload(kind))
    assert result.code == 70 and "good" not in result.out and "is not the node's arena" in result.err, result


@needs_root
def test_other_users_get_nothing_from_the_socket() -> None:
    """PE 1 comes late, so that PE 0's socket is there for a second."""
    late = ["sh", "-c", "sleep 1; exec " + str(program("arena"))]
    with Job([OSHRUN, "-n", "1", program("arena"), ":", "-n", "1", *late], env=preload("deny")) as job:
        job.until(lambda: job.find("arena"), "PE 0")
        (leader,) = job.find("arena")
        theirs = run(program("stranger"), str(leader), user="nobody", cwd=Path("/"), clean=False)
        assert "connected, got" in theirs.out and "nothing" in theirs.out, theirs
        assert job.wait().code == 0


@needs_root
def test_other_user_on_the_sockets_address_is_not_believed() -> None:
    """Another user took the addresses beforehand, and /proc is closed: an error, no hang, no foreign memory."""
    last = int(Path("/proc/loadavg").read_text().split()[-1])
    with Job([program("squatter"), last, 4000], user="nobody", cwd=Path("/")) as squatter:
        squatter.until_said("holding")
        result = oshrun(2, "arena", env=preload("deny"))
        assert result.code == 71 and "arena" in result.err and "good" not in result.out, result
        assert oshrun(2, "arena").code == 0, "with /proc open it does not matter"
