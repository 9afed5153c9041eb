"""Starts the job of a plain `wattle run` without Typer, which takes longer to import than the rest of the start.

`read` understands command lines of the options below, in their usual forms. It leaves all others to Typer, and so all
messages about wrong ones (tests/python/run/test_quick_start.py: both read alike).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wattle.base import extras
from wattle.base.errors import Interrupted
from wattle.machine import command_end, stopping
from wattle.run import command as commands

FLAGS = {"--mpi": "mpi", "--json": "json", "--timeline": "timeline"}
VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "-o": ("output", Path),
    "--output": ("output", Path),
    "-n": ("n", int),
    "--np": ("n", int),
    "--label": ("label", str),
    "--depth": ("depth", int),
}


def read(arguments: Sequence[str]) -> commands.Asked | None:
    """The options of these arguments of `wattle`. None where Typer must read them."""
    if not arguments or arguments[0] != "run":
        return None
    found: dict[str, Any] = {}
    rest = list(arguments[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--":
            break
        if option in FLAGS:
            found[FLAGS[option]] = True
        elif option in VALUES and rest and _is_plain(rest[0], VALUES[option][1]):
            name, kind = VALUES[option]
            found[name] = kind(rest.pop(0))
        else:
            return None
    return commands.Asked(rest, **found) if rest else None


def _is_plain(value: str, kind: Callable[[str], Any]) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 10 if kind is int else value[:1] not in ("", "-")


def run(asked: commands.Asked) -> int:
    """Runs the job, as the command does. Returns the exit code."""
    return command_end.guarded(lambda: _run(asked))


def _run(asked: commands.Asked) -> int:
    gc.enable()
    command_end.begin_afresh()
    try:
        with extras.named(["run"]):
            return commands.run(asked)
    except KeyboardInterrupt as stop:
        code = stopping.exit_code(stop)
        raise Interrupted(stopping.words(code), code) from None
