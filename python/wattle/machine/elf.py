"""Reads the build-id and the needed libraries of an ELF file, with elfutils and the dynamic loader."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from wattle.base import input_files
from wattle.base.errors import DamagedFile
from wattle.machine.commands import run_quietly

LIBRARY = "libwattle-shmem.so"
LIMIT_S = 30
PAGE = 4096
OF_GLIBC = ("ld-linux", "ld64.so")  # beginnings of names of the loader
INTERPRETER = 3  # PT_INTERP: the program header with the path of the dynamic loader
NOTES = 4  # PT_NOTE
NOTE_HEAD = 12  # bytes: the lengths of a note's name and text, and its kind
BUILD_ID = 3  # NT_GNU_BUILD_ID


@cache
def build_id(path: str) -> str | None:
    """The build-id in hexadecimal. None where the file does not exist, is no ELF file or has no build-id."""
    if found := _build_id_at_start(path):
        return found
    match = re.search(r"^\s*Build ID:\s*([0-9a-f]+)", _readelf("-n", path), re.MULTILINE)
    return match.group(1) if match else None


def _build_id_at_start(path: str) -> str | None:
    """The build-id in the first page, where linkers put it. To start a tool would take a tenth of an empty job."""
    for kind, offset, length, start in _segments(Path(path)):
        note = start[offset : offset + length] if kind == NOTES else b""
        while len(note) > NOTE_HEAD:
            name, described, number = struct.unpack_from("<III", note)
            begin = NOTE_HEAD + (name + 3) // 4 * 4
            if number == BUILD_ID and note[NOTE_HEAD : NOTE_HEAD + name] == b"GNU\0" and begin + described <= len(note):
                return note[begin : begin + described].hex()
            note = note[begin + (described + 3) // 4 * 4 :]
    return None


def _segments(path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Kind, offset and length of the segments of a 64-bit, little-endian file, and its first page. None for others."""
    try:
        start = input_files.read_start(path, PAGE)
        if start[:6] != b"\x7fELF\x02\x01":
            return
        (table,) = struct.unpack_from("<Q", start, 32)
        size, count = struct.unpack_from("<HH", start, 54)
        for number in range(count):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", start, table + number * size)
            yield kind, offset, length, start
    except (DamagedFile, struct.error):
        return


def is_elf(path: Path) -> bool:
    try:
        return input_files.read_start(path, 4) == b"\x7fELF"
    except DamagedFile:
        return False


def libraries(path: str, last: Path | None = None) -> dict[str, str | None] | None:
    """The shared libraries that the loader would load, by name, with their paths (None: not found). `last` is a folder
    that it searches after those of LD_LIBRARY_PATH. Returns None where the program loads none.
    """
    file = Path(path).resolve()  # $ORIGIN is the folder of the file, not that of a link to it
    environment = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}  # the loader lists the libraries and starts nothing
    if last:
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, (os.environ.get("LD_LIBRARY_PATH"), str(last))))
    loader = _loader(file)
    if loader is None:
        del environment["LD_TRACE_LOADED_OBJECTS"]
    listing = _output([loader or "ldd", str(file)], environment)
    found: dict[str, str | None] = {}
    for line in listing.splitlines():
        match = re.match(r"\s*(\S+) => (not found|\S+)", line)
        if match:
            found[match.group(1)] = None if match.group(2) == "not found" else match.group(2)
    return found or None


def _loader(path: Path) -> str | None:
    """The loader of glibc that a 64-bit program names at its start. It alone takes a tenth of the time of ldd, a shell
    script. None for libraries, and for programs of other loaders, which may not know LD_TRACE_LOADED_OBJECTS.
    """
    for kind, offset, length, start in _segments(path):
        if kind == INTERPRETER:
            loader = os.fsdecode(start[offset : offset + length].partition(b"\0")[0])
            return loader if Path(loader).name.startswith(OF_GLIBC) else None
    return None


def _readelf(option: str, path: str) -> str:
    return _output(["eu-readelf", option, path])


def _output(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Standard output of a command with any exit code. Empty where the tool is missing or exceeds its time limit."""
    try:
        result = run_quietly(command, environment, LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout
