"""Keeps the reader from changing the garbage collector of the program that uses it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def guest() -> Iterator[None]:
    """Undoes gc.freeze(), by which the reader of profiles saves the commands a search through millions of objects. In a
    longer program it would keep garbage for ever. Objects that the program froze itself stay frozen.
    """
    was_frozen = gc.get_freeze_count() > 0
    try:
        yield
    finally:
        if not was_frozen:
            gc.unfreeze()
