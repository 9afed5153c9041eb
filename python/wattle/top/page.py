"""The page in which a process of a job tells where it waits, found among its open files (src/wait/live.h).

Any process can keep open whatever it likes under the page's name. A file is therefore believed to be a page only if it
is a memfd of the page's size with the page's seals. Nothing else is even opened: opening a FIFO or a device may wait or
act. What a page says is text and numbers that are checked here; the console shows text as text.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = b"WTLLIVE1"
NAME = "/memfd:wattle-live (deleted)"  # of the descriptor's link; a memfd has no name but this
BYTES = 4096
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
LAYOUT = struct.Struct("=8sqiiIIQQQQ3Q48s")
TRIES = 5


@dataclass(frozen=True)
class Live:
    """A PE as it is now. `call` is empty where it does not wait; `for_s`: how long it has been as it is; `offset`: of
    the site in the program's own file, or None where the call came from elsewhere. `waited_s`: until then, by stage.
    `uid`: whose process it is."""

    pid: int
    parent: int
    program: str
    pe: int
    n_pes: int
    call: str
    addr: int
    offset: int | None
    for_s: float
    waited_s: dict[str, float]
    uid: int


def find(everyone: bool = False, pids: Iterable[int] | None = None, proc: Path = Path("/proc")) -> list[Live]:
    """All of this user's on this node, by job and PE. `everyone`: other users' as well. `pids`: only of these
    processes. Processes that come and go meanwhile are passed over."""
    mine = os.geteuid()
    chosen = (
        [entry for entry in proc.iterdir() if entry.name.isdigit()] if pids is None else [proc / str(p) for p in pids]
    )
    found = [live for entry in chosen for live in _of(entry, None if everyone else mine)]
    return sorted(found, key=lambda live: (live.parent, live.program, live.pe))


def _of(process: Path, wanted: int | None) -> Iterator[Live]:
    """`wanted`: the user whose processes are looked at; None: anyone's."""
    try:
        uid = _uid(process)
        descriptors = list((process / "fd").iterdir()) if wanted in (None, uid) else []
    except (OSError, ValueError):  # another user's, or gone
        return
    for descriptor in descriptors:
        try:
            if str(descriptor.readlink()) != NAME:
                continue
            data = _steady(descriptor)
            parent = _parent(process)
            program = str((process / "exe").readlink())
        except (OSError, ValueError):
            continue
        if data and (live := read(data, int(process.name), parent, program, uid)):
            yield live
            return


def _uid(process: Path) -> int:
    """The user who a process belongs to. Raises ValueError for one whose user and rights differ, such as `sudo`."""
    status = (process / "status").read_text(errors="replace")
    (line,) = [line for line in status.splitlines() if line.startswith("Uid:")]
    (uid,) = {int(word) for word in line.split()[1:]}
    return uid


def _steady(descriptor: Path) -> bytes | None:
    """The page, read while nobody changes it."""
    looked_at = os.open(descriptor, os.O_PATH | os.O_CLOEXEC)  # opens nothing: a FIFO would wait
    try:
        if not _is_page(looked_at):
            return None
        file = os.open(f"/proc/self/fd/{looked_at}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.close(looked_at)
    try:
        if fcntl.fcntl(file, fcntl.F_GET_SEALS) & SEALS != SEALS:
            return None
        for _ in range(TRIES):
            first, second = (os.pread(file, LAYOUT.size, 0) for _ in range(2))
            if first == second and len(first) == LAYOUT.size and LAYOUT.unpack(first)[4] % 2 == 0:
                return first
            time.sleep(0.001)
    finally:
        os.close(file)
    return None


def _is_page(file: int) -> bool:
    """All memfds of a kernel are on one file system, which nothing else is on and nobody can mount."""
    found, own = os.fstat(file), os.memfd_create("own", os.MFD_CLOEXEC)
    try:
        on_it = found.st_dev == os.fstat(own).st_dev
    finally:
        os.close(own)
    return on_it and stat.S_ISREG(found.st_mode) and found.st_size == BYTES and found.st_nlink == 0


def read(data: bytes, pid: int, parent: int, program: str, uid: int = 0, now_ns: int | None = None) -> Live | None:
    """None where it is no such page, or that of the process this one was forked from."""
    if len(data) != LAYOUT.size:
        return None
    mark, owner, pe, n_pes, _, _, base, end, since_ns, addr, *stages, call = LAYOUT.unpack(data)
    if mark != MARK or owner != pid or not 0 <= pe < n_pes:
        return None
    now = time.monotonic_ns() if now_ns is None else now_ns
    return Live(
        pid,
        parent,
        program,
        pe,
        n_pes,
        call.partition(b"\0")[0].decode(errors="replace") if addr else "",
        addr,
        addr - base - 1 if base <= addr < end else None,
        max(0.0, (now - since_ns) * 1e-9),
        dict(zip(("spin", "yield", "asleep"), (ns * 1e-9 for ns in stages), strict=True)),
        uid,
    )


def chosen_of(found: list[Live], pid: int | None, proc: Path = Path("/proc")) -> list[Live]:
    """Those of the job that the process belongs to: one of its PEs, or whatever started them, `wattle run` included."""
    if pid is None:
        return found
    jobs = {live.parent for live in found if live.pid == pid}
    return [live for live in found if live.parent in jobs or pid in _ancestors(live.parent, proc)]


def _ancestors(pid: int, proc: Path) -> Iterator[int]:
    while pid > 0:
        yield pid
        try:
            pid = _parent(proc / str(pid))
        except (OSError, ValueError):
            return


def _parent(process: Path) -> int:
    return int((process / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
