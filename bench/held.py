"""A job whose PEs sleep in the kernel after a barrier, so that their memory can be measured."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.jobs import BenchError, Side, end

PATIENCE_S = 300.0  # time limit for the barrier, and for the end
KINDS = ("Pss", "Pss_Anon", "Pss_File", "Pss_Shmem")


@dataclass
class Footprint:
    """Bytes of a process, or the sum over several. `pss` counts for each shared page the process's share."""

    pss: int = 0
    anonymous: int = 0
    files: int = 0  # programs, libraries, files of the launcher
    shared: int = 0  # shared memory, including the arena
    page_tables: int = 0  # not in `pss`, which excludes page tables

    def __add__(self, other: Footprint) -> Footprint:
        return Footprint(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


def footprint(pid: int) -> Footprint:
    """The present memory of one process."""
    proc = Path(f"/proc/{pid}")
    rollup = _kibibytes(proc / "smaps_rollup")
    sizes = [*(rollup[kind] for kind in KINDS), _kibibytes(proc / "status")["VmPTE"]]
    return Footprint(*(1024 * size for size in sizes))


def _kibibytes(file: Path) -> dict[str, int]:
    """The lines of the form `Name: 123 kB`."""
    rows = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) == 3 and row[2] == "kB"}


def with_children(pid: int) -> list[int]:
    """A PE and the processes that it started, whose memory counts as its own."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="utf-8").split():
            found += with_children(int(child))
    return found


class Held:
    """A job of `side`'s program with the argument hold, from its start until all `pes` PEs have passed the barrier.

    The PEs are released at the end. `launcher` is the process id of mpirun, `pids` are those of the PEs. `start_s`
    is the time from the launcher's start until the last PE passed the barrier. `finish_s`, known after the end, is
    the time from the release to the launcher's end. `more` are arguments of the program after hold and its FIFO, and
    `figures` are the JSON lines that the PEs printed.
    """

    def __init__(
        self, side: Side, pes: int, tick: Callable[[str], None] = lambda _: None, more: tuple[str, ...] = ()
    ) -> None:
        self.side, self.pes, self.tick, self.more = side, pes, tick, more
        self.pids: list[int] = []
        self.figures: list[dict[str, Any]] = []
        self.start_s = self.finish_s = 0.0

    def __enter__(self) -> Held:
        self._folder = tempfile.TemporaryDirectory(prefix="wattle-bench-")
        self._fifo = Path(self._folder.name) / "go"
        os.mkfifo(self._fifo)
        self._errors = Path(self._folder.name, "stderr").open("w+")
        started = time.monotonic()
        self._job = subprocess.Popen(
            self.side.command("hold", str(self._fifo), *self.more),
            env=self.side.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        try:
            self._read_until_met(started + PATIENCE_S)
        except BaseException:
            self._clean_up()
            raise
        self.start_s = time.monotonic() - started
        return self

    @property
    def launcher(self) -> int:
        return self._job.pid

    def memory(self) -> list[Footprint]:
        """The present memory of each process of the job, without the launcher's."""
        return [footprint(pid) for pe in self.pids for pid in with_children(pe)]

    def _read_until_met(self, deadline: float) -> None:
        assert self._job.stdout
        pipe, rest = self._job.stdout.fileno(), b""
        while len(self.pids) < self.pes:
            ready, _, _ = select.select([pipe], [], [], max(0.0, min(1.0, deadline - time.monotonic())))
            if time.monotonic() > deadline:
                raise BenchError(
                    self._why(f"only {len(self.pids)} of {self.pes} PEs passed the barrier within {PATIENCE_S:g} s")
                )
            if ready:
                more = os.read(pipe, 65536)
                if not more:
                    raise BenchError(self._why(f"ended when {len(self.pids)} of {self.pes} PEs had passed the barrier"))
                *lines, rest = (rest + more).split(b"\n")
                self.pids += [int(line.split()[2]) for line in lines if line.startswith(b"held ")]
                self.figures += [json.loads(line) for line in lines if line.startswith(b"{")]
            self.tick(f"{self.side.name}: {len(self.pids)} of {self.pes} PEs passed the barrier")

    def _why(self, what: str) -> str:
        self._errors.seek(0)
        facts = self._errors.read().strip()
        return f"{self.side.name}, {self.pes} PEs: {self.side.program.name} {what}\n{facts}".strip()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._release()
        finally:
            self._clean_up()

    def _release(self) -> None:
        released = time.monotonic()
        # Open until the job has ended, so that a PE that opens its end late does not wait for another writer.
        go = os.open(self._fifo, os.O_WRONLY)
        try:
            code = self._job.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise BenchError(self._why(f"did not finish within {PATIENCE_S:g} s")) from None
        finally:
            os.close(go)
        if code:
            raise BenchError(self._why(f"ended with exit code {code}"))
        self.finish_s = time.monotonic() - released

    def _clean_up(self) -> None:
        end(self._job)
        for pid in self.pids if self._job.returncode < 0 else []:  # the launcher was killed and may have left them
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._job.stdout:
            self._job.stdout.close()
        self._errors.close()
        self._folder.cleanup()


def take(side: Side, pes: int, tick: Callable[[str], None]) -> dict[str, Any]:
    """Starts a job, measures its memory and releases it. Returns memory and times as raw data."""
    with Held(side, pes, tick) as held:
        parts, launcher = held.memory(), footprint(held.launcher)
    return {
        "side": side.name,
        "pes": pes,
        "processes": len(parts),
        "total": vars(sum(parts, Footprint())),
        "launcher": vars(launcher),
        "start_s": held.start_s,
        "finish_s": held.finish_s,
    }
