"""Runs other programs for their output."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence


def without_preload(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without libraries preloaded for a program, of which some print on standard output."""
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if name != "LD_PRELOAD"}


def run_quietly(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    words: str | None = None,
    holding: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs a command and returns its output and exit code. A non-zero exit code is not an error here.

    `environment` replaces this process's environment, of which LD_PRELOAD is left out. `words` is the standard input,
    empty by default. `holding` are open descriptors that the command inherits. Raises OSError where the command cannot
    be started, and subprocess.TimeoutExpired where it takes more than `limit_s` seconds.
    """
    return subprocess.run(
        list(command),
        env=without_preload() if environment is None else environment,
        input=words or "",
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
        pass_fds=holding,
    )
