"""Finds the best plan by replaying the run on a simulated machine, synchronization by synchronization.

The candidates are the groups of PEs that `wattle plan` makes, with different amounts of spare time. The result is
the candidate with the least joules within the slowdown limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wattle.clocks.choice import choose
from wattle.record.profile import RunProfile
from wattle.sim import recorded, replay, simulation
from wattle.sim.replay import Core, Outcome, Policy, Trace

SPARES = (0.0, 1 / 64, 1 / 32, 1 / 16, 1 / 8)
WAIT = "spin"  # the policy of the papers' baseline; under another one a plan saves less, and costs no more time


@dataclass(frozen=True)
class Found:
    """The best plan. `ghz`: by PE. `oracle`: with each wait's length known. `how`: the origin of the trace."""

    ghz: list[float]
    standard: Outcome
    reduced: Outcome
    hybrid: Outcome
    oracle: Outcome
    how: str
    profile: str


def best(profile: RunProfile, cluster: str, slowdown: float) -> Found:
    """The best plan. `slowdown`: percent of time that it may cost."""
    machine = simulation.to_replay(cluster)
    core, facts = replay.core_of(machine), recorded.read(profile)
    standard = replay.run(facts.trace, core, Policy("base clock", WAIT))
    tried = [
        (clocks, replay.run(facts.trace, core, Policy("plan", WAIT, clocks)))
        for clocks in candidates(facts.trace, core)
    ]
    allowed = [pair for pair in tried if pair[1].seconds <= standard.seconds * (1 + slowdown / 100)]
    clocks, hybrid = min(allowed, key=lambda pair: pair[1].joules)
    return Found(
        [core.names[c] for c in clocks],
        standard,
        replay.run(facts.trace, core, Policy("all low", WAIT, (min(clocks),) * len(clocks))),
        hybrid,
        replay.run(facts.trace, core, replay.oracle(WAIT)),
        facts.with_omissions,
        machine.core.profile,
    )


def candidates(trace: Trace, core: Core) -> Sequence[tuple[int, ...]]:
    """Candidate plans as clocks by PE. The first leaves all PEs at the base clock and costs no time."""
    standard = replay.run(trace, core, Policy("base clock", WAIT))
    active = trace.compute.sum(axis=0)
    names, base = core.names, core.names[core.base]

    def at_least(ghz: float) -> float:
        return next((c for c in names if c >= ghz * (1 - 1e-9)), base)

    found = [(core.base,) * trace.pes]
    for spare in SPARES:
        chosen = choose(list(standard.seconds - active), list(active), standard.seconds, base, at_least, spare)
        found.append(tuple(names.index(ghz) for ghz in chosen))
    return list(dict.fromkeys(found))
