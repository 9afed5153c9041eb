"""Finds offset and drift between the clock of a log and ours, from load patterns that we made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.meter_log.load import Pattern
from wattle.meter_log.trace import Trace

COARSE = 4  # points in a step of the pattern, for the search in the whole log
ALIKE = 0.75  # least correlation of a pattern with the log
APART = 0.85  # another place whose correlation is this much of the best one makes the pattern ambiguous
MOST_DRIFT = 1e-3  # a clock that errs more is not a clock
FEWEST_A_STEP = 1.5  # readings
FINE = 400  # offsets that are tried around the best place
INDEPENDENT = 4  # residuals of a step that count as independent of each other
POINTS = 20_000_000  # of the search; a log of a year with readings each second has fewer


@dataclass(frozen=True)
class Clock:
    """The log's clock: log time = our time + `offset_s` + `drift` x (our time - `at_s`). `seen`: correlation of the
    patterns with the log, before and after. `idle_w`, `busy_w`: watts in both parts of the pattern.
    """

    at_s: float
    offset_s: float
    offset_plus_minus_s: float
    drift: float
    drift_plus_minus: float
    seen: tuple[float, ...]
    idle_w: float
    busy_w: float
    spans_s: float

    def log_time(self, moment: float) -> float:
        """The moment on the log's clock."""
        return moment + self.offset_s + self.drift * (moment - self.at_s)

    @property
    def words(self) -> str:
        """Offset and drift for a reader."""
        offset = _plus_minus(self.offset_s, self.offset_plus_minus_s)
        drift = _plus_minus(1e6 * self.drift, 1e6 * self.drift_plus_minus)
        return f"an offset of {offset} s and a drift of {drift} ppm"

    def as_dict(self) -> dict[str, object]:
        """The clock for the manifest."""
        return {
            **fields(self, "at_s offset_s offset_plus_minus_s"),
            "drift_ppm": 1e6 * self.drift,
            "drift_plus_minus_ppm": 1e6 * self.drift_plus_minus,
            "correlation": list(self.seen),
            **fields(self, "idle_w busy_w words"),
        }


def _plus_minus(value: float, half_width: float) -> str:
    """Both numbers to the second digit of the half-width."""
    digits = max(0, 1 - math.floor(math.log10(half_width))) if half_width > 0 else 3
    return f"{value:+,.{digits}f} ± {half_width:,.{digits}f}"


@dataclass(frozen=True)
class _Fit:
    offset: float
    half_width: float
    correlation: float
    idle_w: float
    busy_w: float


def find(trace: Trace, patterns: Sequence[Pattern]) -> Clock:
    """The log's clock from the patterns before and after the run. Raises WattleError where it is not clear."""
    before, after = patterns
    file = trace.series.source
    _check_readings(trace, before)
    place = _place(trace, before, after)
    first = _fit(trace, before, place)
    second = _fit(trace, after, first.offset, MOST_DRIFT * (after.begin_s - before.begin_s))
    for fit, when in ((first, "before"), (second, "after")):
        if fit.correlation < ALIKE:
            raise WattleError(f"{file}: {_missing(when, fit.correlation)}")
    apart = _middle(after) - _middle(before)
    drift = (second.offset - first.offset) / apart
    doubt = float(np.hypot(first.half_width, second.half_width)) / apart
    if abs(drift) > MOST_DRIFT + doubt:
        words = f"its clock seems to drift by {1e6 * drift:.0f} ppm, or was set during the run"
        raise WattleError(f"{file}: {words}; at most {1e6 * MOST_DRIFT:.0f} ppm are accepted")
    return Clock(
        _middle(before),
        first.offset,
        max(first.half_width, second.half_width),
        drift,
        doubt,
        (first.correlation, second.correlation),
        (first.idle_w + second.idle_w) / 2,
        (first.busy_w + second.busy_w) / 2,
        apart,
    )


def _missing(when: str, correlation: float) -> str:
    seen = f"correlation {max(0.0, correlation):.2f}, needed {ALIKE}"
    return (
        f"the load pattern {when} the run is not in this log ({seen}); is this the meter of this machine, and does the "
        "log cover the pattern?"
    )


def _middle(pattern: Pattern) -> float:
    return (pattern.begin_s + pattern.end_s) / 2


def _check_readings(trace: Trace, pattern: Pattern) -> None:
    in_a_step = pattern.step_s / trace.series.step_s
    if in_a_step < FEWEST_A_STEP:
        words = f"has a reading each {trace.series.step_s:.3g} s, too few for pattern steps of {pattern.step_s:.3g} s"
        raise WattleError(f"{trace.series.source}: {words}; run again with --meter-set every={trace.series.step_s:.2g}")


# ---- the search in the whole log ----


def _place(trace: Trace, before: Pattern, after: Pattern) -> float:
    """The offset at which both patterns are in the log, to a fraction of a step."""
    file, tick = trace.series.source, before.step_s / COARSE
    if (trace.last - trace.first) / tick > POINTS:
        raise WattleError(
            f"{file}: covers {(trace.last - trace.first) / 86400:.0f} days; cut it to the time of the run"
        )
    one, first_offset = _correlations(trace, before, tick)
    two, second_offset = _correlations(trace, after, tick)
    if not len(one) or not len(two):
        raise WattleError(f"{file}: covers {trace.last - trace.first:.3g} s, less than one load pattern")
    reach = int(np.ceil(MOST_DRIFT * (after.begin_s - before.begin_s) / tick)) + 1
    shift = round((first_offset - second_offset) / tick)
    both = one + _best_near(two, np.arange(len(one)) + shift, reach)
    if not np.isfinite(np.max(both)):
        raise WattleError(f"{file}: does not cover both load patterns; it covers {trace.last - trace.first:.3g} s")
    best = int(np.argmax(both))
    others = both.copy()
    near = 2 * COARSE + reach
    others[max(0, best - near) : best + near + 1] = -np.inf
    if both[best] < 2 * ALIKE * 0.8:
        raise WattleError(f"{file}: {_missing('before or after', float(both[best]) / 2)}")
    if float(np.max(others)) > APART * both[best]:
        raise WattleError(f"{file}: the load patterns seem to be at several places of this log; cut it to the run")
    return first_offset + best * tick


