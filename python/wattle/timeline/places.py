"""The lines and call paths of a timeline's spans."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from wattle.figures import call_paths
from wattle.figures.sites import Callers, Key
from wattle.machine import symbols
from wattle.record.pe import PE
from wattle.record.profile import RunProfile

SEPARATOR = " > "
Where = tuple[str, str]  # the line of a span and its path, each empty where it is not known
WhereOf = Callable[[int, int], Where]  # of an address and the place of its caller in the PE's paths


class Places:
    """The places of all spans of a run's timelines. The line is that of the nearest frame in the program itself. The
    path has the frames from the outermost one to the call.
    """

    def __init__(self, profile: RunProfile) -> None:
        self._program = profile.program
        self._callers = {pe.pe: Callers(pe) for pe in profile.pes}
        keys = {key for pe in profile.pes for key in self._keys(pe)}
        self._places = symbols.resolve(key for key in keys if isinstance(key, tuple))

    def _keys(self, pe: PE) -> set[object]:
        callers = self._callers[pe.pe]
        above = {site.path for site in pe.sites}
        keys: set[object] = {callers.key_of(site.module, site.offset) for site in pe.sites}
        return keys.union(*(callers.above(at)[0] for at in above))

    def of(self, pe: PE) -> WhereOf:
        """A function for the spans of a PE."""
        callers = self._callers[pe.pe]
        keys: dict[int, Key] = {site.addr: callers.key_of(site.module, site.offset) for site in pe.sites}

        @cache
        def where(addr: int, path: int) -> Where:
            if addr not in keys:
                return "", ""
            above, end, _ = callers.above(path if path < len(pe.paths) else -1)
            found = [self._places[key] if isinstance(key, tuple) else key for key in (keys[addr], *above)]
            frames = tuple(frame for place in found for frame in (place, *place.around))
            names = [*([end] if end else []), *(frame.words for frame in reversed(frames))]
            line = call_paths.nearest_of(frames, self._program)[0].label
            return "" if line.startswith("?") else line, SEPARATOR.join(names) if len(names) > 1 else ""

        return where


def nowhere(addr: int, path: int) -> Where:
    """The place of a span that is not looked up."""
    return "", ""
