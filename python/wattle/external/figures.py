"""Joules of intervals of a run, from the log of an external meter and the clock that was found for it."""

from __future__ import annotations

import numpy as np

from wattle.external.clock import Clock
from wattle.external.trace import Trace
from wattle.provenance import Joules, Provenance, unavailable

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


def _doubt(clock: Clock, moment: float) -> float:
    """The half-width of the offset at a moment. It grows outside of the time between the two patterns."""
    outside = max(0.0, clock.at_s - moment, moment - clock.at_s - clock.spans_s)
    return clock.offset_plus_minus_s + clock.drift_plus_minus * outside
