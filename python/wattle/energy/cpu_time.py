"""The CPU time of this process and of the processes below it."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTime:
    """The CPU time in seconds of this process, its children and theirs, so far. `switches`: the voluntary context
    switches of those that have ended and of this process; None while processes below it run.
    """

    seconds: float
    switches: int | None


def here() -> CpuTime:
    """The CPU time now. A process that its parent has not awaited, and whose parent has ended, is no longer counted."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    left = _below(os.getpid())
    seconds = time.process_time() + ended.ru_utime + ended.ru_stime + sum(map(of, left))
    return CpuTime(seconds, None if left else own.ru_nvcsw + ended.ru_nvcsw)


def of(pid: int) -> float:
    """CPU time of a process and of its children that ended; 0 where the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(field) for field in fields[11:15]) / TICKS


def _below(pid: int) -> list[int]:
    """The processes below one. Empty where /proc is not there or does not list them."""
    found: list[int] = []
    queue = [pid]
    while queue:
        for thread in Path(f"/proc/{queue.pop()}/task").glob("*/children"):
            try:
                children = [int(word) for word in thread.read_text().split()]
            except OSError:  # the thread has just ended
                continue
            found += children
            queue += children
    return found
