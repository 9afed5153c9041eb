"""Writes the profiles of processes that ended without writing them, by the tool wattle-profiles.

The processes of a job keep their counts in the node's memory (src/profile/kept.h). So the counts outlive a process that
is killed, until they are collected here or the machine is switched off.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.commands import without_preload

KEPT = Path("/dev/shm")
PREFIX = "wattle-profile."
OF_LAUNCHERS = (signal.SIGTERM, signal.SIGKILL)  # by which launchers end the other processes after a failure


@dataclass(frozen=True)
class End:
    """The end of a process, as seen from outside. `at_ns` is on CLOCK_MONOTONIC. None: not known."""

    pid: int
    signal: int | None
    exit_code: int | None
    at_ns: int

    @property
    def failed(self) -> bool:
        """Whether the process ended by a signal, or with another exit code than 0."""
        return self.signal is not None or bool(self.exit_code)

    def __str__(self) -> str:
        """As wattle-profiles reads it."""
        numbers = (-1 if value is None else value for value in (self.signal, self.exit_code))
        return f"{self.pid}={':'.join(map(str, numbers))}:{self.at_ns}"


@dataclass(frozen=True)
class Collected:
    """The numbers of the PEs whose profiles were written, or could not be. `running`: processes that still run.
    `why`: the tool's messages.
    """

    written: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    running: int = 0
    why: str = ""


def any_kept() -> bool:
    """Whether a process of this user, running or not, has counts in this node's memory."""
    return any(KEPT.glob(f"{PREFIX}{os.geteuid()}.*"))


def collect(
    folder: Path, environment: Mapping[str, str], ends: Iterable[End] = (), job_has_ended: bool = False
) -> Collected:
    """Writes into `folder` the profiles of ended processes whose WATTLE_PROFILE_DIR it was. `environment`: the
    settings for their joules. `job_has_ended`: processes of an unknown end ended just now. Raises WattleError where the
    tool fails. Does nothing without it.
    """
    tool = paths.find_home().root / "bin" / "wattle-profiles"
    if not any_kept() or not tool.exists():
        return Collected()
    command = [str(tool), "collect", str(folder), *(["now"] if job_has_ended else [])]
    done = subprocess.run([*command, *map(str, ends)], env=without_preload(environment), capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)
        return Collected(found["written"], found["failed"], int(found["running"]), done.stderr.strip())
    except (ValueError, KeyError, TypeError):
        raise WattleError(f"wattle-profiles: {done.stderr.strip() or 'failed'}") from None
