"""Notes when and how the processes of a job end.

The processes are children of their launcher, so this process cannot wait for them. It opens a descriptor of each one
(pidfd), which becomes readable at the end of the process. Processes that were seen together have no known order,
because a launcher ends the others within a millisecond. The way a process ended is then read from /proc, as long as the
launcher has not waited for it, or from the descriptor afterwards (Linux 6.15). It stays unknown if neither works.

A process is known by its file of counts (`wattle.record.kept_counts`), whose creation inotify reports.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from wattle.record.kept_counts import KEPT, OF_LAUNCHERS, PREFIX, End

IN_CREATE = 0x100
PIDFD_GET_INFO = 0xC040FF0B  # _IOWR(0xFF, 11, struct pidfd_info of 64 bytes)
PIDFD_INFO_EXIT = 1 << 3
INFO = struct.Struct("=Q52xi")  # mask ... exit_code
EXIT_CODE = 49  # the field exit_code of /proc/PID/stat, counted after the name

_libc = ctypes.CDLL(None, use_errno=True)


class Ends:
    """The processes of a job. `of_job` lists them."""

    def __init__(self, of_job: Callable[[], Iterable[int]]) -> None:
        self.of_job = of_job
        self.others = _with_counts()  # processes of other jobs
        self.known: dict[int, int] = {}  # the descriptor of each process
        self.ends: dict[int, End] = {}
        self.ended = select.epoll()
        self.is_ordered = True  # no process had ended before it was noticed
        self.created = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self.created >= 0:
            _libc.inotify_add_watch(self.created, os.fsencode(KEPT), IN_CREATE)

    def descriptors(self) -> list[int]:
        """Descriptors that become readable when a process begins or ends."""
        return [self.ended.fileno(), *([self.created] if self.created >= 0 else [])]

    def look(self) -> None:
        """Takes note of processes that have begun or ended."""
        now = time.monotonic_ns()
        pid_of = {fd: pid for pid, fd in self.known.items()}
        for fd, _ in self.ended.poll(0, max(1, len(self.known))):
            pid = pid_of[fd]
            self.ended.unregister(fd)
            self.ends[pid] = End(pid, *_decoded(_status_of_zombie(pid)), now)
        if self.created >= 0:
            with suppress(OSError):
                while os.read(self.created, 65536):
                    pass
        self._find()

    def _find(self) -> None:
        found = _with_counts() - self.known.keys() - self.others
        ours = set(self.of_job()) if found else set()
        for pid in found:
            try:
                if pid not in ours and Path(f"/proc/{pid}").exists():
                    self.others.add(pid)
                    continue
                self.known[pid] = os.pidfd_open(pid)
                self.is_ordered &= not _is_over(self.known[pid])
                self.ended.register(self.known[pid], select.EPOLLIN)
            except OSError:  # it has ended, or there are too many descriptors
                self.others.add(pid)
                self.is_ordered = False

    def first_failed(self) -> End | None:
        """The process that failed first. None where there is none, or where it is not known. Launchers end the others
        by SIGTERM and SIGKILL, so one that ended in another way was the first.
        """
        bad = [end for end in self.ends.values() if end.exit_code != 0]
        by_itself = [end for end in bad if end.failed and end.signal not in OF_LAUNCHERS]
        if len(by_itself) == 1:
            return by_itself[0]
        earliest = [end for end in bad if end.at_ns == min(end.at_ns for end in bad)]
        return earliest[0] if len(earliest) == 1 and earliest[0].failed and self.is_ordered else None

    def close(self) -> list[End]:
        """The ends of all processes that were noticed. To be called after the end of the job."""
        for pid, end in self.ends.items():
            if end.signal is None and end.exit_code is None:
                self.ends[pid] = End(pid, *_decoded(_status_of(self.known.get(pid, -1))), end.at_ns)
        for fd in self.known.values():
            os.close(fd)
        self.known = {}
        if self.created >= 0:
            _close_meanwhile(self.created)
        self.ended.close()
        return list(self.ends.values())


def _close_meanwhile(fd: int) -> None:
    """Closes a descriptor of inotify, for which the kernel takes up to twenty milliseconds."""
    try:
        threading.Thread(target=os.close, args=(fd,), daemon=True).start()
    except RuntimeError:  # no further thread is allowed
        os.close(fd)


def _is_over(pidfd: int) -> bool:
    asked = select.poll()
    asked.register(pidfd, select.POLLIN)
    return bool(asked.poll(0))


def _with_counts() -> set[int]:
    """The processes of this user that keep counts under a name."""
    return {pid for path in KEPT.glob(f"{PREFIX}{os.geteuid()}.*") if (pid := _pid_of(path)) is not None}


def _pid_of(path: Path) -> int | None:
    words = path.name.split(".")
    return int(words[2]) if len(words) == 5 and words[2].isdigit() else None


def _status_of_zombie(pid: int) -> int | None:
    """The wait status of a process that has ended and that its parent has not waited for. None where that is over."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[EXIT_CODE]) if fields[0] in "ZX" else None
    except (OSError, ValueError, IndexError):
        return None


def _status_of(pidfd: int) -> int | None:
    """The wait status of a process that its parent has waited for. None on kernels before 6.15."""
    asked = bytearray(INFO.pack(PIDFD_INFO_EXIT, 0))
    try:
        fcntl.ioctl(pidfd, PIDFD_GET_INFO, asked)
    except (OSError, ValueError):
        return None
    mask, status = INFO.unpack(asked)
    return status if mask & PIDFD_INFO_EXIT else None


def _decoded(status: int | None) -> tuple[int | None, int | None]:
    """Signal and exit code."""
    if status is None:
        return None, None
    return (os.WTERMSIG(status), None) if os.WIFSIGNALED(status) else (None, os.WEXITSTATUS(status))
