"""Runs a program as a shell does, and counts the CPU time of its process tree. Processes that it leaves go on."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.energy import cpu_time
from wattle.run.job import PR_SET_CHILD_SUBREAPER, descendants
from wattle.text import console

FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # the terminal sends them to the program, too
PASSED_ON = (signal.SIGTERM, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Outcome:
    """The end of a program. `exit_code` is 128 + n where signal n ended it. `cpu_s` is the CPU time of its process
    tree, in seconds; that of processes which still run is counted until now. `switches` is the number of its voluntary
    context switches; 0 where processes of it still run, whose children are not known.
    """

    exit_code: int
    wall_s: float
    cpu_s: float
    switches: int = 0


def run(command: Sequence[str], environment: Mapping[str, str], stdout: int | None, others: set[int]) -> Outcome:
    """Runs the program to its end. `others`: child processes of this one that do not belong to it."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others = others.union(descendants())
    started = time.monotonic()
    program: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _: FrameType | None) -> None:
        if program is not None and number in PASSED_ON:
            with suppress(OSError):  # it has just ended, or runs with other rights (sudo)
                os.kill(program.pid, number)

    # A handler, because an ignored signal would stay ignored in the program. One that is ignored now stays so.
    watched = [n for n in (*FROM_TERMINAL, *PASSED_ON) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in watched}
    try:
        program = subprocess.Popen(list(command), env=dict(environment), stdout=stdout, umask=files.program_umask())
        _, status, usage = os.wait4(program.pid, 0)
        wall_s = time.monotonic() - started
        program.returncode = os.waitstatus_to_exitcode(status)
        left = [pid for pid in descendants() if pid not in others]
        cpu_s = usage.ru_utime + usage.ru_stime + _of_left(left, wall_s)
    except OSError as error:
        raise WattleError(f"{command[0]} cannot be started: {error.strerror}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    code = program.returncode
    return Outcome(128 - code if code < 0 else code, wall_s, cpu_s, 0 if left else usage.ru_nvcsw)


def _of_left(left: Sequence[int], wall_s: float) -> float:
    """CPU time of processes that the program left. More than the machine can give is that of others."""
    cpu_s, cores = sum(map(cpu_time.of, left)), os.cpu_count() or 1
    if cpu_s <= cores * (wall_s + 1):  # a tick counts whole
        return cpu_s
    console.note(
        f"{cpu_s:.0f} s of CPU time in {wall_s:.2f} s on {cores} CPUs cannot be the program's and do not count"
    )
    return 0.0
