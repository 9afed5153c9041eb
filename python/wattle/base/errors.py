"""Errors that end a command with one clear line instead of a traceback."""

from __future__ import annotations


class WattleError(Exception):
    """Wrong usage, wrong input or a missing part. The message names the value, the allowed values and a remedy."""

    exit_code = 2


class Interrupted(WattleError):
    """A signal ended the command. The message says how much is kept, and where. Exit code: 128 plus its number."""

    exit_code = 130  # 128 + SIGINT

    def __init__(self, message: str, exit_code: int = exit_code) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class DamagedFile(WattleError):
    """A file has contents that its format does not allow."""

    def __init__(self, file: object, wrong: str) -> None:
        super().__init__(f"{file}: {wrong}")
        self.file = str(file)
        self.wrong = wrong
