"""Handles signals that end a command, so that temporary things are removed and results are kept."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from wattle.text import console

ENDS = (signal.SIGTERM, signal.SIGHUP)
ALL_ENDS = (signal.SIGINT, *ENDS)
OVER = signal.SIGURG  # to the thread of `impatient`; without effect elsewhere
BY_SIGNAL = 128  # an exit code above this is 128 plus a signal's number


class Stopped(KeyboardInterrupt):
    """A signal other than that of Ctrl-C asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(words(BY_SIGNAL + number))
        self.number = number


@contextmanager
def raised() -> Iterator[None]:
    """Meanwhile SIGTERM and SIGHUP raise `Stopped`, as Ctrl-C does, unless they were ignored at start (nohup)."""
    signal.siginterrupt(signal.SIGINT, True)  # otherwise polars restarts a read after Ctrl-C
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
def held() -> Iterator[Iterable[int]]:
    """While the context lasts, Ctrl-C, SIGTERM and SIGHUP wait, also for commands that are started in it. One of those
    that came has its effect afterwards. Yields the signals that were blocked before.
    """
    came: list[int] = []  # taken by another thread, which had not blocked it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ALL_ENDS)
    handlers = {number: handler for number in ALL_ENDS if (handler := signal.getsignal(number)) != signal.SIG_IGN}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: came.append(number))
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def impatient(end: Callable[[], None]) -> Iterator[None]:
    """Inside `held`, for work that may hang: a second Ctrl-C, SIGTERM or SIGHUP calls `end` and ends this process at
    once. The first one still waits. A thread takes the signals, because commands that are started must not get them.
    """
    ends = {number for number in ALL_ENDS if signal.getsignal(number) != signal.SIG_IGN}
    came: list[int] = []

    def take() -> None:
        while True:
            number = signal.sigwait(ends | {OVER})
            if number == OVER:
                return
            came.append(number)
            if len(came) > 1:
                end()
                os._exit(BY_SIGNAL + number)

    thread = threading.Thread(target=take, daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {OVER})  # the thread has it blocked, too
    if ends:
        with suppress(RuntimeError):  # no further thread is allowed
            thread.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield
    finally:
        if thread.ident is not None:
            signal.pthread_kill(thread.ident, OVER)
            thread.join()
        if came:
            signal.pthread_kill(threading.get_ident(), came[0])  # waits for this thread again, which has it blocked


@contextmanager
def measuring() -> Iterator[None]:
    """As `raised`, for a study. It goes on when the reader of its progress closes the pipe (`2>&1 | head`)."""
    with raised(), console.lenient():
        yield


def _raise(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


def exit_code(stop: KeyboardInterrupt) -> int:
    """The exit code: 130 for Ctrl-C, 143 for SIGTERM."""
    return BY_SIGNAL + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


def words(code: int) -> str:
    """The meaning of an exit code: `interrupted`, or `ended by SIGTERM`. Empty where no signal ended the command."""
    if code == BY_SIGNAL + signal.SIGINT:
        return "interrupted"
    try:
        return f"ended by {signal.Signals(code - BY_SIGNAL).name}"
    except ValueError:
        return ""
