"""Writes the joules and watts of each interval as JSON Lines while a program runs (`--stream`).

A process of its own reads the meter, because the process that runs a job may have no other child and no thread
(run/job.py). It is no child of that process. It ends when its pipe is closed, so also if that process is killed. It has
a meter of its own, and it divides the node's joules by the CPU time of the processes as `wattle energy` does. So its
figures do not depend on the profile. The last line has those of the profile.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.run.job import descendants
from wattle.run.option_values import STDOUT
from wattle.text import console
from wattle.text.provenance import Joules, read_joules
from wattle.top import page

SCHEMA = 1
LEAST_S, MOST_S = 0.1, 3600.0
BEGIN_S, END_S = 60.0, 20.0  # time for the start of the meter, and for the last interval
TICKS = os.sysconf("SC_CLK_TCK")
BEGUN, GOOD = b"b", b"y"
NODE_PARTS = ("node", "idle", "others", "nested")


class Stream:
    """An open stream. `to` is a file or `-`. `programs`: whether the job's processes are one program, not PEs."""

    def __init__(self, to: str, every: str, programs: bool) -> None:
        self.to, self.programs = to, programs
        self.every_s = _interval(every)
        self.out = _opened(to)
        self.began_s = time.time()
        self.root = os.getpid()
        self.good = False  # all lines were written
        self._control: int | None = None
        self._done = -1

    def begin(self, environment: Mapping[str, str]) -> None:
        """Starts the process, and waits for its first interval. To be called before any thread and any child."""
        control, self._control = os.pipe2(os.O_CLOEXEC)
        self._done, done = os.pipe2(os.O_CLOEXEC)
        child = os.fork()
        if child == 0:
            if os.fork():
                os._exit(0)  # the grandchild is no child of the process that runs the job
            os.close(self._control)
            os.close(self._done)
            _detached(self, control, done, dict(environment))
        os.waitpid(child, 0)
        os.close(control)
        os.close(done)
        if select.select([self._done], [], [], BEGIN_S)[0]:
            os.read(self._done, len(BEGUN))  # nothing where it failed, which it has reported

    def end(self) -> None:
        """Ends the last interval and waits for its line."""
        if self._control is None:
            return
        os.close(self._control)
        self._control = None
        if not select.select([self._done], [], [], END_S)[0]:
            console.error(f"--stream {self.to}: the meter gave no figures within {END_S:g} s")
        else:
            self.good = os.read(self._done, 1) == GOOD
        os.close(self._done)

    def total(self, figures: Iterable[tuple[str, str, int | None, Joules]], exit_code: int, wall_s: float) -> None:
        """Writes the last line, unless an earlier one failed. `figures`: host, part, PE and joules of each figure."""
        if not self.good:
            return
        listed = [_figure(host, part, pe, figure, wall_s) for host, part, pe, figure in figures]
        more = {"exit_code": exit_code, "interval_s": wall_s}
        self.write({**self.head("total", self.began_s, time.time()), **more, "figures": listed})

    def head(self, kind: str, begin_s: float, end_s: float) -> dict[str, Any]:
        """The first fields of a line. Times are seconds since 1970."""
        return {"schema": SCHEMA, "kind": kind, "begin_s": round(begin_s, 6), "end_s": round(end_s, 6)}

    def write(self, line: dict[str, Any]) -> bool:
        """Writes a line at once. False where that fails, which is reported."""
        data = (json.dumps(line, allow_nan=False) + "\n").encode()
        try:
            while data:
                data = data[os.write(self.out, data) :]
        except OSError as error:
            console.error(f"--stream {self.to}: {error.strerror}")
            return False
        return True


def opened(to: str | None, every: str, json_too: bool, programs: bool) -> Stream | None:
    """The stream that the options ask for. Raises WattleError before anything runs."""
    if to is None:
        return None
    if to == STDOUT and json_too:
        raise WattleError("--stream - and --json: both write to standard output; give --stream a file")
    return Stream(to, every, programs)


def _interval(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d*)?)\s*(ms|s|)", text)
    found = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else 0.0
    if not LEAST_S <= found <= MOST_S:
        raise WattleError(f"--stream-every {text}: expected a time from 100ms to 3600s, such as 1s")
    return found


def _opened(to: str) -> int:
    """The descriptor. A FIFO needs a reader, because opening it would otherwise wait for one."""
    if to == STDOUT:
        return 1
    try:
        file = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        words = "a FIFO needs a reader" if Path(to).is_fifo() else error.strerror
        raise WattleError(f"--stream {to}: {words}") from None
    os.set_blocking(file, True)
    return file


# --- the process that reads the meter ---


