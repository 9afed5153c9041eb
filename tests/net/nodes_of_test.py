"""What the tests of several nodes share: the nodes, and a job on them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from wattle.nodes import Nodes

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("WATTLE_HOME", ROOT / "build/release"))


def build(source: Path, folder: Path) -> Path:
    """The C program at `source`, built as a user would."""
    program = folder / source.stem
    subprocess.run([HOME / "bin/oshcc", "-O2", "-g", source, "-o", program], check=True)
    return program


def start(nodes: Nodes, pes: int, program: Path, *arguments: str, **settings: str) -> subprocess.Popen[str]:
    """`program` with `pes` PEs on each node."""
    command = nodes.command(str(HOME / "bin/oshrun"), pes, str(program), *arguments)
    return subprocess.Popen(
        command, env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