def _correlations(trace: Trace, pattern: Pattern, tick: float) -> tuple[np.ndarray, float]:
    """The correlation of the pattern with the log at each place, and the offset of the first place."""
    edges = np.arange(trace.first, trace.last, tick)
    x = np.diff(np.interp(edges, trace.at, trace.joules)) / tick
    span = np.arange(pattern.begin_s, pattern.end_s - tick / 2, tick)
    wanted = _busy(pattern, span, span + tick)
    n = len(wanted)
    if len(x) < n:
        return np.empty(0), 0.0
    wanted = wanted - wanted.mean()
    sums, squares = (np.concatenate([[0.0], np.cumsum(v)]) for v in (x - x.mean(), (x - x.mean()) ** 2))
    mean = (sums[n:] - sums[:-n]) / n
    spread = np.sqrt(np.maximum(0.0, (squares[n:] - squares[:-n]) / n - mean**2))
    size = len(x) + n
    product = np.fft.irfft(np.fft.rfft(x - x.mean(), size) * np.conj(np.fft.rfft(wanted, size)), size)[: len(mean)]
    scale = n * spread * wanted.std()
    floor = 1e-9 * n * wanted.std() * (np.std(x) + 1e-30)
    return np.where(scale > floor, product / np.maximum(scale, floor), 0.0), float(edges[0] - pattern.begin_s)


def _best_near(values: np.ndarray, places: np.ndarray, reach: int) -> np.ndarray:
    """The largest of `values` at most `reach` from each place; -inf outside."""
    found = np.full(len(places), -np.inf)
    for d in range(-reach, reach + 1):
        inside = (places + d >= 0) & (places + d < len(values))
        found[inside] = np.maximum(found[inside], values[places[inside] + d])
    return found


# ---- the fit at one place ----


def _busy(pattern: Pattern, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The share of each interval in which the pattern was busy."""
    edges = np.array(pattern.busy).ravel()
    lengths = np.diff(edges, prepend=edges[0])
    lengths[0::2] = 0.0
    so_far = np.cumsum(lengths)
    shares: np.ndarray = (np.interp(end, edges, so_far) - np.interp(begin, edges, so_far)) / (end - begin)
    return shares


def _fit(trace: Trace, pattern: Pattern, offset: float, reach: float = 0.0) -> _Fit:
    """The offset with the least squares between the watts and `idle + (busy - idle) x share`. The share is the busy
    part of a reading's time, around its moment, so the meter's delay is part of the offset.

    The half-width has two parts. The first part spans all offsets whose sum of squares passes an F test at about 95 %.
    The second part is half the time between two readings: a meter may take its readings at one moment, in the same
    phase of each step.
    """
    around = reach + 1.5 * pattern.step_s
    step = trace.series.step_s
    inside = (trace.moments > pattern.begin_s + offset - around) & (trace.moments < pattern.end_s + offset + around)
    moments, watts = trace.moments[inside], trace.watts[inside]
    fine = min(step, pattern.step_s) / 20
    tried = offset + np.linspace(-around, around, max(FINE, min(20 * FINE, int(2 * around / fine))) + 1)
    found = [_squares(pattern, moments, watts, step, o) for o in tried]
    sums = np.array([s for s, _, _, _ in found])
    best = int(np.argmin(sums))
    _, correlation, idle, busy = found[best]
    if not np.isfinite(sums[best]):
        return _Fit(offset, np.inf, 0.0, 0.0, 0.0)
    steps = (pattern.end_s - pattern.begin_s) / pattern.step_s
    free = max(1.0, min(len(moments), INDEPENDENT * steps) - 3)
    likely = tried[sums <= sums[best] * (1 + 4 / free) + 1e-12]
    # Only the offsets around the best one: a far one is another place, which `_place` has excluded.
    likely = likely[np.abs(likely - tried[best]) < pattern.step_s]
    middle = float(likely[0] + likely[-1]) / 2
    return _Fit(middle, float(likely[-1] - likely[0]) / 2 + step / 2, correlation, idle, busy)


def _squares(
    pattern: Pattern, moments: np.ndarray, watts: np.ndarray, step: float, offset: float
) -> tuple[float, float, float, float]:
    """The mean square of the residuals over the pattern, the correlation, and the watts of both parts."""
    ours = moments - offset
    inside = (ours > pattern.begin_s) & (ours < pattern.end_s)
    needed = FEWEST_A_STEP * (pattern.end_s - pattern.begin_s) / pattern.step_s
    if np.count_nonzero(inside) < 0.8 * needed:
        return np.inf, 0.0, 0.0, 0.0
    share = _busy(pattern, ours[inside] - step / 2, ours[inside] + step / 2)
    y = watts[inside]
    if np.std(share) == 0 or np.std(y) == 0:
        return np.inf, 0.0, 0.0, 0.0
    slope = float(np.mean((share - share.mean()) * (y - y.mean())) / share.var())
    idle = float(y.mean() - slope * share.mean())
    correlation = slope * float(share.std() / y.std())
    return float(np.mean((y - idle - slope * share) ** 2)), correlation, idle, idle + slope
