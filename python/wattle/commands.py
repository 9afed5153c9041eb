"""Other programs, run for what they say."""

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
    """What the command says and how it ends; one that fails is no error here. `environment`: in place of this
    process's. `words`: its standard input, empty where there are none. `holding`: open files that it is given.

    Raises OSError where it cannot be started, and subprocess.TimeoutExpired where it is not over in `limit_s` seconds.
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
