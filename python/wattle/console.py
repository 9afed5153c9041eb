"""What the lab says and how: tables and text, errors, progress.

Results go to standard output through `out`, everything else to standard error through `err`. With `--json` the only
thing on standard output is one JSON document. Colour goes only to a terminal and never where NO_COLOR is set (Rich sees
to both); where the output is no terminal, lines are 80 columns wide unless COLUMNS says otherwise.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.theme import Theme

THEME = Theme(
    {
        "good": "green",
        "partly": "yellow",
        "bad": "red",
        "title": "bold",
        "faint": "dim",
        "number": "default",
        "measured": "green",
        "modelled": "yellow",
        "unavailable": "red",
    }
)

# Without emoji: in `a:two: x` nothing is meant but what it says.
out = Console(theme=THEME, highlight=False, emoji=False)
err = Console(theme=THEME, highlight=False, emoji=False, stderr=True)

LINE_EVERY_S = 10.0  # where standard error is no terminal, progress is a plain line at most this often
BAR_AFTER_S = 1.0  # nothing shorter than this gets a bar
NOWHERE = Path(os.devnull)
LAST_STANDARD = 2  # the descriptor of standard error


def fill_standard_streams() -> None:
    """A standard stream that was closed before we began leads nowhere: no file that we open may take its number. What
    we start finds it closed, as we did."""
    while (number := os.open(NOWHERE, os.O_RDWR | os.O_CLOEXEC)) <= LAST_STANDARD:
        pass
    os.close(number)
    sys.stdout = sys.stdout or NOWHERE.open("w")
    sys.stderr = sys.stderr or NOWHERE.open("w")


def error(message: str) -> None:
    """One line on standard error, never wrapped, so that it can be searched for."""
    err.print(f"[bad]wattle:[/bad] {escape(' '.join(message.split()))}", soft_wrap=True)


def note(message: str) -> None:
    """A remark on standard error."""
    err.print(f"[faint]wattle:[/faint] {escape(' '.join(message.split()))}", soft_wrap=True)


def print_json(document: Any) -> None:
    """The one JSON document of `--json`. What is not a finite number becomes null."""
    sys.stdout.write(json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


class _Lenient:
    """An output stream that drops what cannot be written: its reader may have gone, its disk may be full. The
    descriptor stays as it is, for the program that shares it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.lost: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if not self.lost:
            try:
                self._stream.write(text)
            except OSError as error:
                self.lost = error
        return len(text)

    def flush(self) -> None:
        if not self.lost:
            try:
                self._stream.flush()
            except OSError as error:
                self.lost = error

    def end(self) -> TextIO:
        """What takes the stream's place after it."""
        self.flush()
        if self.lost:  # what its buffer still holds goes nowhere
            with NOWHERE.open("w") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())
        return self._stream


@contextmanager
def lenient() -> Iterator[None]:
    """While it lasts, output that cannot be written is no error, nor is it afterwards: for a command that is there for
    another's sake. Results that are lost are said, unless who asked for them has gone."""
    replaced = [_Lenient(stream) for stream in (sys.stdout, sys.stderr)]
    sys.stdout, sys.stderr = replaced  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.stdout = replaced[0].end()
        lost = replaced[0].lost
        if lost is not None and not isinstance(lost, BrokenPipeError):
            error(f"standard output cannot be written: {lost.strerror}")
        sys.stderr = replaced[1].end()


class Steps:
    """Progress of a known number of steps. Made by `progress`."""

    def __init__(self, what: str, total: int, estimates: bool = True) -> None:
        self.what = what
        self.total = total
        self.estimates = estimates
        self.done = 0
        self._started = time.monotonic()
        self._last_line = self._started
        self._bar: Progress | None = None
        self._task: Any = None

    def advance(self, steps: int = 1, now: str = "") -> None:
        """`now`: what is being done at the moment, for the right of the bar."""
        self.done += steps
        self._show(now)

    def resize(self, total: int) -> None:
        """For who learns only on the way how many steps there are."""
        self.total = total
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def _show(self, now: str) -> None:
        elapsed = time.monotonic() - self._started
        if err.is_terminal:
            if self._bar is None and elapsed >= BAR_AFTER_S:
                self._start_bar()
            if self._bar is not None:
                self._bar.update(self._task, completed=self.done, now=escape(now))
        elif time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            note(f"{self.what}: {self.done} of {self.total}, {elapsed:.0f} s {now}")

    def _start_bar(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            *([TimeRemainingColumn(compact=True)] if self.estimates else []),
            TextColumn("[faint]{task.fields[now]}[/faint]"),
            console=err,
            transient=True,
        )
        self._task = self._bar.add_task(self.what, total=self.total, completed=self.done, now="")
        self._bar.start()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress(what: str, total: int, estimates: bool = True) -> Iterator[Steps]:
    """A progress bar on standard error for anything that may last longer than a second.

    On a terminal the bar appears after one second and goes away at the end; elsewhere a plain line appears every ten
    seconds. `estimates`: say how long the rest will take, if all steps take alike.
    """
    steps = Steps(what, total, estimates)
    try:
        yield steps
    finally:
        steps.close()
