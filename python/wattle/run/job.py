"""Runs a job, passes signals on to it, and ensures that no process of it is left.

Invariants: the job's standard streams are this process's own. Each process that the job leaves behind becomes a
child of this one (subreaper) and is ended before `run` returns. If this process is killed, the job's launcher gets
SIGTERM. Signals are read with sigtimedwait, so no other thread may exist that could catch them. Modules that start
threads (polars, numpy) are therefore imported only after the job has ended. The thread that does work meanwhile has
these signals blocked.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.record.kept_counts import End
from wattle.run.process_ends import Ends

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
AGAIN_S = 2.0  # s: a second SIGQUIT within this time ends the job; src/wait/live.c has the same value
FROM_KERNEL = 0x80  # si_code of a signal that the terminal sent to the whole foreground group
LEAVE_S = 0.5  # time in which a process of the job may end by itself after the launcher
OBEY_S = 2.0  # time after SIGTERM before SIGKILL
STAT_MOST = 4096  # bytes of /proc/PID/stat
LOOK_AGAIN_S = 1.0  # interval for checking the launcher, in case SIGCHLD was lost
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Outcome:
    """The end of a job. `exit_code` is 128 + n where signal n killed the launcher. `cpu_s`: CPU seconds of all
    processes that were waited for, including the launcher. `interrupts`: number of requests to stop. `asked_by`: the
    signal of the first request, or 0. `remains`: number of processes that had to be ended. `ends`: the ends of its PEs.
    `first_failed`: the first of them that failed, if that is known.
    """

    exit_code: int
    wall_s: float
    cpu_s: float
    interrupts: int
    remains: int
    asked_by: int
    ends: list[End] = field(default_factory=list)
    first_failed: End | None = None


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    stdin: int | None = None,
    stdout: int | None = None,
    say: Callable[[str], None] = lambda _: None,
    meanwhile: Callable[[], None] = lambda: None,
    blocked: Iterable[int] | None = None,
) -> Outcome:
    """Runs the command to its end. `stdin`, `stdout`: descriptors instead of this process's own. `say`: prints
    remarks. `meanwhile`: work to do in another thread once the command has started. `blocked`: signals that are blocked
    in the command; None for those of this process.
    """
    return _Job(command, environment, stdin, stdout, say).run(meanwhile, blocked)


class _Job:
    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        stdin: int | None,
        stdout: int | None,
        say: Callable[[str], None],
    ) -> None:
        self.command, self.environment, self.say = command, environment, say
        self.stdin, self.stdout = stdin, stdout
        self.status: int | None = None
        self.cpu_s = 0.0
        self.interrupts = self.asked_by = 0
        self.asked_at = -AGAIN_S
        # A signal that was ignored at start (nohup, a shell's background job) stays ignored.
        self.watched = {s for s in PASSED_ON if signal.getsignal(s) != signal.SIG_IGN} | {signal.SIGCHLD}

    def run(self, meanwhile: Callable[[], None], blocked: Iterable[int] | None) -> Outcome:
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, the kernel would reap the children
        before = signal.pthread_sigmask(signal.SIG_BLOCK, self.watched)
        self.ends = Ends(descendants)
        self.signalled = _descriptor_of(self.watched)
        working = threading.Thread(target=meanwhile)  # has this thread's blocked signals
        try:
            started = time.monotonic()
            self.launcher = self._start(before if blocked is None else blocked)
            try:
                working.start()
            except RuntimeError:  # no further thread is allowed
                meanwhile()
            self._until_launcher_ends()
            wall_s = time.monotonic() - started
            remains = self._end_remains()
        finally:
            ends = self.ends.close()
            os.close(self.signalled)
            if working.ident is not None:
                working.join()
            _drain(self.watched)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            _libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        assert self.status is not None
        code = os.waitstatus_to_exitcode(self.status)
        code = 128 - code if code < 0 else code
        first = self.ends.first_failed()
        return Outcome(code, wall_s, self.cpu_s, self.interrupts, remains, self.asked_by, ends, first)

    def _start(self, mask: Iterable[int]) -> int:
        us = os.getpid()

        def in_child() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != us:  # this process died before the line above
                os._exit(1)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        try:
            process = subprocess.Popen(
                list(self.command),
                env=dict(self.environment),
                stdin=self.stdin,
                stdout=self.stdout,
                preexec_fn=in_child,
                restore_signals=True,
                umask=files.program_umask(),
            )
        except OSError as error:
            raise WattleError(f"{self.command[0]} cannot be started: {error.strerror}") from None
        process.returncode = 0  # reaped here with its resource usage, not by the subprocess module
        return process.pid

    def _until_launcher_ends(self) -> None:
        from wattle.run.reach import Reach  # not before the job has begun

        reach = Reach(self.environment, descendants, self.say)
        while self.status is None:
            self._look(LOOK_AGAIN_S)
            reach.look()
            info = signal.sigtimedwait(self.watched, 0)
            if info is not None and info.si_signo != signal.SIGCHLD:
                self._pass_on(info)
            self._reap()

    def _look(self, limit_s: float) -> None:
        """Waits for a signal, at most `limit_s`. Notes processes that begin or end meanwhile."""
        until = time.monotonic() + limit_s
        while (left_s := until - time.monotonic()) > 0:
            watched = select.poll()
            for fd in (self.signalled, *self.ends.descriptors()):
                watched.register(fd, select.POLLIN)
            readable = [fd for fd, _ in watched.poll(left_s * 1000)]
            self.ends.look()
            if self.signalled in readable:
                return

    def _pass_on(self, info: Any) -> None:
        if info.si_signo == signal.SIGQUIT and info.si_code != FROM_KERNEL and self._ask():
            return
        self.interrupts += 1
        self.asked_by = self.asked_by or int(info.si_signo)
        if info.si_signo == signal.SIGINT and self.interrupts > 1:
            self.say("interrupted again: killing every process of the job")
            signal_all(signal.SIGKILL)
        elif info.si_code != FROM_KERNEL:  # the terminal has sent the signal to the launcher, too
            _signal([self.launcher], info.si_signo)

    def _ask(self) -> bool:
        """Sends SIGQUIT to the PEs, which then print where they wait; a launcher would end from it. False where there
        is no PE, or a request was sent just before. The signal is then passed on and ends the job.
        """
        from wattle.top import page  # seldom needed

        now, before = time.monotonic(), self.asked_at
        pes = [live.pid for live in page.find(pids=descendants())]
        if not pes or now - before < AGAIN_S:
            return False
        self.asked_at = now
        _signal(pes, signal.SIGQUIT)
        return True

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.cpu_s += usage.ru_utime + usage.ru_stime
            if pid == self.launcher:
                self.status = status

    def _end_remains(self) -> int:
        """Waits for processes that the launcher left, then ends them. Returns how many had to be ended."""
        if self._gone_within(LEAVE_S):
            return 0
        remains = len(descendants())
        signal_all(signal.SIGTERM)
        signal_all(signal.SIGCONT)  # a stopped process does not receive SIGTERM
        if not self._gone_within(OBEY_S):
            signal_all(signal.SIGKILL)
            self._gone_within(OBEY_S)
        return remains

    def _gone_within(self, limit_s: float) -> bool:
        until = time.monotonic() + limit_s
        while True:
            gone = not descendants()
            self._reap()
            self.ends.look()
            if gone:
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)


def descendants(root: int | None = None, zombies: bool = False) -> list[int]:
    """All processes below `root`, by default this one. Without zombies, unless asked for. None where /proc is that of
    another PID namespace: its numbers are other processes here.
    """
    children: dict[int, list[int]] = {}
    if not _proc_is_ours():
        return []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            parent, state = _parent_and_state(entry.path)
            if state not in ("X", "") and (zombies or state != "Z"):
                children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    queue = list(children.get(os.getpid() if root is None else root, []))
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue += children.get(pid, [])
    return found


def _proc_is_ours() -> bool:
    try:
        return str(Path("/proc/self").readlink()) == str(os.getpid())
    except OSError:  # this process is not in it
        return False


def _parent_and_state(folder: str) -> tuple[int, str]:
    try:
        file = os.open(f"{folder}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # the process has ended
        return 0, ""
    try:
        fields = os.read(file, STAT_MOST).rpartition(b")")[2].split()
    except OSError:
        return 0, ""
    finally:
        os.close(file)
    return int(fields[1]), fields[0].decode()


def signal_all(number: int) -> None:
    """Sends a signal to all processes below this one."""
    _signal(descendants(), number)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):  # the process has ended, or runs with other rights (sudo)
            continue


def _descriptor_of(signals: Iterable[Any]) -> int:
    """A descriptor that is readable while one of the blocked signals waits. sigtimedwait takes the signal."""
    mask = bytearray(128)  # sigset_t
    for number in signals:
        mask[(number - 1) // 8] |= 1 << (number - 1) % 8
    fd: int = _libc.signalfd(-1, bytes(mask), os.O_CLOEXEC | os.O_NONBLOCK)
    if fd < 0:
        raise WattleError(f"signalfd: {os.strerror(ctypes.get_errno())}")
    return fd


def _drain(watched: set[Any]) -> None:
    """Takes signals that came while the job was ending, so that they do not end this process once unblocked."""
    while signal.sigtimedwait(watched, 0) is not None:
        continue
