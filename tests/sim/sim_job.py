"""Programs built for simulation, as a user would, and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("WATTLE_HOME", ROOT / "build/release"))
PROGRAMS = Path(__file__).parent / "programs"


def is_built() -> bool:
    return (HOME / "bin/wattle-simulator").exists()


def build(folder: Path, *names: str, of: Path = PROGRAMS) -> Path:
    for name in names:
        words = [HOME / "bin/oshcc", "--sim", "-O2", "-g", of / f"{name}.c", "-o", folder / name, "-lm"]
        subprocess.run(words, check=True)
    return folder


def simulate(
    where: Path, program: Path, *arguments: str, n: int = 4, options: tuple[str, ...] = (), timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wattle", "sim", "-n", str(n), "-o", str(where), *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "WATTLE_HOME": str(HOME)}
    return subprocess.run(
        [*command, "--", str(program), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def result(where: Path) -> dict[str, object]:
    return json.loads((where / "simulation.json").read_text())
