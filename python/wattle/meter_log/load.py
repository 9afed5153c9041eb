"""Makes a load pattern that an external meter sees: all cores of this process compute and idle in a fixed order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wattle.base.documents import fields
from wattle.base.errors import WattleError

# Barker's code of 13 steps: any shift of it agrees with the code in at most one step more than it differs. The pattern
# after the run is the reverse one, so that the two are not mixed up.
BEFORE = (1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1)
AFTER = BEFORE[::-1]
GUARD = 2  # idle steps before and after the code
STEP_READINGS = 2  # readings of the meter in a step
STEP_LEAST_S = 0.25

# Ends with its parent. The parent stops it and lets it go on.
SPIN = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
os.sched_setaffinity(0, {int(sys.argv[2])})
if os.getppid() != int(sys.argv[1]):
    sys.exit()
print(flush=True)
while True:
    pass
"""


@dataclass(frozen=True)
class Pattern:
    """A pattern as it was made. `begin_s`, `end_s`: its ends, idle steps included. `busy`: begin and end of each busy
    time. All are seconds since 1970 on this machine's clock. `step_s`: the length of one step.
    """

    begin_s: float
    end_s: float
    step_s: float
    busy: tuple[tuple[float, float], ...]

    def as_dict(self) -> dict[str, object]:
        """The pattern for the manifest."""
        return fields(self, "begin_s end_s step_s busy")


def step_s(every_s: float) -> float:
    """The length of a step for a meter with a reading each `every_s` seconds."""
    return max(STEP_READINGS * every_s, STEP_LEAST_S)


def length_s(every_s: float) -> float:
    """The length of a whole pattern in seconds."""
    return step_s(every_s) * (len(BEFORE) + 2 * GUARD)


def make(code: tuple[int, ...], step: float) -> Pattern:
    """Makes the pattern now and returns it. Ends its processes in any case."""
    with _spinners(sorted(os.sched_getaffinity(0))) as pids:
        begin = time.time()
        due = time.monotonic() + GUARD * step
        edges: list[float] = []
        now = 0
        for bit in (*code, 0):
            time.sleep(max(0.0, due - time.monotonic()))
            if bit != now:
                for pid in pids:
                    os.kill(pid, signal.SIGCONT if bit else signal.SIGSTOP)
                edges.append(time.time())
                now = bit
            due += step
        time.sleep(GUARD * step)
        return Pattern(begin, time.time(), step, tuple(zip(edges[::2], edges[1::2], strict=True)))


@contextmanager
def busy(cores: list[int]) -> Iterator[None]:
    """Keeps these cores computing while the context lasts."""
    with _spinners(cores) as pids:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        yield


@contextmanager
def _spinners(cores: list[int]) -> Iterator[list[int]]:
    """A stopped process on each of these cores."""
    made: list[subprocess.Popen[bytes]] = []
    try:
        for core in cores:
            words = [sys.executable, "-E", "-S", "-c", SPIN, str(os.getpid()), str(core)]
            made.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
        for one in made:
            if not one.stdout or not one.stdout.readline():
                raise WattleError("the load pattern for the external meter: its processes do not start")
            one.send_signal(signal.SIGSTOP)
        yield [one.pid for one in made]
    except OSError as error:
        raise WattleError(f"the load pattern for the external meter: {error.strerror or error}") from None
    finally:
        for one in made:
            one.kill()
            one.wait()
            if one.stdout:
                one.stdout.close()
