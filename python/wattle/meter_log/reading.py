"""Reads the log of an external meter into the directory of a run or study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from wattle.base.errors import WattleError
from wattle.meter_log import clock, kept, log
from wattle.meter_log.clock import Clock
from wattle.meter_log.figures import Reader
from wattle.meter_log.given import Given
from wattle.meter_log.kept import External
from wattle.meter_log.trace import Trace
from wattle.record.power_trace import PowerTrace

POINTS = 100_000  # of the kept power; more are averaged
MOST_HZ = 1000.0


def read(directory: Path, given: Given) -> External:
    """Reads the log, finds its clock by the patterns, and writes DIR/external.json: figures, or a reason in `why`."""
    external = kept.load(directory)
    if external is None:
        raise WattleError(f"{directory}: was not run with --meter-log, so there is no load pattern to find in a log")
    if len(external.patterns) < 2:
        raise WattleError(f"{directory}: has no load pattern after the run: it was interrupted or still goes on")
    external.log, external.settings = str(given.file), list(given.settings)
    external.why, external.clock, external.joules, external.power = "", {}, {}, []
    external.samples = ""
    try:
        _take(external, given)
    except WattleError as error:
        external.why = str(error)
    kept.write(directory, external)
    return external


def _take(external: External, given: Given) -> None:
    traces = [Trace(series) for series in log.read(given)]
    # All columns have one clock. The one that the load moves most is the best to find it.
    clear = max(traces, key=lambda trace: float(np.ptp(trace.watts)))
    found = clock.find(clear, external.patterns)
    found = replace(found, offset_plus_minus_s=found.offset_plus_minus_s + external.stepped_s)
    external.clock = found.as_dict()
    external.reader = reader = Reader(traces, found, given.error)
    external.joules = {one.name: reader.joules(one.begin_s, one.end_s) for one in external.intervals}
    begin, end = external.patterns[0].begin_s, external.patterns[-1].end_s
    external.power = [_power(trace, found, begin, end) for trace in traces]


def _power(trace: Trace, found: Clock, begin: float, end: float) -> PowerTrace:
    """The watts of a trace from the first pattern to the last, at most 1 kHz and POINTS points."""
    low, high = found.log_time(begin), found.log_time(end)
    inside = (trace.moments >= low) & (trace.moments <= high)
    at, watts = trace.moments[inside], trace.watts[inside]
    most = int(min(POINTS, MOST_HZ * (end - begin)))
    if len(at) > most:
        cuts = np.linspace(0, len(at), most + 1).astype(int)[:-1]
        sizes = np.diff(np.append(cuts, len(at)))
        at, watts = (np.add.reduceat(v, cuts) / sizes for v in (at, watts))
    # The inverse of log_time; the drift is small, so one step is exact to a part in a million of it.
    ours = at - found.offset_s - found.drift * (at - found.offset_s - found.at_s)
    numbers = [round(float(v), 6) for v in ours], [round(float(v), 6) for v in watts]
    return PowerTrace(trace.series.scope, trace.series.source, *numbers)
