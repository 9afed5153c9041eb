"""The readings of one scope as a function of time: watts, and joules between two moments with their half-width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattle.meter_log.log import GAP, Series


@dataclass(frozen=True)
class Drawn:
    """Joules between two moments. `doubt`: half-width by the time between readings. `covered_s`: without gaps."""

    joules: float
    doubt: float
    covered_s: float


class Trace:
    """The readings of a series. Moments are seconds on the log's clock.

    Between two readings of watts the power runs along a straight line. Half of the change between the two, for the time
    between them, is doubt, as for the sensors of src/power/sensor/gauge.h. In a gap the doubt is the highest reading.
    A counter needs no such doubt except at the ends of an interval: an end lies between two readings, and so do the
    joules at that end.
    """

    def __init__(self, series: Series) -> None:
        self.series = series
        self.at, self.value = np.array(series.at), np.array(series.value)
        self.between = np.diff(self.at)
        self.is_gap = self.between > GAP * series.step_s
        if series.counter:
            self.joules = self.value
            self.moments = (self.at[1:] + self.at[:-1]) / 2
            self.watts = np.diff(self.value) / self.between
            return
        self.moments, self.watts = self.at, self.value
        steps = (self.value[1:] + self.value[:-1]) / 2 * self.between
        half = np.abs(np.diff(self.value)) / 2
        doubts = np.where(self.is_gap, np.max(self.value), half) * self.between
        self.joules, self.doubts = _sums(steps), _sums(doubts)

    @property
    def first(self) -> float:
        return float(self.at[0])

    @property
    def last(self) -> float:
        return float(self.at[-1])

    def drawn(self, begin: float, end: float) -> Drawn:
        """The joules from `begin` to `end`, which lie within the log."""
        joules = self._joules(end) - self._joules(begin)
        gaps = self._between(_sums(np.where(self.is_gap, self.between, 0.0)), begin, end)
        if self.series.counter:
            return Drawn(joules, self._end_doubt(begin) + self._end_doubt(end), end - begin)
        return Drawn(joules, self._between(self.doubts, begin, end), end - begin - gaps)

    def _joules(self, moment: float) -> float:
        """Joules from the first reading to `moment`."""
        k = int(np.clip(np.searchsorted(self.at, moment, side="right") - 1, 0, len(self.at) - 2))
        share = (moment - self.at[k]) / self.between[k]
        if self.series.counter:
            return float(self.joules[k] + share * (self.joules[k + 1] - self.joules[k]))
        now = self.value[k] + share * (self.value[k + 1] - self.value[k])
        return float(self.joules[k] + (self.value[k] + now) / 2 * share * self.between[k])

    def _between(self, sums: np.ndarray, begin: float, end: float) -> float:
        low, high = np.interp([begin, end], self.at, sums)
        return float(high - low)

    def _end_doubt(self, moment: float) -> float:
        """The joules by which a counter may differ from the straight line between the two readings around `moment`."""
        k = int(np.clip(np.searchsorted(self.at, moment, side="right") - 1, 0, len(self.at) - 2))
        share = (moment - self.at[k]) / self.between[k]
        return float(max(share, 1 - share) * (self.value[k + 1] - self.value[k]))


def _sums(steps: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(steps)])
