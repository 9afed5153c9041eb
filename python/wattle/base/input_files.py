"""Reads files of unknown origin: only regular files up to a size limit, and without blocking."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from wattle.base.errors import DamagedFile

KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_bytes(path: Path, most: int) -> bytes:
    """All bytes of the file. Raises DamagedFile if it is not regular, has more than `most` bytes or is unreadable."""
    with _opened(path) as file:
        # The size is checked first, because the file may be sparse. The bytes read are checked too, because it may
        # grow.
        large = os.fstat(file.fileno()).st_size > most
        data = b"" if large else _read(path, file, most + 1)
    if large or len(data) > most:
        raise DamagedFile(path, f"is larger than the limit of {most >> 20} MiB")
    return data


def read_start(path: Path, size: int) -> bytes:
    """The first `size` bytes of the file at most. Raises DamagedFile where it is not regular or cannot be read."""
    with _opened(path) as file:
        return _read(path, file, size)


def _read(path: Path, file: BinaryIO, size: int) -> bytes:
    """Reads up to `size` bytes. A regular file of procfs, such as /proc/kmsg, may have nothing to read yet: Python then
    returns None instead of b"".
    """
    data = file.read(size)
    if data is None:
        raise DamagedFile(path, "has nothing to read now; expected a file with contents")
    return data


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # Opening a FIFO without a writer would block. A terminal would become the controlling terminal.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
            if kind != stat.S_IFREG:
                raise DamagedFile(path, f"is {KINDS.get(kind, 'a special file')}; expected a regular file")
            yield file
    except FileNotFoundError:
        raise DamagedFile(path, "is missing") from None
    except (OSError, ValueError) as error:  # ValueError: the name has a NUL byte
        raise DamagedFile(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def read_text(path: Path, most: int) -> str:
    """All of the file as UTF-8 text. Raises DamagedFile as `read_bytes` does, and where the contents are no text."""
    try:
        text = read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedFile(path, "is not text (UTF-8)") from None
    if "\0" in text:
        raise DamagedFile(path, "is not text: it holds a NUL byte")
    return text
