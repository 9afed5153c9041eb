"""Runs other programs for their output."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence


def run_quietly(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    words: str | None = None,
    holding: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs a command and returns its output and exit code. A non-zero exit code is not an error here.

    `environment` replaces this process's environment. `words` is the standard input, empty by default. `holding` are
    open descriptors that the command inherits. Raises OSError where the command cannot be started, and
    subprocess.TimeoutExpired where it takes more than `limit_s` seconds.
    """
    return subprocess.run(
        list(command),
        env=environment,
        input=words or "",
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
        pass_fds=holding,
    )
