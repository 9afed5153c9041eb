"""Runs the measuring tool `wattle-calibrate` with progress, and ends it when the lab ends."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from wattle.base.checked import Checked, parse_json
from wattle.base.errors import Interrupted, WattleError
from wattle.machine import paths, stopping

NAME = "wattle-calibrate"


def run(words: Sequence[str], progress: Callable[[int, int, str], None], lost: str) -> tuple[Checked, list[str]]:
    """Runs the tool. Returns its document and its lines on standard error. `progress` gets the number of the current
    step, the number of steps and the name. `lost` completes the message after an interruption.
    """
    path = paths.tool(NAME)
    try:
        with stopping.raised():
            said, text, code = _run([str(path), *words, "--progress"], progress)
    except KeyboardInterrupt as stop:
        ended = stopping.exit_code(stop)
        raise Interrupted(f"{stopping.words(ended)}; {lost}", ended) from None
    if code != 0:
        raise failed(path, code, "".join(said))
    return parsed(path, text), [line.strip().removeprefix("wattle:").strip() for line in said]


def _run(command: list[str], progress: Callable[[int, int, str], None]) -> tuple[list[str], str, int]:
    """Runs the tool. Returns its lines on standard error except progress, its document and its exit code. The document
    is much smaller than a pipe's buffer, so the tool does not block on it.
    """
    said: list[str] = []
    process = None
    try:
        process = subprocess.Popen(
            command,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout and process.stderr
        for line in process.stderr:
            head, _, name = line.strip().partition(": ")
            done, _, total = head.partition(" of ")
            if done.isdigit() and total.isdigit():
                progress(int(done), int(total), name)
            else:
                said.append(line)
        return said, process.stdout.read(), process.wait()
    finally:
        if process:
            with process:  # closes the pipes and waits
                process.kill()


def failed(tool: Path, code: int, said: str) -> WattleError:
    """An error with the tool's message, or with its exit code where it printed none."""
    words = " ".join(said.split()).removeprefix(f"{NAME}: ").removeprefix("wattle: ")
    ended = f"was {stopping.words(stopping.BY_SIGNAL - code)}" if code < 0 else f"ended with exit code {code}"
    return WattleError(words or f"{tool} {ended} without a message")


def parsed(tool: Path, text: str) -> Checked:
    """The document on the tool's standard output."""
    return parse_json(tool, text)
