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
from wattle.plan.machine import Clock, Clocks, Watts
from wattle.provenance import Joules, Provenance

IDLE = "idle"
PARTS = ("value", "plus_minus")


@dataclass(frozen=True)
class Prediction:
    """`time_s` is the most it can be. `seconds`: of all PEs, by state and clock; "idle": of the nodes."""

    name: str
    time_s: float
    joules: Joules
    seconds: Mapping[tuple[str, float], float]


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
    seconds: dict[tuple[str, float], float] = {(IDLE, clocks.base.ghz): time_s * nodes}
    for pe in pes:
        waits = max(0.0, time_s - stretched[pe.pe])
        for state, s in ({"active": stretched[pe.pe]} | _shares(pe, waits)).items():
            key = (state, clock_of[pe.pe].ghz)
            seconds[key] = seconds.get(key, 0.0) + s
    value, doubt = (sum(s * getattr(_watts(clocks, key), part) for key, s in seconds.items()) for part in PARTS)
    source = f"model {clocks.profile}"
    joules = Joules(value, doubt, Provenance.MODELLED, source, "node", "cpu", time_s, time_s)
    return Prediction(name, time_s, joules, seconds)


def saved(before: Prediction, after: Prediction, clocks: Clocks) -> Watts:
    """Joules, below 0 where more. A wrong number of the profile is wrong in both: the half-width counts only the
    seconds by which they differ."""
    keys = {*before.seconds, *after.seconds}
    less = {key: before.seconds.get(key, 0.0) - after.seconds.get(key, 0.0) for key in keys}
    value = sum(s * _watts(clocks, key).value for key, s in less.items())
    return Watts(value, sum(abs(s) * _watts(clocks, key).plus_minus for key, s in less.items()))


def _watts(clocks: Clocks, key: tuple[str, float]) -> Watts:
    state, ghz = key
    return clocks.idle if state == IDLE else clocks.at_least(ghz).by_state[state]


def _factor(clock: Clock, clocks: Clocks) -> float:
    return clocks.base.ghz / clock.ghz


def _shares(pe: PE, waits: float) -> dict[str, float]:
    """Waiting by stage, in the proportions it had; a PE that never waited will sleep."""
    before = waiting_s(pe)
    if before == 0:
        return {"asleep": waits}
    return {stage: waits * (pe.state_s[stage] or 0.0) / before for stage in STAGES}
