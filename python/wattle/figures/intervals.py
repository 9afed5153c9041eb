"""The computing time of each process between synchronizations of all of them, from the timelines of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattle.record.profile import RunProfile, folder_of
from wattle.record.timeline_file import Span, Timeline, load

WAITS = (Span.SPIN, Span.YIELD, Span.ASLEEP)


class Unfit(Exception):
    """No usable timelines, or none that show which synchronizations belong together. The message has the reason."""


@dataclass(frozen=True)
class Intervals:
    """The intervals of a run. `computing_s`: a row for each synchronization and one for the end, a column for each
    process, in s, calls included and waits not. `barrier_s`: the time that each synchronization took after the last
    process had arrived. `own_s`: the other time of each process, in the form of `computing_s`: waits between
    synchronizations, and leaving one later than the first process. With it the rows' longest sums and `barrier_s` add
    up to the run. `synchronizations`: their number in the run, of which every second or fourth may be kept.
    `elsewhere`: the share of the processes' time that was waited between synchronizations.
    """

    computing_s: np.ndarray
    barrier_s: np.ndarray
    own_s: np.ndarray
    synchronizations: int
    elsewhere: float


@dataclass(frozen=True)
class PeSpans:
    """The synchronizing thread of a PE's timeline, in ns, as rows of begin and end. `total`: the number of its
    synchronizations; `collectives` may hold every second or fourth of them. None where the timeline does not mark them.
    """

    start: float
    stop: float
    collectives: np.ndarray
    waits: np.ndarray
    total: int | None


def read(profile: RunProfile) -> Intervals:
    """The intervals of a run. Raises Unfit where no timelines show them."""
    folder = folder_of(Path(profile.directory))
    if not any(folder.glob("timeline-*.bin")):
        raise Unfit("`wattle run --timeline` records them one by one")
    found = load(folder)
    if len(found) != len(profile.pes):
        raise Unfit(f"only {len(found)} of {len(profile.pes)} {profile.noun}s left a timeline")
    same = len({pe.boot_id for pe in profile.pes}) <= 1
    recorded = [spans_of(t, same) for t in found]
    if any(pe.total is None for pe in recorded):
        raise Unfit(f"its timelines are of an earlier version, which did not mark the barriers of all {profile.noun}s")
    fewest, most = min(len(pe.collectives) for pe in recorded), max(len(pe.collectives) for pe in recorded)
    if fewest != most:
        raise Unfit(f"the timelines have {fewest} to {most} barriers of all {profile.noun}s, so they cannot be matched")
    computed = [computing(pe) for pe in recorded]
    compute = 1e-9 * np.array([computing for computing, _ in computed]).T
    begins, ends = (np.array([pe.collectives[:, k] for pe in recorded]) for k in range(2))
    barrier = 1e-9 * np.maximum(0.0, ends.min(axis=0) - begins.max(axis=0))
    left = np.append(min(pe.start for pe in recorded), ends.min(axis=0))  # by the first process
    reached = np.column_stack([begins, [pe.stop for pe in recorded]])
    own = np.maximum(0.0, 1e-9 * (reached - left).T - compute)
    elsewhere = sum(waited for _, waited in computed) / sum(pe.stop - pe.start for pe in recorded)
    return Intervals(compute, barrier, own, recorded[0].total or 0, elsewhere)


def spans_of(t: Timeline, same: bool) -> PeSpans:
    def count(events: np.ndarray) -> int:
        return int((events["span"] == Span.COLLECTIVE).sum())

    events = max(t.events, key=lambda e: (count(e), len(e)), default=np.empty(0, dtype=[("span", "u4")]))
    collectives, waits = (_ns(t, events[np.isin(events["span"], kinds)], same) for kinds in ((Span.COLLECTIVE,), WAITS))
    totals = [thread.collectives for thread in t.threads if thread.collectives is not None]
    start, stop = (float(v) for v in t.ns(np.array([t.start_tick, t.end_tick], dtype=np.uint64), same))
    return PeSpans(start, stop, _outer(collectives), waits, max(totals) if totals else None)


def _ns(t: Timeline, events: np.ndarray, same: bool) -> np.ndarray:
    if not len(events):
        return np.empty((0, 2))
    spans = np.stack([t.ns(events["begin"], same), t.ns(events["end"], same)], axis=1).astype(float)
    return spans[np.lexsort((-spans[:, 1], spans[:, 0]))]


def _outer(spans: np.ndarray) -> np.ndarray:
    """The spans that are not within another: a collective call may synchronize by barriers."""
    if not len(spans):
        return spans
    reached = np.maximum.accumulate(spans[:, 1])
    inside = np.append(False, spans[1:, 1] <= reached[:-1]) & np.append(False, spans[1:, 0] < reached[:-1])
    outer: np.ndarray = spans[~inside]
    return outer


def computing(pe: PeSpans) -> tuple[np.ndarray, float]:
    """The computing time before each synchronization and after the last, and the sum of the waits in between."""
    begins, ends = np.append(pe.collectives[:, 0], pe.stop), np.append(pe.start, pe.collectives[:, 1])
    gaps = np.maximum(0.0, begins - ends)
    if not len(pe.waits):
        return gaps, 0.0
    waited = np.cumsum(pe.waits[:, 1] - pe.waits[:, 0])
    so_far = np.stack([np.append(0.0, waited[:-1]), waited], axis=1).ravel()  # at each begin and end
    of_gaps = np.interp(begins, pe.waits.ravel(), so_far) - np.interp(ends, pe.waits.ravel(), so_far)
    of_gaps = np.clip(of_gaps, 0.0, gaps)
    return gaps - of_gaps, float(of_gaps.sum())
