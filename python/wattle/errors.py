"""Errors that end a command with one clear line instead of a traceback."""

from __future__ import annotations


class WattleError(Exception):
    """Bad usage, bad input or a missing part: the message names the value, what was allowed and what to do."""

    exit_code = 2


class Interrupted(WattleError):
    """Asked to stop: the message says how far it came and where that is kept. The exit code is 128 + the signal's."""

    exit_code = 130  # 128 + SIGINT

    def __init__(self, message: str, exit_code: int = exit_code) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class DamagedFile(WattleError):
    """A file the lab wrote or was given does not hold what it should."""

    def __init__(self, file: object, wrong: str) -> None:
        super().__init__(f"{file}: {wrong}")
        self.file = str(file)
        self.wrong = wrong
