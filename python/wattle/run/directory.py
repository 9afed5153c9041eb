"""The directory of a run: chosen, made and checked before the program starts."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

from wattle.base import files
from wattle.base.errors import WattleError

ROOM_BYTES = 1 << 20  # with less free space than this, profiles would be cut off
PARENT = "wattle-runs"
WITH_O = "give another directory with -o"
NAME_MOST = 100  # characters of the program's name

_claims: list[int] = []  # locked directories, open until this process ends


def prepare(wanted: Path | None, program: str, remedy: str = WITH_O) -> Path:
    """Makes the directory and returns its absolute path. It must be new or empty, writable and with free space, and no
    other user may be able to write to it. Of two commands that choose the same directory at once, one gets a
    WattleError, which ends with the remedy.
    """
    directory = files.absolute() / (wanted if wanted is not None else _default(program))
    try:
        missing = [path for path in directory.parents if not path.exists()]
        was_there = wanted is not None and directory.exists()
        if wanted is None:
            directory = files.make_numbered(directory)
        else:
            files.make_folder(directory)
        if not _claim(directory):
            raise WattleError(f"{directory}: another command is about to write there; {remedy}")
        if any(directory.iterdir()):
            raise WattleError(f"{directory}: is not empty; {remedy}, or empty this one")
        _try_to_write(directory, [] if was_there else [directory, *missing])
    except files.NotOurs as error:
        raise WattleError(f"{error.filename}: {error.strerror}; {remedy}") from None
    except FileExistsError:
        raise WattleError(f"{directory}: is not a directory; {remedy}") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise WattleError(f"{directory}: the limit on file size is too small; raise it with `ulimit -f`") from None
        raise WattleError(f"{directory}: {_words(error)}; {remedy}") from None
    return directory


def resume(directory: Path, remedy: str = "give another directory") -> Path:
    """The absolute path of a directory that an earlier command began, locked until this process ends. Raises
    WattleError where another command uses it or it belongs to another user.
    """
    found = files.absolute(directory)
    try:
        files.check_ours(found)
        if not _claim(found):
            raise WattleError(f"{found}: another command is writing there; wait for its end")
        files.try_writing(found)
    except files.NotOurs as error:
        raise WattleError(f"{error.filename}: {error.strerror}; {remedy}") from None
    except OSError as error:
        raise WattleError(f"{found}: {_words(error)}; {remedy}") from None
    return found


def is_bare(directory: Path) -> bool:
    """Whether a directory of a finished run holds its manifest and no profile, because no process left one. The link of
    a job that did not begin (src/record/job_folder.h) does not count.
    """
    from wattle.record import manifest  # not before the program has started

    return all(path.name in (manifest.FILE, ".job") for path in directory.rglob("*") if not path.is_dir())


def drop(directory: Path) -> None:
    """Removes a bare directory, and the folder of all runs where it was the only one."""
    with suppress(OSError):
        shutil.rmtree(directory)
        directory.parent.rmdir()


def _claim(directory: Path) -> bool:
    """Locks the directory until this process ends. False: another has locked it. True also without locks."""
    claim = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    _claims.append(claim)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def profile_folder(directory: Path) -> Path:
    """Makes DIR/profile, into which the PEs write."""
    folder = directory / "profile"
    try:
        folder.mkdir(files.FOLDER, parents=True)
    except OSError as error:
        raise WattleError(f"{folder}: {_words(error)}") from None
    return folder


def _default(program: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9._+-]", "_", Path(program).name).strip(".") or "program"
    return Path(PARENT) / f"{name[:NAME_MOST]}-{time.strftime('%Y%m%d-%H%M%S')}"


def _try_to_write(directory: Path, made: list[Path]) -> None:
    """Writes a test file. Where that fails, it removes `made`: folders of this run, the innermost first."""
    try:
        files.try_writing(directory)
        free = os.statvfs(directory)
        if free.f_bavail * free.f_frsize < ROOM_BYTES and free.f_blocks:
            raise OSError(errno.ENOSPC, f"less than {ROOM_BYTES >> 20} MiB is free on this disk")
    except OSError:
        with suppress(OSError):  # another command has put a file there
            for folder in made:
                folder.rmdir()
        raise


def _words(error: OSError) -> str:
    if error.errno == errno.EACCES:
        return "may not be written to (permission denied)"
    if error.errno == errno.EROFS:
        return "is on a read-only file system"
    return error.strerror or str(error)


def make(directory: Path) -> Path:
    try:
        directory.mkdir(files.FOLDER)
    except OSError as error:
        raise WattleError(f"{directory}: {_words(error)}") from None
    return directory
