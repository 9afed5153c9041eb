"""What else ran on the machine while a job did."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

BUSY_KINDS = (0, 1, 2, 7)  # of /proc/stat: user, nice, system, and stolen by what runs beside this virtual machine


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
        self.began, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def others(self) -> float:
        """The share of the machine's CPU time that somebody else has used, 0 to 1."""
        wall = time.monotonic() - self.began
        used = (busy_seconds() - self.busy) - (own_seconds() - self.own)
        return min(1.0, max(0.0, used / (wall * (os.cpu_count() or 1))))
