"""Replays a job of work and synchronizations under other clocks and ways to wait, and computes its time and joules.

A trace holds the computing time of each PE before each synchronization, at the base clock, and the time of the
synchronization after the last arrival. All computing is assumed to scale with the clock, so the predicted cost of a
lower clock is an upper bound. A PE waits as the policy says. Waking up and changing the clock take the time of the
simulated machine and the watts of computing, as in the simulator.

The oracle knows how long each wait will be. It spends each wait in the cheapest way that ends in time: another clock
for the computing, another clock for the wait, or sleep with an early wake-up. It never raises a clock above the base
clock and loses no time. A policy with the same choices that must predict its waits cannot use fewer joules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from wattle.sim import platform
from wattle.sim.simulation import Simulation

STATES = ("active", "spin", "yield", "asleep")
RECENT = 4  # synchronizations after which a learning policy predicts, as the governor does
# slack that the governor leaves: at most 1/16 of a region, and twice the span of earlier instances
SPARE, SPANS = 16, 2


@dataclass(frozen=True)
class Trace:
    """A trace. `compute`: seconds by synchronization and PE, at the base clock. `barrier`: seconds by synchronization,
    from the last arrival until all PEs continue.
    """

    compute: np.ndarray
    barrier: np.ndarray

    @property
    def pes(self) -> int:
        return int(self.compute.shape[1])


@dataclass(frozen=True)
class Core:
    """The watts and prices of a machine's core. `ghz`: real speeds of its clocks, rising. `watts`: by state, at each
    clock; `doubt`: their half-widths. `always_w`: its share of the idle node, memory included.
    """

    names: tuple[float, ...]
    ghz: np.ndarray
    base: int
    watts: dict[str, np.ndarray]
    doubt: dict[str, np.ndarray]
    always_w: float
    always_doubt: float
    wake_s: float
    change_s: float


def core_of(machine: Simulation) -> Core:
    node, cluster = machine.core, machine.cluster
    clocks = sorted(node.clocks, key=lambda clock: clock.ghz)
    rows = [node.rows["idle.cpu"], node.rows["idle.dram"]]
    always, doubt = (sum(float(row[key]) for row in rows) * node.share for key in ("value", "plus_minus"))
    return Core(
        tuple(clock.ghz for clock in clocks),
        np.array([platform.speed_ghz(cluster, node, clock) for clock in clocks]),
        next(i for i, clock in enumerate(clocks) if clock.base),
        {s: np.array([float(c.watts[s]["value"]) for c in clocks]) for s in STATES},
        {s: np.array([float(c.watts[s]["plus_minus"]) for c in clocks]) for s in STATES},
        always,
        doubt,
        cluster.value("wake"),
        cluster.value("clock_change"),
    )


@dataclass(frozen=True)
class Policy:
    """A policy. `wait`: spin, yield, sleep or adaptive. `clocks`: a clock index for each PE; None for the base clock.
    `reactive`: the lowest clock in waits longer than two clock changes, seen or predicted. `raises`: PEs that hardly
    wait get the highest clock. `stretches`: after some instances, PEs get the lowest clock at which they still
    arrive in time. `knows`: the oracle, which may do all of these. `sleeps`: the oracle may sleep, too.
    """

    name: str
    wait: str = "spin"
    clocks: tuple[int, ...] | None = None
    reactive: bool = False
    raises: bool = False
    stretches: bool = False
    knows: bool = False
    sleeps: bool = False


@dataclass
class Outcome:
    """The result for all PEs of a job. `doubt`: the half-width of the joules, from the profile."""

    policy: Policy
    seconds: float = 0.0
    joules: float = 0.0
    doubt: float = 0.0
    by_state: dict[str, float] = field(default_factory=dict)

    @property
    def edp(self) -> float:
        return self.joules * self.seconds


def run(trace: Trace, core: Core, policy: Policy) -> Outcome:
    out = Outcome(policy)
    late = np.zeros(trace.pes)  # delay of each PE at the start of an instance: it woke up or changed its clock
    seen: list[np.ndarray] = []
    for compute, barrier in zip(trace.compute, trace.barrier, strict=True):
        clock = _clocks(trace, core, policy, seen, late)
        took = compute * core.ghz[core.base] / core.ghz[clock]
        arrives = late + took
        end = float(arrives.max()) + float(barrier)
        waits = end - arrives
        _spend(out, core, "active", took, clock)
        late = (
            _oracle(out, core, policy, compute, end) if policy.knows else _wait(out, core, policy, clock, waits, seen)
        )
        out.seconds += end
        seen.append(waits)
    out.seconds += float(late.max())
    out.joules += core.always_w * out.seconds * trace.pes
    out.doubt += core.always_doubt * out.seconds * trace.pes
    return out


def _spend(out: Outcome, core: Core, state: str, seconds: np.ndarray, clock: np.ndarray, sign: int = 1) -> None:
    joules = sign * float((core.watts[state][clock] * seconds).sum())
    out.joules += joules
    out.doubt += sign * float((core.doubt[state][clock] * seconds).sum())
    out.by_state[state] = out.by_state.get(state, 0.0) + joules


def _clocks(trace: Trace, core: Core, policy: Policy, seen: list[np.ndarray], late: np.ndarray) -> np.ndarray:
    """The clock at which each PE computes."""
    found = np.full(trace.pes, core.base)
    if policy.clocks is not None:
        return np.array(policy.clocks)
    if len(seen) < RECENT or not (policy.raises or policy.stretches):
        return found
    least = np.min(seen[:RECENT], axis=0)
    worth = 2 * core.change_s
    if policy.raises and float(least.max()) > worth:
        found[np.max(seen[:RECENT], axis=0) <= core.change_s] = len(core.ghz) - 1
    if policy.stretches:
        wholes = trace.compute[:RECENT] + np.array(seen[:RECENT])
        took, whole = trace.compute[:RECENT].max(axis=0), wholes.min(axis=0)
        spans = np.ptp(wholes, axis=0) + np.ptp(trace.compute[:RECENT], axis=0)
        span = whole - np.maximum(np.minimum(whole / SPARE, SPANS * spans), core.change_s)
        needs = np.minimum(1.0, took / np.maximum(span - core.change_s, 1e-12)) * core.ghz[core.base]
        lower = np.searchsorted(core.ghz, needs * (1 - 1e-9))
        may = (least > worth) & (found == core.base)
        found = np.where(may, np.minimum(lower, core.base), found)
    return found


def _wait(
    out: Outcome, core: Core, policy: Policy, clock: np.ndarray, waits: np.ndarray, seen: list[np.ndarray]
) -> np.ndarray:
    """Spends the waits. Returns how much later than the end of the synchronization each PE continues."""
    late = np.zeros(len(waits))
    looks = {"spin": np.inf, "yield": np.inf, "sleep": 0.0, "adaptive": core.wake_s}[policy.wait]
    on = np.minimum(waits, looks)
    sleeps = waits > looks
    low = np.zeros(len(waits), dtype=int)
    worth = 2 * core.change_s
    predicted = np.min(seen[-RECENT:], axis=0) > worth if len(seen) >= RECENT else np.zeros(len(waits), dtype=bool)
    turns = np.where(predicted, 0.0, worth)
    changed = policy.reactive & (waits > turns) & (clock > low) & (on > turns)
    before = np.where(changed, np.minimum(on, turns), on)
    state = "yield" if policy.wait == "yield" else "spin"
    _spend(out, core, state, before, clock)
    _spend(out, core, "active", np.where(changed, 2 * core.change_s, 0.0), clock)
    _spend(out, core, state, np.where(changed, np.maximum(on - before - core.change_s, 0.0), 0.0), low)
    late += np.where(changed, core.change_s, 0.0)
    _spend(out, core, "asleep", np.where(sleeps, waits - on, 0.0), clock)
    _spend(out, core, "active", np.where(sleeps, core.wake_s, 0.0), clock)
    return late + np.where(sleeps, core.wake_s, 0.0)


def _oracle(out: Outcome, core: Core, policy: Policy, compute: np.ndarray, end: float) -> np.ndarray:
    """Replaces the cost of computing at the base clock by the cheapest way to spend the instance."""
    base = np.full(len(compute), core.base)
    _spend(out, core, "active", compute, base, -1)
    best = np.full(len(compute), np.inf)
    pick: list[np.ndarray] = [np.zeros(len(compute)) for _ in range(4)]  # seconds: active, spin, asleep; then clocks
    low = np.zeros(len(compute), dtype=int)
    spin_clock = base.copy()
    for c in range(core.base + 1):
        took = compute * core.ghz[core.base] / core.ghz[c]
        rest = end - took
        ways = [(took, rest, 0.0 * rest, c)]
        if c > 0:
            ways.append((took + 2 * core.change_s, rest - 2 * core.change_s, 0.0 * rest, 0))
        if policy.sleeps:
            ways.append((took + core.wake_s, 0.0 * rest, rest - core.wake_s, c))
        for active, spin, asleep, at in ways:
            joules = active * core.watts["active"][c] + spin * core.watts["spin"][at] + asleep * core.watts["asleep"][c]
            better = (spin > -1e-12) & (asleep > -1e-12) & (joules < best)
            best = np.where(better, joules, best)
            for k, value in enumerate((active, spin, asleep)):
                pick[k] = np.where(better, value, pick[k])
            pick[3] = np.where(better, c, pick[3])
            spin_clock = np.where(better, at, spin_clock)
    clock = pick[3].astype(int)
    _spend(out, core, "active", pick[0], clock)
    _spend(out, core, "spin", np.maximum(pick[1], 0.0), spin_clock)
    _spend(out, core, "asleep", np.maximum(pick[2], 0.0), np.where(low >= 0, clock, low))
    return np.zeros(len(compute))


def oracle(wait: str) -> Policy:
    """The oracle for a way to wait: by clocks only where it never sleeps, else by sleep too."""
    sleeps = wait in ("sleep", "adaptive")
    return Policy("oracle: clocks and sleep" if sleeps else "oracle: clocks", wait, knows=True, sleeps=sleeps)


def fixed(policy: Policy, clock: int, pes: int) -> Policy:
    return replace(policy, clocks=(clock,) * pes)