def _detached(stream: Stream, control: int, done: int, environment: dict[str, str]) -> None:
    """Streams until the pipe `control` is closed, then ends this process."""
    code = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        if _Watch(stream, control, done, environment).run():
            os.write(done, GOOD)
        code = 0
    except (WattleError, OSError, ValueError) as error:
        console.error(f"--stream {stream.to}: {error}")
    finally:
        os._exit(code)


@dataclass(frozen=True)
class _Process:
    """A PE, or with `pe` None all other processes of the job, and its CPU seconds in an interval."""

    pe: int | None
    pid: int
    cpu_s: float

    def __str__(self) -> str:
        """As wattle-meter reads it."""
        return f"{self.cpu_s:.6f}" + (f"@{self.pid}" if self.pid else "")


class _Watch:
    def __init__(self, stream: Stream, control: int, done: int, environment: dict[str, str]) -> None:
        self.stream, self.control, self.done, self.root = stream, control, done, stream.root
        self.pe_of: dict[int, int] = {}
        self.meter = subprocess.Popen(
            [str(paths.tool("wattle-meter")), "intervals"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self) -> bool:
        """Writes lines until the pipe is closed. Returns whether all were written."""
        assert self.meter.stdin and self.meter.stdout
        if not self.meter.stdout.readline():
            raise WattleError((self.meter.communicate()[1] or "wattle-meter ended").strip().splitlines()[0])
        began_s, due = time.time(), time.monotonic()
        before = self._times()
        os.write(self.done, BEGUN)
        more = True
        while more:
            due = max(due + self.stream.every_s, time.monotonic())
            more = not select.select([self.control], [], [], max(0.0, due - time.monotonic()))[0]
            now = self._times()
            used = self._used(before, now)
            self.meter.stdin.write(" ".join(map(str, used)) + "\n")
            self.meter.stdin.flush()
            ended_s = time.time()
            answer = self.meter.stdout.readline()
            if not answer:
                raise WattleError("wattle-meter ended without figures")
            line = self._line(Checked("wattle-meter", json.loads(answer)), used, began_s, ended_s)
            if not self.stream.write(line):
                return False
            before, began_s = now, ended_s
        return True

    def _line(self, found: Checked, used: list[_Process], began_s: float, ended_s: float) -> dict[str, Any]:
        host, length = os.uname().nodename, found.known("interval_s")
        figures = [
            _figure(host, part, None, read_joules(entry), length) for part in NODE_PARTS for entry in found.items(part)
        ]
        rest = "program" if self.stream.programs else "launcher"
        for process, part in zip(used, found.items("parts"), strict=True):
            name = rest if process.pe is None else "pe"
            figures += [_figure(host, name, process.pe, read_joules(e), length) for e in part.items("figures")]
        return {
            **self.stream.head("interval", began_s, ended_s),
            "interval_s": length,
            "meter": found.text("meter"),
            "figures": figures,
        }

    def _times(self) -> dict[int, float]:
        """CPU seconds so far of each process of the job, and under 0 of those that the process which runs it has waited
        for. A process that has ended is part of its parent's time once the parent has waited for it.
        """
        of = {pid: cpu for pid in descendants(self.root, zombies=True) if (cpu := _cpu_s(pid, own=True)) is not None}
        if not self.stream.programs:
            self.pe_of |= {live.pid: live.pe for live in page.find(pids=[pid for pid in of if pid not in self.pe_of])}
        return {**of, 0: _cpu_s(self.root, own=False) or 0.0}

    def _used(self, before: dict[int, float], now: dict[int, float]) -> list[_Process]:
        """The CPU seconds of the interval by PE, and of everything else. That of a PE that has ended is in the rest."""
        pes = [
            _Process(self.pe_of[pid], pid, max(0.0, cpu - before.get(pid, 0.0)))
            for pid, cpu in now.items()
            if pid in self.pe_of
        ]
        rest = sum(now.values()) - sum(before.values()) - sum(p.cpu_s for p in pes)
        return [*sorted(pes, key=lambda p: p.pe or 0), _Process(None, 0, max(0.0, rest))]


def _cpu_s(pid: int, own: bool) -> float | None:
    """CPU seconds of the children that a process has waited for, and with `own` its own. None where it has ended. The
    meter of `wattle energy` is no part of the job.
    """
    try:
        before, _, after = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")
    except OSError:
        return None
    fields = after.split()
    if before.partition("(")[2] == "wattle-meter":
        return None
    return sum(int(field) for field in fields[11 if own else 13 : 15]) / TICKS


def _figure(host: str, part: str, pe: int | None, figure: Joules, length_s: float) -> dict[str, Any]:
    """A figure with its watts: joules over the length of the interval."""

    def watts(joules: float | None) -> float | None:
        return None if joules is None or length_s <= 0 else joules / length_s

    more = {"watts": watts(figure.joules), "watts_uncertainty": watts(figure.uncertainty)}
    return {"host": host, "part": part, "pe": pe, **figure.as_dict(), **more}
