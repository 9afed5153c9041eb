"""Runs an OpenSHMEM program of a test and reads the profiles of its PEs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jobs


def profiles_of(text: str, n: int, folder: Path) -> list[dict[str, Any]]:
    """The profiles of a job of `n` PEs of the C program, in their order. Its files are in `folder`."""
    source, out = folder / "program.c", folder / "profile"
    source.write_text(text)
    out.mkdir()
    program = jobs.compile_once([jobs.OSHCC, "-O1", source], folder / "program")
    environment = {**os.environ, "WATTLE_PROFILE_DIR": str(out)}
    subprocess.run([jobs.OSHRUN, "-n", str(n), "--", program], env=environment, timeout=120, check=True)
    return [json.loads((out / f"pe-{pe:05d}.json").read_text()) for pe in range(n)]
