"""Predicts time and joules of a plan by the model.

Time: a PE that computes for c seconds at the base clock needs at most c x base / clock at another clock. This bound
is reached if the clock limits all of its work; work limited by memory takes no longer. The run becomes longer only
where a PE then computes for longer than the busiest PE did before, and by that difference. So the predicted time is
an upper bound.

Energy: for each PE, its seconds in each state times the watts of that state at its clock. The additional computing
replaces waiting. The idle watts of the nodes are added for the duration of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wattle.plan.machine import Clock, Clocks, Watts
from wattle.record.pe import PE, STAGES
from wattle.text.provenance import Joules, Provenance

IDLE = "idle"
PARTS = ("value", "plus_minus")


@dataclass(frozen=True)
class Prediction:
    """A prediction. `time_s`: an upper bound. `seconds`: of all PEs by state and clock; "idle": of the nodes."""

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
    """The joules saved, below 0 where more are needed. A wrong number of the profile is wrong in both predictions, so
    the half-width counts only the seconds by which they differ.
    """
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
    """The waiting by stage, in the run's proportions. A PE that did not wait is assumed to sleep."""
    before = waiting_s(pe)
    if before == 0:
        return {"asleep": waits}
    return {stage: waits * (pe.state_s[stage] or 0.0) / before for stage in STAGES}
