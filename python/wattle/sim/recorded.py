"""Reads the work and the synchronizations of a recorded run for a replay (replay.py): from its timelines if there are
any, else from the sums of its profile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wattle.base import limits
from wattle.base.errors import WattleError
from wattle.figures import intervals
from wattle.figures.intervals import Unfit
from wattle.record.pe import PE, STAGES
from wattle.record.profile import RunProfile
from wattle.sim.replay import Trace
from wattle.text import units

# Calls of the profile in which PEs wait for all PEs; timelines mark synchronizations themselves.
MEET = re.compile(
    r"[Bb]arrier|shmem_\w*(sync|reduce|to_all|collect|alltoall)|MPI_(All(gather|reduce|to)|Reduce_scatter)"
)
REPORTED_FROM = 1e-3  # smaller shares of the PEs' time are not mentioned


@dataclass(frozen=True)
class Recorded:
    """A recorded run. `own_s`: other time of each PE, in the form of the trace's computing: waits between
    synchronizations, and leaving one later than the first PE. `meeting_s`: the time of each synchronization beside
    computing and `own_s`, so that the three together last as long as the run. `how`: one sentence on the source of the
    trace. `elsewhere`: the share of the PEs' time that was waited between synchronizations and is not in the trace.
    `messages`, `bytes`: of all PEs.
    """

    trace: Trace
    own_s: np.ndarray
    meeting_s: np.ndarray
    how: str
    elsewhere: float
    messages: float
    bytes: float
    noun: str = "PE"  # the word for a process, or `rank`
    is_from_timelines: bool = False

    @property
    def with_omissions(self) -> str:
        """`how`, with the time that the trace leaves out."""
        if self.elsewhere <= REPORTED_FROM:
            return self.how
        return f"{self.how}; waits elsewhere, {units.share(self.elsewhere)} of the {self.noun}s' time, are left out"


def read(profile: RunProfile) -> Recorded:
    if not profile.complete:
        raise WattleError(f"{profile.directory}: {profile.noun}s left no profile, so there is nothing to replay")
    messages = float(sum(s.calls for pe in profile.pes for s in pe.sites if s.kind == "transfer"))
    moved = float(sum(s.bytes for pe in profile.pes for s in pe.sites))
    try:
        found = intervals.read(profile)
    except Unfit as why:
        trace, how = _of_sums(profile, str(why))
        own, meeting = _beside(trace, profile)
        return Recorded(trace, own, meeting, how, 0.0, messages, moved, profile.noun)
    trace = Trace(found.computing_s, np.append(found.barrier_s, 0.0))
    how = _described(profile.noun, found.synchronizations, len(found.barrier_s))
    return Recorded(trace, found.own_s, trace.barrier, how, found.elsewhere, messages, moved, profile.noun, True)


def _described(noun: str, total: int, kept: int) -> str:
    some = f", one in {total / kept:.0f} of all," if kept and total > kept else ""
    barriers = f"{units.several(kept, 'barrier')} of all {noun}s{some}"
    return f"from timelines: {barriers} and each {noun}'s own computing between them"


def _of_sums(profile: RunProfile, why: str) -> tuple[Trace, str]:
    pes = profile.pes
    collectives = _count(pes)
    if collectives > limits.COLLECTIVES:
        raise WattleError(
            f"{profile.directory}: all {profile.noun}s synchronized {collectives} times, and at most "
            f"{limits.COLLECTIVES} times can be replayed; `wattle run --timeline` keeps fewer"
        )
    wall = profile.wall_s or 0.0
    active = np.array([min(wall, wall - sum(pe.state_s[stage] or 0.0 for stage in STAGES)) for pe in pes])
    compute = np.repeat(active[np.newaxis, :] / collectives, collectives, axis=0)
    each = max(0.0, wall / collectives - float(compute[0].max()))
    how = (
        f"from the profile's sums: {units.several(collectives, 'barrier')} taken to be alike, so loads that change "
        f"between them are averaged; {why}"
    )
    return Trace(compute, np.full(collectives, each)), how


def _beside(trace: Trace, profile: RunProfile) -> tuple[np.ndarray, np.ndarray]:
    """The waits of each PE in calls that are no synchronizations, and what then remains of the synchronizations."""
    waits = [sum(s.waiting_s or 0.0 for s in pe.sites if not MEET.search(s.call)) for pe in profile.pes]
    collectives = len(trace.barrier)
    whole = trace.compute[0].max(initial=0.0) + trace.barrier[0]
    own = np.minimum(np.array(waits) / collectives, whole - trace.compute[0])
    rest = whole - (trace.compute[0] + own).max(initial=0.0)
    return np.repeat(own[np.newaxis, :], collectives, axis=0), np.full(collectives, rest)


def _count(pes: Sequence[PE]) -> int:
    """The number of synchronizations of all PEs: the smallest count of a PE, and at least 1, because all PEs end."""
    return max(1, min(sum(s.calls for s in pe.sites if MEET.search(s.call)) for pe in pes))
