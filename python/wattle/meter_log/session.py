"""An external meter while a run or study goes on: the load patterns before and after, and the intervals between."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wattle.base.errors import WattleError
from wattle.meter_log import kept, load, log
from wattle.meter_log.given import Given
from wattle.meter_log.kept import External, JobTime
from wattle.meter_log.load import Pattern
from wattle.text import console
from wattle.text.units import several

NOT_COMPLETE = "the run was interrupted, so there is no load pattern after it"
WAIT_READINGS, WAIT_LEAST_S = 10, 10.0  # how long the log may lack the end of the pattern


class Session:
    """The patterns and intervals of one run or study. The log is read when all is done."""

    def __init__(self, given: Given, directory: Path) -> None:
        """Checks a log that is there already, before anything runs. Raises WattleError or DamagedFile."""
        self.given, self.directory = given, directory
        self.intervals: list[JobTime] = []
        self.patterns: list[Pattern] = []
        self.apart = 0.0
        if given.file.is_file() and given.file.stat().st_size:
            log.check(given)
        elif given.file.exists() and not given.file.is_file():
            raise WattleError(f"--meter-log {given.file}: is no file")
        elif not given.file.parent.is_dir():
            raise WattleError(f"--meter-log {given.file}: there is no folder {given.file.parent}")
        elif not given.file.exists():
            console.note(f"--meter-log {given.file}: is not there yet; it is read at the end")

    def begin(self) -> None:
        """Makes the pattern before the run."""
        cores = several(len(os.sched_getaffinity(0)), "core")
        seconds = load.length_s(self.given.every_s)
        console.note(f"external meter: {seconds:.0f} s of load on {cores} before and after, by which its log is read")
        self.apart = time.time() - time.monotonic()
        self.patterns.append(load.make(load.BEFORE, load.step_s(self.given.every_s)))
        self._keep(NOT_COMPLETE)

    def add(self, name: str, begin_s: float, end_s: float) -> None:
        """Adds an interval whose joules are wanted."""
        self.intervals.append(JobTime(name, begin_s, end_s))

    @contextmanager
    def interval(self, name: str) -> Iterator[None]:
        """Adds the interval while the context lasts."""
        begin = time.time()
        try:
            yield
        finally:
            self.add(name, begin, time.time())

    def end(self) -> External:
        """Makes the pattern after the run, and reads the log when it has the end of the pattern. Where it does not
        come in time, the reason is kept, and `wattle external` reads it later.
        """
        from wattle.meter_log import reading  # imports numpy, which starts threads

        self.patterns.append(load.make(load.AFTER, load.step_s(self.given.every_s)))
        self._keep("the log was not read yet")
        until = time.monotonic() + max(WAIT_LEAST_S, WAIT_READINGS * self.given.every_s)
        while True:
            found = reading.read(self.directory, self.given)
            if not found.why or time.monotonic() > until or not self.given.file.exists():
                return found
            time.sleep(max(self.given.every_s, 1.0))

    def _keep(self, why: str) -> None:
        stepped = abs(time.time() - time.monotonic() - self.apart)
        settings, log_file = list(self.given.settings), str(self.given.file)
        kept.write(self.directory, External(log_file, settings, self.patterns, self.intervals, stepped, why))
