r"""Output of the lab: tables and text, errors, progress.

Results go to standard output through `out`, everything else to standard error through `err`. With `--json`, standard
output holds one JSON document and nothing else. Colour is used only on a terminal, and never where NO_COLOR is set.
Where the output is no terminal, lines are 80 columns wide unless COLUMNS sets another width.

Names and messages of files, processes and other users may hold any characters. Two rules of every command keep them
from controlling the terminal:

- A `str` is plain text, in `print` and in table cells. Only `styled` makes markup: its template is written in the
  source, and the values that replace its `{}` are plain text.
- No control character reaches the terminal. `visible` (visible.py) writes control characters out (`\x1b`), and the
  consoles apply it to all output.

No module but `rich_console` and `tables` imports Rich, so that no module can bypass these rules
(tests/python/text/test_hostile_text.py). Rich is imported with the first text, so that commands without any start
sooner.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from wattle.text.visible import INVISIBLE_IN_LINES, SURROGATE, visible, written_out

if TYPE_CHECKING:
    from rich.progress import Progress


_BY_RICH = ("Console", "Text", "err", "out", "plain", "styled")


def __getattr__(name: str) -> Any:
    """The names that need Rich, from the module that imports it."""
    if name not in _BY_RICH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wattle.text import rich_console

    return getattr(rich_console, name)


LINE_EVERY_S = 10.0  # seconds between plain progress lines, where standard error is no terminal
BAR_AFTER_S = 1.0  # seconds before a progress bar appears
NOWHERE = Path(os.devnull)
LAST_STANDARD = 2  # the descriptor number of standard error


def fill_standard_streams() -> None:
    """Opens /dev/null for each closed standard stream, so that no file takes its number. Children find it closed."""
    while (number := os.open(NOWHERE, os.O_RDWR | os.O_CLOEXEC)) <= LAST_STANDARD:
        pass
    os.close(number)
    sys.stdout = sys.stdout or NOWHERE.open("w")
    sys.stderr = sys.stderr or NOWHERE.open("w")


def error(message: str) -> None:
    """Prints one line on standard error. It is never wrapped, so that a search finds it."""
    _print_line("bad", message)


def note(message: str) -> None:
    """Prints a remark on standard error."""
    _print_line("faint", message)


def _print_line(style: str, message: str) -> None:
    from wattle.text.rich_console import err, styled

    err.print(styled(f"[{style}]wattle:[/{style}] {{}}", " ".join(message.split())), soft_wrap=True)


def print_json(document: Any) -> None:
    """Prints the JSON document of `--json`."""
    sys.stdout.write(json_text(document))
    sys.stdout.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines of a document, such as Markdown, on standard output. None is wrapped."""
    from wattle.text.rich_console import out

    for line in lines:
        out.print(line, soft_wrap=True)


def json_text(document: Any, indent: int | None = 2) -> str:
    r"""The document as JSON that any reader parses and any terminal shows. `indent` None gives one line. A number that
    is not finite becomes null. Control characters become JSON escapes. A byte that is not UTF-8 becomes `\xff`,
    because JSON has no escape for it.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(_finite(document), indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)
    return INVISIBLE_IN_LINES.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {_finite(str(k)): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, int | float):
        return value
    return SURROGATE.sub(lambda found: written_out(found[0]), str(value))


class _Lenient:
    """A stream that discards output which cannot be written. Its descriptor stays open for a program that shares it."""

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
        """The stream that replaces this one afterwards."""
        self.flush()
        if self.lost:  # discard the rest of its buffer
            with NOWHERE.open("w") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())
        return self._stream


@contextmanager
def lenient() -> Iterator[None]:
    """While the context lasts and afterwards, output that cannot be written is no error. Commands that run another
    program use it. Lost results are reported, except where their reader has closed the pipe.
    """
    replaced = [_Lenient(stream) for stream in (sys.stdout, sys.stderr)]
    sys.stdout, sys.stderr = replaced
    try:
        yield
    finally:
        sys.stdout = replaced[0].end()
        lost = replaced[0].lost
        if lost is not None and not isinstance(lost, BrokenPipeError):
            error(f"standard output cannot be written: {lost.strerror}")
        sys.stderr = replaced[1].end()


class Steps:
    """Progress of a number of steps. `progress` creates it."""

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
        """Counts finished steps. `now` names the current step, shown to the right of the bar."""
        self.done += steps
        self._show(now)

    def resize(self, total: int) -> None:
        """Sets the number of steps where it becomes known only during the work."""
        self.total = total
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def _show(self, now: str) -> None:
        from wattle.text.rich_console import err

        elapsed = time.monotonic() - self._started
        if err.is_terminal:
            if self._bar is None and elapsed >= BAR_AFTER_S:
                self._start_bar()
            if self._bar is not None:
                self._bar.update(self._task, completed=self.done, now=visible(now))
        elif time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            note(f"{self.what}: {self.done} of {self.total}, {elapsed:.0f} s {now}")

    def _start_bar(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        from wattle.text.rich_console import err

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            *([TimeRemainingColumn(compact=True)] if self.estimates else []),
            TextColumn("{task.fields[now]}", style="faint", markup=False),
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
    """A progress bar on standard error for work that may last longer than a second.

    On a terminal the bar appears after one second and is removed at the end. Elsewhere a plain line appears every
    ten seconds. With `estimates` it shows the remaining time, on the assumption that all steps take equally long.
    """
    steps = Steps(what, total, estimates)
    try:
        yield steps
    finally:
        steps.close()
