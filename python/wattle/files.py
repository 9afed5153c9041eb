"""Files that the lab writes: each is whole or what it was before, and no link that is planted in its way is followed.

A file is written under a random name beside its place and then renamed. O_EXCL: a name that exists already, a link
included, is never opened. A link at the place itself is replaced, not followed.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PROGRAM = 0o755  # mode of a program that others may start, and nobody else may change
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_atomically(path: Path, content: str | bytes, durable: bool = False) -> None:
    """Writes the whole file. `durable`: it is on the disk before its name is. Raises OSError."""
    with writing(path, durable) as out:
        out.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


@contextmanager
def writing(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """A new file that takes its place when the block ends without an exception; otherwise nothing is left of it."""
    check_replaceable(path)
    scratch = path.with_name(f".wattle-{secrets.token_hex(8)}.part")
    try:
        with os.fdopen(os.open(scratch, NEW, 0o666), "wb") as out:
            yield out
            out.flush()
            if durable:
                os.fsync(out.fileno())
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


def check_replaceable(path: Path) -> None:
    """Raises OSError where the name leads to something else than a file: a folder, a device, a FIFO."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))


def make_numbered(base: Path) -> Path:
    """Makes a folder that was not there before: `base`, or `base-2`, `base-3`, ... where that is taken. Its parents are
    made as well. Two that ask at once get two folders. Raises OSError."""
    base.parent.mkdir(parents=True, exist_ok=True)
    candidate, n = base, 1
    while True:
        try:
            candidate.mkdir()
            return candidate
        except FileExistsError:
            n += 1
            candidate = base.with_name(f"{base.name}-{n}")


def try_writing(folder: Path) -> None:
    """Raises OSError where no file can be written in the folder. Permission bits are not enough: the file system may be
    read-only, or full."""
    probe = folder / f".wattle-{secrets.token_hex(8)}.part"
    try:
        with os.fdopen(os.open(probe, NEW, 0o600), "wb") as out:
            out.write(b"\0" * 4096)
    finally:
        probe.unlink(missing_ok=True)


def is_ours(program: Path) -> bool:
    """Whether a program that was built before may be started: a file of this user's or root's that nobody else may
    change. A folder for built programs may be shared, and their names can be worked out."""
    try:
        found = program.lstat()
    except OSError:
        return False
    ours = found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(found.st_mode) and ours and os.access(program, os.X_OK)
