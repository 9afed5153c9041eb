"""Runs a command of `wattle` to its end: each failure ends in one line on standard error and an exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.base.errors import Interrupted, WattleError
from wattle.text import console

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of a full disk, for output without a file name
PACKAGE = f"{Path(__file__).parent.parent}{os.sep}"


def guarded(command: Callable[[], Any]) -> int:
    """Calls the command and returns its exit code."""
    console.fill_standard_streams()
    _write_what_can_be_written()
    files.keep_own_files_usable()
    try:
        code = command()
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except WattleError as error:
        return end(str(error), error.exit_code)
    except KeyboardInterrupt:
        return end("interrupted", Interrupted.exit_code)
    except BrokenPipeError:
        # The reader of our output has ended (`wattle ... | head`), so no message can reach it.
        _drop_output()
        return 1
    except OSError as error:
        if error.filename is None and error.errno in NO_SPACE:
            _drop_output()
            error.filename = "output cannot be written"
        return end(_os_error(error), WattleError.exit_code)


def end(message: str, code: int) -> int:
    """Prints an error and returns the exit code, also where standard error cannot be written."""
    with console.lenient():
        console.error(message)
    return code


def _drop_output() -> None:
    """Discards buffered output that cannot be written. Python would fail on it again at exit, and end with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def begin_afresh() -> None:
    """Resets signal state that a caller may have left. With SIGCHLD ignored, the exit code of a child is lost and
    Python reports 0. A blocked signal could not end the command. From here on Ctrl-C raises KeyboardInterrupt; while
    modules were imported it ended the process.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _write_what_can_be_written() -> None:
    """Prints a question mark for characters such as µ and ± that the locale cannot encode, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _os_error(error: OSError) -> str:
    """The error with its subject: a file, or the place in the lab whose system call failed."""
    subject = error.filename
    if subject is None:
        import traceback

        inside = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)]
        subject = f"{inside[-1].name} ({inside[-1].filename.removeprefix(PACKAGE)}, line {inside[-1].lineno})"
    return f"{subject}: {error.strerror or error}"
