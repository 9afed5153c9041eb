"""Finds the pages in which the processes of a job publish where they wait, among their open files (src/wait/live.h).

Any process can keep open any file under the page's name. A file is therefore accepted as a page only if it is a
memfd of the page's size with the page's seals. No other file is opened, because opening a FIFO or a device may block
or have side effects. The contents of a page are checked here; the console shows text as plain text.
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
NAME = "/memfd:wattle-live (deleted)"  # the link of the descriptor; a memfd has no other name
BYTES = 4096
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
LAYOUT = struct.Struct("=8sqiiIIQQQQ3Q48s")
TRIES = 5


@dataclass(frozen=True)
class Live:
    """A PE at this moment. `call` is empty where it does not wait. `for_s`: seconds in the present state. `offset`: of
    the site in the program's own file; None where the call came from elsewhere. `waited_s`: earlier waiting by
    stage. `uid`: the owner of the process.
    """

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


def find(all_users: bool = False, pids: Iterable[int] | None = None, proc: Path = Path("/proc")) -> list[Live]:
    """The PEs of this user on this node, by job and PE. `all_users`: include other users. `pids`: only these processes.
    Processes that start or end meanwhile are left out.
    """
    mine = os.geteuid()
    chosen = (
        [entry for entry in proc.iterdir() if entry.name.isdigit()] if pids is None else [proc / str(p) for p in pids]
    )
    found = [live for entry in chosen for live in _of(entry, None if all_users else mine)]
    return sorted(found, key=lambda live: (live.parent, live.program, live.pe))


def _of(process: Path, wanted: int | None) -> Iterator[Live]:
    """The pages of a process. `wanted`: only if this user owns it; None: any user."""
    try:
        uid = _uid(process)
        descriptors = list((process / "fd").iterdir()) if wanted in (None, uid) else []
    except (OSError, ValueError):  # another user's process, or one that has ended
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
    """The owner of a process. Raises ValueError for one whose user ids differ, such as `sudo`."""
    status = (process / "status").read_text(errors="replace")
    (line,) = [line for line in status.splitlines() if line.startswith("Uid:")]
    (uid,) = {int(word) for word in line.split()[1:]}
    return uid


def _steady(descriptor: Path) -> bytes | None:
    """A consistent copy of the page; None where it changes too often or is no page."""
    looked_at = os.open(descriptor, os.O_PATH | os.O_CLOEXEC)  # O_PATH opens no device: opening a FIFO would block
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
    """Whether the file is a page: all memfds of a kernel are on one internal file system, with nothing else on it."""
    found, own = os.fstat(file), os.memfd_create("own", os.MFD_CLOEXEC)
    try:
        on_it = found.st_dev == os.fstat(own).st_dev
    finally:
        os.close(own)
    return on_it and stat.S_ISREG(found.st_mode) and found.st_size == BYTES and found.st_nlink == 0


def read(data: bytes, pid: int, parent: int, program: str, uid: int = 0, now_ns: int | None = None) -> Live | None:
    """Parses a page. None where it is no such page, or that of the process from which this one was forked."""
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
    """The PEs of the job of a process: a PE, or one that started PEs, such as `wattle run`."""
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
