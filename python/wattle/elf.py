"""Reads the build-id and the needed libraries of an ELF file, with elfutils and ldd."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

from wattle import input_files
from wattle.commands import run_quietly
from wattle.errors import DamagedFile

LIBRARY = "libwattle-shmem.so"
LIMIT_S = 30


@cache
def build_id(path: str) -> str | None:
    """The build-id in hexadecimal. None where the file does not exist, is no ELF file or has no build-id."""
    match = re.search(r"^\s*Build ID:\s*([0-9a-f]+)", _readelf("-n", path), re.MULTILINE)
    return match.group(1) if match else None


def is_elf(path: Path) -> bool:
    try:
        return input_files.read_start(path, 4) == b"\x7fELF"
    except DamagedFile:
        return False


def libraries(path: str) -> dict[str, str | None] | None:
    """The shared libraries that the program would load, by name, with their paths (None: not found). Returns None where
    the program loads none.
    """
    listing = _output(["ldd", path])
    found: dict[str, str | None] = {}
    for line in listing.splitlines():
        match = re.match(r"\s*(\S+) => (not found|\S+)", line)
        if match:
            found[match.group(1)] = None if match.group(2) == "not found" else match.group(2)
    return found or None


def _readelf(option: str, path: str) -> str:
    return _output(["eu-readelf", option, path])


def _output(command: list[str]) -> str:
    """Standard output of a command with any exit code. Empty where the tool is missing or exceeds its time limit."""
    try:
        result = run_quietly(command, limit_s=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout
