"""The work and the meetings of a run that was recorded, for replaying it (replay.py): from its timelines where it
has them, else from the profile's sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattle.errors import WattleError
from wattle.pe import PE, STAGES
from wattle.profile import RunProfile
from wattle.sim.replay import Trace
from wattle.timeline import rows as timelines
from wattle.timeline.file import Span, Timeline

MEET = ("barrier", "sync", "reduce", "to_all", "scan", "collect", "alltoall", "broadcast", "team_split")
WAITS = (Span.SPIN, Span.YIELD, Span.ASLEEP)


@dataclass(frozen=True)
class Recorded:
    """`how`: in a sentence, what the trace was made of and what that leaves out. `messages`, `bytes`: of all PEs."""

    trace: Trace
    how: str
    messages: float
    bytes: float


def read(profile: RunProfile) -> Recorded:
    if not profile.complete or not profile.pes:
        raise WattleError(f"{profile.directory}: PEs left no profile, so there is nothing to replay")
    messages = float(sum(s.calls for pe in profile.pes for s in pe.sites if s.kind == "transfer"))
    moved = float(sum(s.bytes for pe in profile.pes for s in pe.sites))
    trace, how = _of_timelines(profile) or _of_sums(profile)
    return Recorded(trace, how, messages, moved)


def _meets(call: str) -> bool:
    return any(word in call for word in MEET)


# ---- from timelines ----


def _of_timelines(profile: RunProfile) -> tuple[Trace, str] | None:
    """None where there are none, or where PEs do not meet alike, so that nobody can tell which meetings are one."""
    folder = Path(profile.directory) / "profile"
    if not any(folder.glob("timeline-*.bin")):
        return None
    found = timelines.load(folder)
    same = len({pe.boot_id for pe in profile.pes}) <= 1
    if len(found) != len(profile.pes):
        return None
    told = [meetings_and_waits(t, same) for t in found]
    matched = _matched([calls for calls, _ in told])
    if not 0 < len(matched[0][0]) <= _count(profile.pes):  # calls that are no meetings of all
        return None
    compute = np.array(
        [
            _computing(begins, ends, waits, *(float(v) for v in _ns(t, [t.start_tick, t.end_tick], same)))
            for t, (begins, ends), (_, waits) in zip(found, matched, told, strict=True)
        ]
    ).T
    begins, ends = (np.array([pe[k] for pe in matched]).T for k in range(2))
    meeting = 1e-9 * np.maximum(0.0, ends.min(axis=1) - begins.max(axis=1))
    return (
        Trace(1e-9 * compute, np.append(meeting, 0.0)),
        f"from timelines: {len(meeting)} meetings of all PEs, each PE's own computing between them",
    )


def _ns(t: Timeline, ticks: Sequence[int], same: bool) -> np.ndarray:
    return t.ns(np.array(ticks, dtype=np.uint64), same)


def meetings_and_waits(t: Timeline, same: bool) -> tuple[np.ndarray, np.ndarray]:
    """Of the thread that meets, nanoseconds by rows of begin and end: its meetings, and its waits."""
    events = max(t.events, key=len, default=np.empty(0))
    named = [(_meets(t.call(e)), e) for e in events if e["span"] != Span.CLOCK]
    calls = [(int(e["begin"]), int(e["end"])) for meets, e in named if meets and e["end"] > e["begin"]]
    # A wait may begin at the tick at which its call does, or end with it after no time: then it is no call of its own.
    calls.sort(key=lambda span: (span[0], -span[1]))
    outer = [span for k, span in enumerate(calls) if k == 0 or span[0] >= max(end for _, end in calls[:k])]
    waits = sorted((int(e["begin"]), int(e["end"])) for _, e in named if Span(int(e["span"])) in WAITS)
    return tuple(_ns(t, [x for span in rows for x in span], same).reshape(-1, 2) for rows in (outer, waits))  # type: ignore[return-value]


def _matched(calls: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """When each PE came to each meeting, and when it went on. Nobody leaves before all have come, so the calls that
    have begun when the first of them ends are of one meeting. A PE that came last did not wait, and its call may have
    been too short to be kept: it came when the others went on."""
    at = [0] * len(calls)
    begins, ends = [], []
    while left := [pe for pe, k in enumerate(at) if k < len(calls[pe])]:
        first = min(calls[pe][at[pe], 1] for pe in left)
        there = [pe for pe in left if calls[pe][at[pe], 0] <= first]
        last = max(calls[pe][at[pe], 1] for pe in there)
        came, went = np.full(len(calls), last, dtype=float), np.full(len(calls), last, dtype=float)
        for pe in there:
            came[pe], went[pe] = calls[pe][at[pe]]
            at[pe] += 1
        begins.append(came)
        ends.append(went)
    shape = (len(begins), len(calls))
    return list(zip(np.reshape(begins, shape).T, np.reshape(ends, shape).T, strict=True))


def _computing(begins: np.ndarray, ends: np.ndarray, waits: np.ndarray, start: float, stop: float) -> list[float]:
    """Before each meeting and after the last: time that it did not wait."""
    found, at = [], start
    for begin, end in [*zip(begins, ends, strict=True), (stop, stop)]:
        waited = sum(min(b, begin) - a for a, b in waits if at <= a < begin)
        found.append(max(0.0, begin - at - waited))
        at = end
    return found


# ---- from sums ----


def _of_sums(profile: RunProfile) -> tuple[Trace, str]:
    pes = profile.pes
    meetings = _count(pes)
    wall = profile.wall_s or 0.0
    active = np.array([min(wall, wall - sum(pe.state_s[stage] or 0.0 for stage in STAGES)) for pe in pes])
    compute = np.repeat(active[np.newaxis, :] / meetings, meetings, axis=0)
    each = max(0.0, wall / meetings - float(compute[0].max()))
    how = (
        f"from the profile's sums: {meetings} meetings taken to be alike, so loads that change between them are "
        "averaged; `wattle run --timeline` keeps them apart"
    )
    return Trace(compute, np.full(meetings, each)), how


def _count(pes: Sequence[PE]) -> int:
    """How often all meet: what the PE that meets least often does; 1 where they never do, for they all end."""
    return max(1, min(sum(s.calls for s in pe.sites if _meets(s.call)) for pe in pes))
