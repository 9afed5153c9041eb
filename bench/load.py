"""Measures the CPU time of other processes while a job runs.

The launcher's daemons on made nodes end a little after it. They would then be init's children, and their CPU time
would be lost. So this process adopts orphans (PR_SET_CHILD_SUBREAPER), waits for them, and counts their CPU time as
its children's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import time
from pathlib import Path

BUSY_KINDS = (0, 1, 2, 7)  # fields of /proc/stat: user, nice, system, and stolen by the virtual machine's host
PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 0.5  # for orphans to end


def adopt_orphans() -> None:
    """Makes this process the parent of its orphaned descendants from now on."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The children of this process, including ended ones that were not waited for."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text(encoding="ascii").split()}


def wait_for(pids: set[int], patience_s: float = PATIENCE_S) -> None:
    """Waits for the children that have ended, as long as others may still be ending."""
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
    """CPU seconds during which the machine's CPUs were busy, without interrupts."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    return sum(int(fields[kind]) for kind in BUSY_KINDS) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """CPU seconds of this process and of all its descendants that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


class Watch:
    """Measures from its creation on. The job runs meanwhile."""

    def __init__(self) -> None:
        adopt_orphans()
        self.before = children()
        self.began, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def others(self) -> float:
        """The share of the machine's CPU time that other processes have used, 0 to 1."""
        wait_for(children() - self.before)
        wall = time.monotonic() - self.began
        used = (busy_seconds() - self.busy) - (own_seconds() - self.own)
        return min(1.0, max(0.0, used / (wall * (os.cpu_count() or 1))))
