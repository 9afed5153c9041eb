"""Replays a recorded run with the seconds that a finding saves taken out of each PE.

The part of the saving that was waiting, as the finding's call sites show it, is taken out of the PE's waits between
synchronizations, or shortens the synchronizations where the sites are synchronizations themselves. The rest is taken
out of its computing. All parts are in proportion to their length. The replay then says how much the whole run gains:
time that one PE saves while another sets the pace is waited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wattle.advise.evidence import Evidence, Interval, Spot
from wattle.advise.finding import Finding
from wattle.advise.words import percents
from wattle.base.errors import WattleError
from wattle.sim import recorded
from wattle.sim.recorded import MEET, Recorded
from wattle.sim.replay import Trace


@dataclass(frozen=True)
class Saving:
    """Seconds that a change saves in each PE: of computing, of waits between synchronizations, of these."""

    computing: np.ndarray
    waiting: np.ndarray
    meeting: np.ndarray


def replay_under(facts: Recorded, saving: Saving) -> Trace:
    """The trace of a run under a change. A PE's own waits count as computing, so it takes as long as the run did."""
    compute, more = _less(facts.trace.compute, saving.computing)
    own, most = _less(facts.own_s, saving.waiting + more)
    meetings = float(facts.meeting_s.sum())
    shorter = min(1.0, float((saving.meeting + most).min(initial=np.inf)) / meetings) if meetings else 0.0
    return Trace(compute + own, facts.meeting_s * (1 - shorter))


def _less(seconds: np.ndarray, saved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The seconds of each PE without what it saves, and what it would save beyond them."""
    whole = seconds.sum(axis=0)
    inside = np.minimum(saved, whole)
    return seconds * (1 - np.divide(inside, whole, out=np.zeros_like(whole), where=whole > 0)), saved - inside


def by_timelines(evidence: Evidence) -> Callable[[Finding], Finding]:
    """Replaces the saving of a finding by the one that a replay of the run's timelines shows. A run whose timelines do
    not show its synchronizations confirms nothing, so its findings stay as they are.
    """
    try:
        facts = recorded.read(evidence.profile)
    except WattleError:
        return lambda finding: finding
    if not facts.is_from_timelines:
        return lambda finding: finding
    return lambda finding: finding if finding.not_replayed else _replayed(finding, facts, evidence)


def _replayed(finding: Finding, facts: Recorded, evidence: Evidence) -> Finding:
    pes = [pe.pe for pe in evidence.profile.pes]
    none = np.zeros(len(pes))
    before = _seconds_of(replay_under(facts, Saving(none, none, none)))
    ends = [1 - _seconds_of(replay_under(facts, saving(finding, pes, end))) / before for end in ("lo", "hi")]
    share, was = Interval(min(ends), max(ends)), finding.saved
    joules = was.joules
    if joules is not None:
        lo, hi = (now / old if old else 0.0 for now, old in zip(share.as_list(), was.share.as_list(), strict=True))
        joules = Interval(joules.lo * lo, joules.hi * hi)
    saved = replace(was, share=share, seconds=share.scaled(evidence.ran_s), joules=joules)
    return replace(finding, saved=saved, replayed=f"A replay of the timelines shows it: {percents(share)} of the time.")


def _seconds_of(trace: Trace) -> float:
    """The seconds of a trace in which a PE that waits does nothing else."""
    return float((trace.compute.max(axis=1) + trace.barrier).sum())


def saving(finding: Finding, pes: list[int], end: str) -> Saving:
    """One end of a finding's saving, by the share of waiting in its call sites."""
    saved = np.array([_of_pe(finding, pe, end) for pe in pes])
    spots = finding.saved.spots
    whole = _seconds(spots, pes, "most_s")
    waits, meets = (
        np.divide(_seconds(some, pes, "wait_s"), whole, out=np.zeros(len(pes)), where=whole > 0)
        for some in (spots, [spot for spot in spots if MEET.search(spot.call)])
    )
    return Saving(saved * (1 - waits), saved * (waits - meets), saved * meets)


def _seconds(spots: list[Spot], pes: list[int], name: str) -> np.ndarray:
    return np.array([sum(getattr(spot.of[pe], name) for spot in spots if pe in spot.of) for pe in pes], dtype=float)


def _of_pe(finding: Finding, pe: int, end: str) -> float:
    found = finding.saved.of_pe.get(pe)
    return getattr(found, end) if found is not None else 0.0
