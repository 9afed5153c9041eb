"""The directory a run is written to: chosen, made, and shown to be usable before the program starts."""

from __future__ import annotations

import errno
import os
import re
import time
from pathlib import Path

from wattle.errors import WattleError

ROOM_BYTES = 1 << 20  # less than this, and profiles would be cut off
PARENT = "wattle-runs"


def prepare(wanted: Path | None, program: str) -> Path:
    """Makes the directory (absolute). It must be new or empty, writable, and have room."""
    directory = (wanted if wanted is not None else _default(program)).absolute()
    try:
        if directory.exists() and not directory.is_dir():
            raise WattleError(f"{directory}: is not a directory; give another with -o")
        if directory.is_dir() and any(directory.iterdir()):
            raise WattleError(f"{directory}: is not empty; give another directory with -o, or empty this one")
        directory.mkdir(parents=True, exist_ok=True)
        _try_to_write(directory)
    except OSError as error:
        raise WattleError(f"{directory}: {_words(error)}; give another directory with -o") from None
    return directory


def profile_folder(directory: Path) -> Path:
    """Makes DIR/profile, into which the PEs write."""
    folder = directory / "profile"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise WattleError(f"{folder}: {_words(error)}") from None
    return folder


def _default(program: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9._+-]", "_", Path(program).name).strip(".") or "program"
    base = Path(PARENT) / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    candidate, n = base, 2
    while candidate.exists():
        candidate, n = base.with_name(f"{base.name}-{n}"), n + 1
    return candidate


def _try_to_write(directory: Path) -> None:
    """Permission bits are not enough: the file system may be read-only, or full."""
    probe = directory / f".probe-{os.getpid()}"
    try:
        probe.write_bytes(b"\0" * 4096)
    finally:
        probe.unlink(missing_ok=True)
    free = os.statvfs(directory)
    if free.f_bavail * free.f_frsize < ROOM_BYTES and free.f_blocks:
        raise OSError(errno.ENOSPC, f"less than {ROOM_BYTES >> 20} MiB is free on this disk")


def _words(error: OSError) -> str:
    if error.errno == errno.EACCES:
        return "may not be written to (permission denied)"
    if error.errno == errno.EROFS:
        return "lies on a read-only file system"
    return error.strerror or str(error)


def make(directory: Path) -> Path:
    try:
        directory.mkdir()
    except OSError as error:
        raise WattleError(f"{directory}: {_words(error)}") from None
    return directory
