"""Runs a generator of C, and reads what it wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tree import ROOT


def generate(script: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`PATH="/nowhere"`: as on a machine without clang-format."""
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


def written(out: Path) -> list[Path]:
    return sorted([*out.glob("generated/*.[ch]"), *out.glob("include/**/*.h")])


def assert_house_style(files: list[Path]) -> None:
    style = f"--style=file:{ROOT / '.clang-format'}"
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", style, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def code(path: Path) -> str:
    """Without what clang-format changes: white space, the \\ that ends a macro's line, and where a string is broken."""
    return "".join(path.read_text().replace("\\\n", "").split()).replace('""', "")


def assert_same_code(some: Path, others: Path) -> None:
    names = [path.relative_to(some) for path in written(some)]
    assert names == [path.relative_to(others) for path in written(others)]
    for name in names:
        assert code(some / name) == code(others / name), name
