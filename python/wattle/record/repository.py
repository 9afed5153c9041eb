"""The commit of the git repository in which a command was started."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

KEY = "git"
KEYS = {"commit": "text", "dirty": "true or false"}
LONGEST_S = 2.0  # for git; a repository that takes longer is left out, so that no run waits for it
STATUS = ("git", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "--untracked-files=no")
COMMIT = re.compile(r"^# branch\.oid ([0-9a-f]{40,64})$", re.MULTILINE)


@cache
def here() -> dict[str, Any] | None:
    """`commit` (the full hash) and `dirty` of the current directory's repository. `dirty`: a file under version control
    differs from the commit. None outside a repository, without git, and where git refuses or takes long.
    """
    if "GIT_DIR" not in os.environ and not _inside_one():
        return None
    try:
        done = subprocess.run(
            [*STATUS, "--ignore-submodules=dirty"],
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    text = done.stdout.decode("utf-8", "replace")
    commit = COMMIT.search(text)
    if commit is None:
        return None
    return {"commit": commit[1], "dirty": any(not line.startswith("#") for line in text.splitlines())}


def _inside_one() -> bool:
    """Whether a directory above has a repository. A command outside one then starts no git."""
    try:
        directory = Path.cwd()
        return any((path / ".git").exists() for path in (directory, *directory.parents))
    except OSError:
        return False
