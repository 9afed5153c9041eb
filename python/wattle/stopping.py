"""Ends asked for by a signal, and readers that go away: what was made is taken down, and what was found is kept."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from wattle import console

ENDS = (signal.SIGTERM, signal.SIGHUP)
BY_SIGNAL = 128  # an exit code above this says which signal it was


class Stopped(KeyboardInterrupt):
    """Another signal than Ctrl-C's asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(words(BY_SIGNAL + number))
        self.number = number


@contextmanager
def raised() -> Iterator[None]:
    """While it lasts, SIGTERM and SIGHUP come as `Stopped`, as Ctrl-C comes as KeyboardInterrupt. One that whoever
    started us had ignored (nohup) stays ignored."""
    signal.siginterrupt(signal.SIGINT, True)  # polars has reads go on after a Ctrl-C
    before = {number: signal.getsignal(number) for number in ENDS}
    for number, handler in before.items():
        if handler == signal.SIG_DFL:
            signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def measuring() -> Iterator[None]:
    """While a study measures: as `raised`, and who reads its progress may go (`2>&1 | head`) without ending it."""
    with raised(), console.lenient():
        yield


def _raise(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


def exit_code(stop: KeyboardInterrupt) -> int:
    """130 for Ctrl-C, 143 for SIGTERM."""
    return BY_SIGNAL + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


def words(code: int) -> str:
    """What an exit code says of how it ended: `interrupted`, `ended by SIGTERM`; empty where it was no signal."""
    if code == BY_SIGNAL + signal.SIGINT:
        return "interrupted"
    try:
        return f"ended by {signal.Signals(code - BY_SIGNAL).name}"
    except ValueError:
        return ""
