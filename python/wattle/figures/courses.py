"""Watts of each PE over time: the joules of its profile, distributed over its timeline by the watts of each state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from wattle.record.timeline_file import STATES, Span, Timeline, load

NS = 1e-9
STEPS = 1_000_000  # at most, of a sum over a run


class Courses:
    """The course of each PE's joules over its run, as a part of its total from 0 to 1. Times are in s from the start of
    the first PE. `watts`: by state, as in the machine profile.
    """

    def __init__(self, folder: Path, watts: Mapping[str, float], one_machine: bool) -> None:
        """Reads the timelines in a run's profile folder. Raises WattleError."""
        found = load(folder)
        starts = {t.pe: int(t.ns(np.array([t.start_tick], dtype=np.uint64), one_machine)[0]) for t in found}
        zero = min(starts.values())
        self._of = {t.pe: _course(t, watts, zero, one_machine) for t in found}
        self.end_s = max(float(at[-1]) for at, _ in self._of.values())

    @property
    def pes(self) -> list[int]:
        return sorted(self._of)

    def means(self, pe: int, edges_s: Sequence[float] | np.ndarray) -> np.ndarray:
        """The part of the PE's joules between each two edges, in 1/s. Times its joules it is W."""
        at, part = self._of[pe]
        found: np.ndarray = np.diff(np.interp(edges_s, at, part)) / np.diff(edges_s)
        return found

    def peak(self, pe: int, over_s: float) -> float:
        """The largest mean of a PE over `over_s`, or over the whole run of a shorter PE, in 1/s."""
        at, part = self._of[pe]
        length = min(over_s, float(at[-1] - at[0]))
        if length <= 0:
            return 0.0
        # The mean over a window has its largest value where one of its edges is at a change of state.
        starts = np.clip(np.concatenate([at, at - length]), at[0], at[-1] - length)
        return float((np.interp(starts + length, at, part) - np.interp(starts, at, part)).max() / length)

    def peak_of_sum(self, joules: Mapping[int, float], over_s: float) -> float:
        """The largest mean of several PEs together over `over_s`, in W. It moves in steps of a tenth of that. Both
        are longer in a run of more than STEPS of them. `joules`: the total of each PE.
        """
        length = min(over_s, self.end_s)
        if length <= 0:
            return 0.0
        edges = np.linspace(0.0, self.end_s, min(STEPS, max(1, round(10 * self.end_s / length))) + 1)
        so_far = sum(total * np.interp(edges, *self._of[pe]) for pe, total in joules.items() if pe in self._of)
        steps = min(10, len(edges) - 1)
        return float((so_far[steps:] - so_far[:-steps]).max() / (edges[steps] - edges[0]))


def _course(t: Timeline, watts: Mapping[str, float], zero: int, one_machine: bool) -> tuple[np.ndarray, np.ndarray]:
    """Moments in s and the part of the joules that the PE has spent by then."""
    start, stop = (int(v) - zero for v in t.ns(np.array([t.start_tick, t.end_tick], dtype=np.uint64), one_machine))
    events = max(t.events, key=_waited, default=np.empty(0, dtype=[("span", "u4")]))
    at, power = np.array([start, stop], dtype=float), np.array([watts["active"]])
    waits = events[np.isin(events["span"], list(STATES))]
    if len(waits):
        waits = waits[np.argsort(waits["begin"], kind="stable")]
        begin, end = (np.clip(t.ns(waits[key], one_machine) - zero, start, stop) for key in ("begin", "end"))
        begin = np.maximum(begin, np.append(start, np.maximum.accumulate(end)[:-1]))  # none overlaps
        end = np.maximum(begin, end)
        at = np.concatenate([[start], np.stack([begin, end], axis=1).ravel(), [stop]]).astype(float)
        power = np.full(len(at) - 1, watts["active"])
        power[1::2] = np.array([watts[STATES[Span(int(span))]] for span in waits["span"]])
    spent = np.append(0.0, np.cumsum(np.diff(at) * power))
    return at * NS, spent / spent[-1] if spent[-1] > 0 else spent


def _waited(events: np.ndarray) -> int:
    some = events[events["span"] < Span.CLOCK]
    return int((some["end"] - some["begin"]).sum())
