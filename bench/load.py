"""What else ran on the machine while a job did.

A launcher's daemons on made nodes outlive it a little and would be init's children then, their CPU time lost to us.
So this process adopts orphans (PR_SET_CHILD_SUBREAPER), waits for them, and has their CPU time with its own children's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import time
from pathlib import Path

BUSY_KINDS = (0, 1, 2, 7)  # of /proc/stat: user, nice, system, and stolen by what runs beside this virtual machine
PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 0.5  # for orphans to end


def adopt_orphans() -> None:
    """From now on orphaned descendants become children of this process."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """Of this process, ended ones that nobody has waited for among them."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text(encoding="ascii").split()}


def wait_for(pids: set[int], patience_s: float = PATIENCE_S) -> None:
    """Those that have ended, for as long as others may still be ending."""
    deadline = time.monotonic() + patience_s
    while pids and time.monotonic() < deadline:
        for pid in sorted(pids):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue
            pids.discard(pid)
        if pids:
            time.sleep(0.005)


def busy_seconds() -> float:
    """CPU seconds that all of the machine's CPUs have been busy for, interrupts left out."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    return sum(int(fields[kind]) for kind in BUSY_KINDS) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """CPU seconds of this process and of all its descendants that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


class Watch:
    """From its making on; the job that is watched begins and ends within."""

    def __init__(self) -> None:
        adopt_orphans()
        self.before = children()
        self.began, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def others(self) -> float:
        """The share of the machine's CPU time that somebody else has used, 0 to 1."""
        wait_for(children() - self.before)
        wall = time.monotonic() - self.began
        used = (busy_seconds() - self.busy) - (own_seconds() - self.own)
        return min(1.0, max(0.0, used / (wall * (os.cpu_count() or 1))))
