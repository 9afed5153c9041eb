"""A job as work and meetings, and what it takes and draws under other clocks and ways to wait.

A trace says how long each PE computes before each meeting, at the base clock, and how much longer the meeting itself
takes once the last has come. All of the computing is taken to follow the clock, so a lower clock costs the most time
that it can. Who waits does so as the policy says; waking up and changing the clock take what the simulated machine
says, and draw what computing does, as in the simulator.

The oracle knows how long each wait will be. It takes the cheapest way to spend it that is over in time: another
clock for the computing, another for the wait, or sleep with the waking up begun in time. It raises no clock above
the base clock and loses no time; nothing that has to find out how long waits are can draw less with the same
choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from wattle.sim import platform
from wattle.sim.simulation import Simulation

STATES = ("active", "spin", "yield", "asleep")
RECENT = 4  # meetings after which a policy that learns believes what it has seen, as the governor does
SPARE, SPANS = 16, 2  # of a region what the governor leaves unused at most, and of the span of what it has seen


@dataclass(frozen=True)
class Trace:
    """`compute`: seconds by meeting and PE, at the base clock. `meeting`: seconds by meeting, from the last arrival
    to all going on."""

    compute: np.ndarray
    meeting: np.ndarray

    @property
    def pes(self) -> int:
        return int(self.compute.shape[1])


@dataclass(frozen=True)
class Core:
    """What a machine's core draws and takes. `ghz`: real speeds of its clocks, rising; `watts`: by state, at each;
    `doubt`: half the width of their range. `always_w`: its share of the idle node, memory included."""

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
    """`wait`: spin, yield, sleep or adaptive. `clocks`: index of a clock for each PE, None for the base clock.
    `reactive`: the lowest clock in a wait that has lasted, or is known to last, longer than two changes. `raises`:
    PEs that hardly wait get the highest clock. `stretches`: PEs get the lowest clock at which they still come in
    time, once they have been seen. `knows`: the oracle, which may do all of that; `sleeps`: it may sleep, too."""

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
    """Of a whole job, all PEs together; `doubt`: half the width of the joules' range, as the profile has it."""

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
    late = np.zeros(trace.pes)  # begins an instance so much after the others: it had to wake up, or to change its clock
    seen: list[np.ndarray] = []
    for compute, meeting in zip(trace.compute, trace.meeting, strict=True):
        clock = _clocks(trace, core, policy, seen, late)
        took = compute * core.ghz[core.base] / core.ghz[clock]
        arrives = late + took
        end = float(arrives.max()) + float(meeting)
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
    """What each PE computes at."""
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
        room = whole - np.maximum(np.minimum(whole / SPARE, SPANS * spans), core.change_s)
        needs = np.minimum(1.0, took / np.maximum(room - core.change_s, 1e-12)) * core.ghz[core.base]
        lower = np.searchsorted(core.ghz, needs * (1 - 1e-9))
        may = (least > worth) & (found == core.base)
        found = np.where(may, np.minimum(lower, core.base), found)
    return found


def _wait(
    out: Outcome, core: Core, policy: Policy, clock: np.ndarray, waits: np.ndarray, seen: list[np.ndarray]
) -> np.ndarray:
    """Spends the waits; how much later each PE goes on than the meeting lets it."""
    late = np.zeros(len(waits))
    looks = {"spin": np.inf, "yield": np.inf, "sleep": 0.0, "adaptive": core.wake_s}[policy.wait]
    on = np.minimum(waits, looks)
    sleeps = waits > looks
    low = np.zeros(len(waits), dtype=int)
    worth = 2 * core.change_s
    foretold = np.min(seen[-RECENT:], axis=0) > worth if len(seen) >= RECENT else np.zeros(len(waits), dtype=bool)
    turns = np.where(foretold, 0.0, worth)
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
    """Takes back what computing at the base clock cost, and spends the instance as cheaply as can be."""
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
    """The bound for a way to wait: the clocks' alone where it never sleeps, else sleep's too."""
    sleeps = wait in ("sleep", "adaptive")
    return Policy("oracle: clocks and sleep" if sleeps else "oracle: clocks", wait, knows=True, sleeps=sleeps)


def fixed(policy: Policy, clock: int, pes: int) -> Policy:
    return replace(policy, clocks=(clock,) * pes)
