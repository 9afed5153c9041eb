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

MEET = ("barrier", "sync", "reduce", "fcollect", "collect", "alltoall", "broadcast", "team_split")
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
    found = [_meetings(t) for t in timelines.load(folder)]
    n = len(found[0][0])
    if n == 0 or len(found) != len(profile.pes) or any(len(begins) != n for begins, _, _ in found):
        return None
    begins, ends, compute = (np.array([pe[k] for pe in found]).T for k in range(3))
    meeting = np.maximum(0.0, ends.min(axis=0 if n == 0 else 1) - begins.max(axis=1))
    last = np.array([[pe[2][-1] for pe in found]])
    return (
        Trace(np.vstack([compute[:, :], last])[: n + 1], np.append(meeting, 0.0)),
        f"from timelines: {n} meetings of all PEs, each PE's own computing between them",
    )


def _meetings(t: Timeline) -> tuple[list[float], list[float], list[float]]:
    """Of the thread that meets: seconds at which meetings begin and end, from the PE's start, and what it computed
    before each and after the last: time that it did not wait."""
    events = max(t.events, key=len, default=np.empty(0))
    tick_s = t.ns_per_tick * 1e-9
    named = [(_meets(t.calls[int(e["call"])]), e) for e in events if e["span"] != Span.CLOCK]
    calls = sorted((int(e["begin"]), int(e["end"])) for meets, e in named if meets)
    outer = [span for k, span in enumerate(calls) if k == 0 or span[0] >= max(end for _, end in calls[:k])]
    waits = sorted((int(e["begin"]), int(e["end"])) for _, e in named if Span(int(e["span"])) in WAITS)
    begins, ends, compute = [], [], []
    at = int(t.start_tick)
    for begin, end in [*outer, (int(t.end_tick), int(t.end_tick))]:
        waited = sum(min(b, begin) - a for a, b in waits if at <= a < begin)
        compute.append(max(0, begin - at - waited) * tick_s)
        begins.append((begin - int(t.start_tick)) * tick_s)
        ends.append((end - int(t.start_tick)) * tick_s)
        at = end
    return begins[:-1], ends[:-1], compute


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
