"""Files that the lab writes: each is whole or what it was before, and no link that is planted in its way is followed.

A file is written under a random name beside its place and then renamed. O_EXCL: a name that exists already, a link
included, is never opened. A link at the place itself is replaced, not followed.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PROGRAM = 0o755  # mode of a program that others may start, and nobody else may change
FOLDER = 0o755  # mode of a folder whose files only its owner may add and remove
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
    made as well. Two that ask at once get two folders. Raises OSError, and NotOurs as `make_folder` does for the
    parent."""
    make_folder(base.parent)
    candidate, n = base, 1
    while True:
        try:
            candidate.mkdir(FOLDER)
            return candidate
        except FileExistsError:
            n += 1
            candidate = base.with_name(f"{base.name}-{n}")


class NotOurs(PermissionError):
    """A folder whose files another user could exchange. `filename` is the folder or the link that leads to it."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EPERM, why, str(path))


def make_folder(folder: Path) -> None:
    """Makes the folder and its parents, or takes the one that is there. Raises NotOurs where that one, or a link that
    leads to it, belongs to another user than this one and root, or where others may write to it: they could put links
    in the way of what is written later. Raises other OSErrors where it cannot be made."""
    try:
        folder.mkdir(FOLDER, parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
        check_ours(folder)


def check_ours(folder: Path) -> None:
    """Raises NotOurs as `make_folder` does."""
    place = folder
    while place.is_symlink():
        _check_owner(place, place.lstat())
        place = place.parent / place.readlink()
    found = folder.stat()
    _check_owner(folder, found)
    if found.st_mode & stat.S_IWOTH:
        raise NotOurs(folder, "every user may write to it")
    if found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid):
        raise NotOurs(folder, f"the group {_group(found.st_gid)} may write to it")


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise NotOurs(path, f"belongs to the user {_user(found.st_uid)}")


def _is_private(gid: int) -> bool:
    """Whether it is the group of this user alone, which has the user's name."""
    return _group(gid) == _user(os.geteuid())


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


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
