"""Reads the work and the synchronizations of a recorded run for a replay (replay.py): from its timelines if there are
any, else from the sums of its profile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattle import limits, units
from wattle.errors import WattleError
from wattle.pe import PE, STAGES
from wattle.profile import RunProfile
from wattle.sim.replay import Trace
from wattle.timeline import rows as timelines
from wattle.timeline.file import Span, Timeline

# Calls of the profile in which PEs wait for all PEs; timelines mark synchronizations themselves.
MEET = re.compile(
    r"[Bb]arrier|shmem_\w*(sync|reduce|to_all|collect|alltoall)|MPI_(All(gather|reduce|to)|Reduce_scatter)"
)
WAITS = (Span.SPIN, Span.YIELD, Span.ASLEEP)
REPORTED_FROM = 1e-3  # smaller shares of the PEs' time are not mentioned


@dataclass(frozen=True)
class Recorded:
    """A recorded run. `how`: one sentence on the source of the trace and its omissions. `messages`, `bytes`: of all
    PEs.
    """

    trace: Trace
    how: str
    messages: float
    bytes: float


def read(profile: RunProfile) -> Recorded:
    if not profile.complete or not profile.pes:
        raise WattleError(f"{profile.directory}: PEs left no profile, so there is nothing to replay")
    messages = float(sum(s.calls for pe in profile.pes for s in pe.sites if s.kind == "transfer"))
    moved = float(sum(s.bytes for pe in profile.pes for s in pe.sites))
    try:
        trace, how = _of_timelines(profile)
    except _Unfit as why:
        trace, how = _of_sums(profile, str(why))
    return Recorded(trace, how, messages, moved)


# ---- from timelines ----


class _Unfit(Exception):
    """There are no usable timelines, or they do not show which synchronizations belong together. The message gives the
    reason.
    """


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


def _of_timelines(profile: RunProfile) -> tuple[Trace, str]:
    folder = Path(profile.directory) / "profile"
    if not any(folder.glob("timeline-*.bin")):
        raise _Unfit("`wattle run --timeline` records them one by one")
    found = timelines.load(folder)
    if len(found) != len(profile.pes):
        raise _Unfit(f"only {len(found)} of {len(profile.pes)} PEs left a timeline")
    same = len({pe.boot_id for pe in profile.pes}) <= 1
    recorded = [spans_of(t, same) for t in found]
    if any(pe.total is None for pe in recorded):
        raise _Unfit("its timelines are of an earlier version, which did not mark the barriers of all PEs")
    fewest, most = min(len(pe.collectives) for pe in recorded), max(len(pe.collectives) for pe in recorded)
    if fewest != most:
        raise _Unfit(f"the timelines have {fewest} to {most} barriers of all PEs, so they cannot be matched")
    computed = [_computing(pe) for pe in recorded]
    compute = 1e-9 * np.array([computing for computing, _ in computed]).T
    begins, ends = (np.array([pe.collectives[:, k] for pe in recorded]) for k in range(2))
    barrier = 1e-9 * np.maximum(0.0, ends.min(axis=0) - begins.max(axis=0)) if fewest else np.empty(0)
    elsewhere = sum(waited for _, waited in computed) / sum(pe.stop - pe.start for pe in recorded)
    return Trace(compute, np.append(barrier, 0.0)), _described(recorded[0].total or 0, fewest, elsewhere)


def _described(total: int, kept: int, elsewhere: float) -> str:
    some = f", one in {total / kept:.0f} of all," if kept and total > kept else ""
    rest = (
        f"; waits elsewhere, {units.share(elsewhere)} of the PEs' time, are left out"
        if elsewhere > REPORTED_FROM
        else ""
    )
    return f"from timelines: {kept} barriers of all PEs{some} and each PE's own computing between them{rest}"


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
    return spans[~inside]


def _computing(pe: PeSpans) -> tuple[np.ndarray, float]:
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


# ---- from sums ----


def _of_sums(profile: RunProfile, why: str) -> tuple[Trace, str]:
    pes = profile.pes
    collectives = _count(pes)
    if collectives > limits.COLLECTIVES:
        raise WattleError(
            f"{profile.directory}: all PEs synchronized {collectives} times, and at most {limits.COLLECTIVES} times "
            "can be replayed; `wattle run --timeline` keeps fewer"
        )
    wall = profile.wall_s or 0.0
    active = np.array([min(wall, wall - sum(pe.state_s[stage] or 0.0 for stage in STAGES)) for pe in pes])
    compute = np.repeat(active[np.newaxis, :] / collectives, collectives, axis=0)
    each = max(0.0, wall / collectives - float(compute[0].max()))
    how = (
        f"from the profile's sums: {collectives} barriers taken to be alike, so loads that change between them are "
        f"averaged; {why}"
    )
    return Trace(compute, np.full(collectives, each)), how


def _count(pes: Sequence[PE]) -> int:
    """The number of synchronizations of all PEs: the smallest count of a PE, and at least 1, because all PEs end."""
    return max(1, min(sum(s.calls for s in pe.sites if MEET.search(s.call)) for pe in pes))
