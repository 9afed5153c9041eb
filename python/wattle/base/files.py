"""Writes the lab's files atomically: each file holds its old or its new contents, and planted links are not followed.

A file is written under a random name in the same folder and then renamed. With O_EXCL a name that exists already,
such as a link, is never opened. A link at the destination itself is replaced, not followed.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from wattle.base.errors import WattleError

PROGRAM = 0o755  # mode of a program that all may start and only its owner may change
FOLDER = 0o755  # mode of a folder in which only its owner may add and remove files
OWNERS = 0o700  # bits of a umask by which the command could not use its own files
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


_program_umask = -1  # that of this command


def keep_own_files_usable() -> None:
    """Takes the owner's bits out of this command's umask. Programs that it runs get the one it was started with."""
    global _program_umask
    before = os.umask(0o077)
    os.umask(before & ~OWNERS)
    if before & OWNERS:
        _program_umask = before


def program_umask() -> int:
    """The umask of a program, as subprocess.Popen takes it."""
    return _program_umask


def write_atomically(path: Path, content: str | bytes, durable: bool = False) -> None:
    """Writes the whole file. With `durable`, its contents are on the disk before it gets its name. Raises OSError."""
    with writing(path, durable) as out:
        out.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def write(path: Path, content: str, remedy: str = "") -> None:
    """Writes the whole file. Raises WattleError, with the remedy, where it cannot be written."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise WattleError(f"{path}: cannot be written: {error.strerror}{remedy and f'; {remedy}'}") from None


@contextmanager
def writing(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """A new file that replaces `path` when the block ends without an exception. Otherwise the new file is removed."""
    check_replaceable(path)
    scratch = path.with_name(f".wattle-{os.urandom(8).hex()}.part")
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
    """Raises OSError where the path exists and is not a regular file, for example a folder, device or FIFO."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))


def absolute(path: Path = Path()) -> Path:
    """The absolute path, by default of the working directory. Raises WattleError where that was removed."""
    try:
        return path.absolute()
    except OSError as error:
        raise WattleError(f"the working directory: {error.strerror}; change to another one with cd") from None


def is_file(path: str | Path) -> bool:
    """Whether a regular file is there. False also for a name that no file can have, where `Path.is_file` raises."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Whether a folder is there. False also for a name that no folder can have."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: str | Path) -> int:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - of a text, too
    except (OSError, ValueError):
        return 0


def make_numbered(base: Path) -> Path:
    """Makes a new folder: `base`, or `base-2`, `base-3`, ... where the name is taken. Makes its parents as well. Two
    concurrent calls get two folders. Raises OSError, and NotOurs for the parent as `make_folder` does.
    """
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
    """Another user could exchange the files of this folder. `filename` is the folder or a link that leads to it."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EPERM, why, str(path))


def make_folder(folder: Path) -> None:
    """Makes the folder and its parents, or accepts an existing folder. Raises NotOurs where other users could plant
    links in it: where the folder, or a link to it, belongs to a user other than this one and root, or where others
    may write to it. Raises other OSErrors where it cannot be made.
    """
    try:
        folder.mkdir(FOLDER, parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
        check_ours(folder)


def check_ours(folder: Path) -> None:
    """Checks the owner and mode of a folder. Raises NotOurs as `make_folder` does."""
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
    """Whether the group is this user's private group, which has the user's name."""
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
    """Raises OSError where no file can be written in the folder, for example on a read-only or full file system."""
    probe = folder / f".wattle-{os.urandom(8).hex()}.part"
    try:
        with os.fdopen(os.open(probe, NEW, 0o600), "wb") as out:
            out.write(b"\0" * 4096)
    finally:
        probe.unlink(missing_ok=True)


def is_ours(program: Path) -> bool:
    """Whether a cached program may be started: a regular file of this user or root that no other user may change. Other
    users may write to a shared cache folder, and the names in it can be predicted.
    """
    try:
        found = program.lstat()
    except OSError:
        return False
    ours = found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(found.st_mode) and ours and os.access(program, os.X_OK)
