"""`wattle advise --check N`: replays the recorded run with the seconds that a finding saves taken out of each PE.

The part of the saving that was waiting, as the finding's call sites show it, is taken out of the PE's waits between
synchronizations, or shortens the synchronizations where the sites are synchronizations themselves. The rest is taken
out of its computing. All parts are in proportion to their length. The replay then says how much the whole run gains:
time that one PE saves while another sets the pace is waited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wattle.advise.evidence import Spot
from wattle.advise.finding import Finding, Interval
from wattle.advise.given import Given
from wattle.advise.show import wrapped
from wattle.advise.words import percents
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.sim import recorded, replay, simulation
from wattle.sim.recorded import MEET, Recorded
from wattle.sim.replay import Core, Outcome, Policy, Trace
from wattle.text import units
from wattle.text.console import Console
from wattle.text.provenance import in_joules

LEAST = 0.001  # share of the run's time: a replay that saves less shows nothing
AS_IS = Policy("base clock", "spin")
TIMELINE = (
    "The run has no timeline. `wattle run --timeline` records one, and the replay then follows each synchronization."
)


@dataclass(frozen=True)
class Replayed:
    """The replay of a run as it was, and with the least and the most that a finding saves."""

    number: int
    title: str
    rests_on: str  # of the finding
    how: str
    cluster: str
    wall_s: float  # of the recorded run
    ran_s: float  # of it without the time for which PEs had no core
    before: Outcome
    least: Outcome
    most: Outcome

    @property
    def share(self) -> Interval:
        """The saving as a share of the time."""
        ends = [1 - after.seconds / self.before.seconds if self.before.seconds else 0.0 for after in self._after]
        return Interval(min(ends), max(ends))

    @property
    def _after(self) -> tuple[Outcome, Outcome]:
        return self.least, self.most

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "advice-check",
            **fields(self, "number title"),
            "replay": self.how,
            "here": {
                "wall_s": self.wall_s,
                "with_core_s": self.ran_s,
                "saved_s": self.share.scaled(self.wall_s).as_list(),
            },
            "cluster": {
                "name": self.cluster,
                "provenance": "modelled",
                "before": _outcome(self.before),
                "least": _outcome(self.least),
                "most": _outcome(self.most),
            },
        }


def _outcome(found: Outcome) -> dict[str, float]:
    return {"seconds": found.seconds, "joules": found.joules, "uncertainty": found.doubt}


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


def check(given: Given, number: int, cluster: str) -> Replayed:
    """Replays finding `number`, from 1, on a described cluster. Raises WattleError if the run cannot be replayed, or if
    a replay does not show the finding's change.
    """
    finding, profile = given.findings[number - 1], given.evidence.profile
    if finding.not_replayed:
        raise WattleError(f"--check {number}: {finding.not_replayed}")
    facts = recorded.read(profile)
    core = replay.core_of(simulation.to_replay(cluster))
    pes = [pe.pe for pe in profile.pes]
    none = np.zeros(len(pes))
    before = _run(replay_under(facts, Saving(none, none, none)), core)
    least, most = (_run(replay_under(facts, _saving(finding, pes, end)), core) for end in ("lo", "hi"))
    return Replayed(
        number,
        finding.advice.title,
        finding.advice.rests_on,
        facts.how,
        cluster,
        given.evidence.wall_s,
        given.evidence.ran_s,
        before,
        least,
        most,
    )


def _saving(finding: Finding, pes: list[int], end: str) -> Saving:
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


def _run(trace: Trace, core: Core) -> Outcome:
    return replay.run(trace, core, AS_IS)


def show(checked: Replayed, console: Console) -> None:
    wrapped(console, f"{checked.number}. {checked.title}", "title")
    wrapped(console, f"Replayed {checked.how.rstrip('.')}.")
    if checked.how.startswith("from the profile"):
        wrapped(console, TIMELINE, "faint")
    wrapped(console, here(checked))
    wrapped(console, f"On {checked.cluster}, modelled:")
    for name, found in (("as it is", checked.before), ("least saved", checked.least), ("most saved", checked.most)):
        joules = in_joules(found.joules, found.doubt)
        console.print(f"  {name:13} {units.seconds(found.seconds)}, {joules}", soft_wrap=True)


def here(checked: Replayed) -> str:
    """The saving on this machine, or that there is none, with the basis of the finding."""
    if checked.share.hi < LEAST:
        return (
            "Here: nothing. The replay saves less than 0.1 % of the run's time: the saved seconds become waits. "
            f"The finding does not rest on the replay. It rests on this: {checked.rests_on}"
        )
    share = Interval(checked.share.lo if checked.share.lo >= LEAST else 0.0, checked.share.hi)
    saved = share.scaled(checked.wall_s)
    shown = percents(Interval(saved.lo / checked.wall_s, min(1.0, saved.hi / checked.ran_s)))  # as of a finding
    return f"Here: {units.seconds(saved.lo)} to {units.seconds(saved.hi)}, {shown} of the run's time."
