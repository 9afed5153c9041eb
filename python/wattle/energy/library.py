"""The meter of Wattle's library in this process (src/energy/metered.h)."""

from __future__ import annotations

import ctypes
import os
from functools import cache

from wattle.base.errors import WattleError
from wattle.machine import paths

TEXT_BYTES = 1 << 17  # of an answer: 64 domains in five parts
ERROR_BYTES = 4096


class Meter:
    """The node's meter. Raises WattleError where the library is missing, or where a setting is wrong.

    It belongs to the process that opened it: a child of fork() must not use it.
    """

    def __init__(self) -> None:
        self._library = _library()
        error = ctypes.create_string_buffer(ERROR_BYTES)
        self._handle = self._library.wtl_metered_open(error, ERROR_BYTES)
        if not self._handle:
            raise WattleError(error.value.decode("utf-8", "replace").strip())

    def begin(self) -> None:
        """Begins an interval."""
        self._library.wtl_metered_begin(self._handle)

    def end(self, line: str) -> str:
        """Ends the interval and returns the joules as JSON. `line`: the CPU time, as src/energy/metered.h says."""
        text = ctypes.create_string_buffer(TEXT_BYTES)
        if not 0 < self._library.wtl_metered_read(self._handle, line.encode(), text, TEXT_BYTES) < TEXT_BYTES:
            raise WattleError("the meter gave no figures")
        return text.value.decode("utf-8", "replace")

    def close(self) -> None:
        self._library.wtl_metered_close(self._handle)


@cache
def _library() -> ctypes.CDLL:
    """The library with the types of its functions. A change of the environment by os.environ is seen by it."""
    found = paths.energy_library()
    try:
        library = ctypes.CDLL(os.fspath(found))
        library.wtl_metered_open.restype = ctypes.c_void_p
        library.wtl_metered_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.wtl_metered_read.restype = ctypes.c_size_t
        library.wtl_metered_read.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        for name in ("wtl_metered_begin", "wtl_metered_close"):
            function = getattr(library, name)
            function.restype, function.argtypes = None, [ctypes.c_void_p]
    except (OSError, AttributeError) as error:
        raise WattleError(f"{found}: cannot be used: {error}") from None
    return library
