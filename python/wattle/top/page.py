"""The page in which a process of a job tells where it waits, found among its open files (src/wait/live.h)."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = b"WTLLIVE1"
NAME = "memfd:wattle-live"
LAYOUT = struct.Struct("=8sqiiIIQQQQ3Q48s")
TRIES = 5


@dataclass(frozen=True)
class Live:
    """A PE as it is now. `call` is empty where it does not wait; `for_s`: how long it has been as it is; `offset`: of
    the site in the program's own file, or None where the call came from elsewhere. `waited_s`: until then, by stage."""

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


def find(proc: Path = Path("/proc")) -> list[Live]:
    """All of this user's on this node, by job and PE. Processes that come and go meanwhile are passed over."""
    found = [live for entry in proc.iterdir() if entry.name.isdigit() for live in _of(entry)]
    return sorted(found, key=lambda live: (live.parent, live.program, live.pe))


def _of(process: Path) -> Iterator[Live]:
    try:
        descriptors = list((process / "fd").iterdir())
    except OSError:  # another user's, or gone
        return
    for descriptor in descriptors:
        try:
            if NAME not in str(descriptor.readlink()):
                continue
            data = _steady(descriptor)
            parent = _parent(process)
            program = str((process / "exe").readlink())
        except (OSError, ValueError):
            continue
        if data and (live := read(data, int(process.name), parent, program)):
            yield live
            return


def _steady(descriptor: Path) -> bytes | None:
    """Read while nobody changes it."""
    for _ in range(TRIES):
        with descriptor.open("rb") as file:
            first, second = file.read(LAYOUT.size), b""
            file.seek(0)
            second = file.read(LAYOUT.size)
        if first == second and len(first) == LAYOUT.size and LAYOUT.unpack(first)[4] % 2 == 0:
            return first
        time.sleep(0.001)
    return None


def read(data: bytes, pid: int, parent: int, program: str, now_ns: int | None = None) -> Live | None:
    """None where it is no such page, or that of the process this one was forked from."""
    mark, owner, pe, n_pes, _, _, base, end, since_ns, addr, *stages, call = LAYOUT.unpack(data)
    if mark != MARK or owner != pid:
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
