"""What a plan should cost, by the model.

Time. A PE that computes for c seconds at the base clock does so for at most c x base / clock at another, were all of it
bound by the clock; what is bound by memory takes no longer at all. The run lasts as long as before, but where a PE then
computes for longer than the one that did longest before: by the difference. So the time is the most that it can be.

Energy. For each PE, its seconds in each state times the watts of that state at its clock; what it computes longer it
waits less. To that comes what the nodes draw anyway, for as long as it lasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wattle.pe import PE, STAGES
from wattle.plan.machine import Clock, Clocks
from wattle.provenance import Joules, Provenance


@dataclass(frozen=True)
class Prediction:
    """`time_s` is the most it can be."""

    name: str
    time_s: float
    joules: Joules


def active_s(pe: PE) -> float:
    return pe.state_s["active"] or 0.0


def waiting_s(pe: PE) -> float:
    return sum(pe.state_s[stage] or 0.0 for stage in STAGES)


def predict(
    name: str, pes: Sequence[PE], clock_of: Mapping[int, Clock], clocks: Clocks, wall_s: float, nodes: int
) -> Prediction:
    longest = max(active_s(pe) for pe in pes)
    stretched = {pe.pe: active_s(pe) * _factor(clock_of[pe.pe], clocks) for pe in pes}
    time_s = wall_s + max(0.0, max(stretched.values()) - longest)
    value, doubt = time_s * nodes * clocks.idle.value, time_s * nodes * clocks.idle.plus_minus
    for pe in pes:
        watts = clock_of[pe.pe].by_state
        waits = max(0.0, time_s - stretched[pe.pe])
        seconds = {"active": stretched[pe.pe]} | _shares(pe, waits)
        value += sum(s * watts[state].value for state, s in seconds.items())
        doubt += sum(s * watts[state].plus_minus for state, s in seconds.items())
    source = f"model {clocks.profile}"
    return Prediction(name, time_s, Joules(value, doubt, Provenance.MODELLED, source, "node", "cpu", time_s, time_s))


def _factor(clock: Clock, clocks: Clocks) -> float:
    return clocks.base.ghz / clock.ghz


def _shares(pe: PE, waits: float) -> dict[str, float]:
    """Waiting by stage, in the proportions it had; a PE that never waited will sleep."""
    before = waiting_s(pe)
    if before == 0:
        return {"asleep": waits}
    return {stage: waits * (pe.state_s[stage] or 0.0) / before for stage in STAGES}
