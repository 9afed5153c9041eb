"""Runs a probe: a small program that loads a library in a process of its own and prints its answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from wattle.machine.commands import run_quietly

LIMIT_S = 20


def ask(name: str, library: str, **settings: str) -> tuple[str, str]:
    """The output of the probe `name` of this folder for a library, and the reason where it failed, else ""."""
    command = [sys.executable, str(Path(__file__).with_name(name)), library]
    try:
        answer = run_quietly(command, {**os.environ, **settings}, LIMIT_S)
    except subprocess.TimeoutExpired:
        return "", f"{library} did not answer within {LIMIT_S} s"
    except OSError as error:
        return "", f"{sys.executable}: {error.strerror}"
    if answer.returncode == 0:
        return answer.stdout, ""
    last = (answer.stderr.strip().splitlines() or [f"ended with {answer.returncode}"])[-1]
    return answer.stdout, f"{library}: {last}"
