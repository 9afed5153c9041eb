"""`wattle advise --check N`: replays the recorded run under a finding's change (replayed.py), also on a described
cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wattle.advise.evidence import Interval
from wattle.advise.given import Given
from wattle.advise.replayed import Saving, replay_under, saving
from wattle.advise.show import wrapped
from wattle.advise.words import percents
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.sim import recorded, replay, simulation
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
    least, most = (_run(replay_under(facts, saving(finding, pes, end)), core) for end in ("lo", "hi"))
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
