"""Joules of intervals of a run, from the log of an external meter and the clock that was found for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wattle.meter_log.clock import Clock
from wattle.meter_log.given import READINGS
from wattle.meter_log.trace import Trace
from wattle.text.provenance import Joules, Provenance, unavailable

LEAST_COVERED = 0.5  # a figure with more gaps is none


def joules(trace: Trace, clock: Clock, begin: float, end: float, error: float) -> Joules:
    """The joules from `begin` to `end`, seconds since 1970 on this machine's clock. `error`: the meter's own error as
    a share. The half-width adds it, the doubt between readings, and the change of the joules where both ends move by
    the half-width of the offset. Unavailable where the log does not cover the interval.
    """
    scope, source = trace.series.scope, trace.series.source
    low, high = clock.log_time(begin), clock.log_time(end)
    if end <= begin or low < trace.first or high > trace.last:
        return unavailable(scope, source, scope)
    found = trace.drawn(low, high)
    if found.covered_s < LEAST_COVERED * (high - low):
        return unavailable(scope, source, scope)
    moved = [
        trace.drawn(*np.clip([low + s * _doubt(clock, begin), high + s * _doubt(clock, end)], trace.first, trace.last))
        for s in (-1, 1)
    ]
    shift = max(abs(m.joules - found.joules) for m in moved)
    return Joules(
        found.joules,
        error * found.joules + found.doubt + shift,
        Provenance.MEASURED,
        source,
        scope,
        scope,
        end - begin,
        min(found.covered_s, end - begin),
    )


Span = tuple[float, float, float]  # begin and end, seconds since 1970 on this machine's clock, and a share


@dataclass(frozen=True)
class Reader:
    """A log whose clock was found. `error`: the meter's own error as a share."""

    traces: Sequence[Trace]
    clock: Clock
    error: float

    def joules(self, begin: float, end: float) -> list[Joules]:
        """The joules of an interval, one figure for each scope."""
        return [joules(trace, self.clock, begin, end, self.error) for trace in self.traces]

    def of_spans(self, spans: Sequence[Span]) -> list[Joules]:
        """The joules of spans times their shares, one figure for each scope. The error of the meter counts for the sum
        only, because all spans have the same. Unavailable where a span is shorter than READINGS readings.
        """
        return [self._of_spans(trace, spans) for trace in self.traces]

    def _of_spans(self, trace: Trace, spans: Sequence[Span]) -> Joules:
        scope, source = trace.series.scope, trace.series.source
        if any(end - begin < READINGS * trace.series.step_s for begin, end, _ in spans):
            return unavailable(scope, source, scope)
        found = [(joules(trace, self.clock, begin, end, 0.0), share) for begin, end, share in spans]
        known = [(one.joules, one.uncertainty or 0.0, share) for one, share in found if one.joules is not None]
        if len(known) < len(spans):
            return unavailable(scope, source, scope)
        whole = sum(share * value for value, _, share in known)
        doubt = sum(abs(share) * half for _, half, share in known) + self.error * abs(whole)
        return Joules(whole, doubt, Provenance.MEASURED, source, scope, scope)


def _doubt(clock: Clock, moment: float) -> float:
    """The half-width of the offset at a moment. It grows outside of the time between the two patterns."""
    outside = max(0.0, clock.at_s - moment, moment - clock.at_s - clock.spans_s)
    return clock.offset_plus_minus_s + clock.drift_plus_minus * outside
