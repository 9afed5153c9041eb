"""`wattle sim --what-if DIR`: ranks clocks, ways to wait, networks and plans for a recorded run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.clocks.choice import check_slowdown, choose
from wattle.record import jobs, runs
from wattle.record import manifest as manifests
from wattle.sim import cluster as clusters
from wattle.sim import recorded, replay, simulation
from wattle.sim.recorded import Recorded
from wattle.sim.replay import Core, Outcome, Policy, Trace
from wattle.text import console, units
from wattle.text.console import plain, styled
from wattle.text.tables import table
from wattle.text.units import si

WAITS = ("spin", "yield", "sleep", "adaptive")
RANKS: dict[str, Callable[[Outcome], float]] = {
    "energy": lambda o: o.joules,
    "time": lambda o: o.seconds,
    "edp": lambda o: o.edp,
}
MOST_PLANES = 5  # largest number of clocks that are tried for all PEs together


@dataclass(frozen=True)
class Choice:
    """One way to run the job. `allowed`: within the slowdown limit. `sure`: its saving keeps its sign for all numbers
    within their ranges. `left`: the share of the saving of the oracle with the same way to wait that it does not
    reach.
    """

    outcome: Outcome
    oracle: Outcome
    slower: float
    saved: float
    sure: bool
    left: float | None
    allowed: bool

    def as_dict(self) -> dict[str, Any]:
        o = self.outcome
        return {
            "wait": o.policy.wait,
            "clocks": o.policy.name,
            "time_s": o.seconds,
            "joules": o.joules,
            "uncertainty": o.doubt,
            "provenance": "modelled",
            "edp": o.edp,
            "slowdown_percent": self.slower,
            "saved_percent": self.saved,
            "sign_is_sure": self.sure,
            "oracle_joules": self.oracle.joules,
            "allowed": self.allowed,
        }


@dataclass(frozen=True)
class Answer:
    source: str
    how: str
    machine: str
    network: str
    rank: str
    base: Outcome
    choices: list[Choice]


def ask(directory: Path, cluster: str, slowdown: float, rank: str, network: str | None) -> Answer:
    """The ranked choices. `slowdown`: accepted percent of time. `network`: another one, for a simulated run only."""
    if rank not in RANKS:
        raise WattleError(f"--rank {rank}: expected one of {', '.join(RANKS)}")
    check_slowdown(slowdown)
    found = runs.load(directory)
    jobs.note(found)
    profile = found.middle.profile
    if profile is None:
        raise WattleError(f"{directory}: the run has no profile, so there is nothing to replay")
    machine = simulation.to_replay(cluster)
    facts = recorded.read(profile)
    core = replay.core_of(machine)
    # The manifest of a run on a real machine has no such part.
    was = Checked(directory / manifests.FILE, found.manifest.extra.get("simulated") or {}, "simulated")
    trace = facts.trace if network is None else _on_network(facts, was, network)
    base = replay.run(trace, core, Policy("base clock", "spin"))
    choices = [_judge(trace, core, policy, base, slowdown) for policy in policies(trace, core)]
    choices.sort(key=lambda c: (not c.allowed, RANKS[rank](c.outcome)))
    on = network or (was.name("network") if was.has("network") else "as recorded")
    return Answer(str(directory), facts.with_omissions, cluster, on, rank, base, choices)


def policies(trace: Trace, core: Core) -> list[Policy]:
    """Each way to wait with each way to set clocks."""
    plans = [Policy("base clock")]
    for c in _some(core.base):
        plans.append(Policy(f"all at {core.names[c]:g} GHz", clocks=(c,) * trace.pes))
    if planned := plan_of(trace, core):
        plans.append(Policy("plan", clocks=planned))
    plans += [
        Policy("energy, reactive", reactive=True),
        Policy("energy, proactive", stretches=True),
        Policy("performance, proactive", raises=True),
        Policy("hybrid, proactive", raises=True, stretches=True),
    ]
    return [replace(plan, wait=wait) for wait in WAITS for plan in plans]


def plan_of(trace: Trace, core: Core) -> tuple[int, ...] | None:
    """A clock for each PE as `wattle plan` chooses it; None where all get the base clock."""
    base = replay.run(trace, core, Policy("base clock", "spin"))
    active = trace.compute.sum(axis=0)
    names = core.names

    def at_least(ghz: float) -> float:
        return next((c for c in names if c >= ghz * (1 - 1e-9)), names[core.base])

    chosen = choose(list(base.seconds - active), list(active), base.seconds, names[core.base], at_least)
    found = tuple(names.index(ghz) for ghz in chosen)
    return None if set(found) == {core.base} else found


def _some(base: int) -> list[int]:
    n = min(base, MOST_PLANES)
    return sorted({round(k * (base - 1) / max(1, n - 1)) for k in range(n)}) if n else []


def _judge(trace: Trace, core: Core, policy: Policy, base: Outcome, slowdown: float) -> Choice:
    outcome = replay.run(trace, core, policy)
    bound = replay.run(trace, core, replay.oracle(policy.wait))
    slower = 100 * (outcome.seconds / base.seconds - 1)
    gap = base.joules - bound.joules
    return Choice(
        outcome,
        bound,
        slower,
        100 * (1 - outcome.joules / base.joules),
        keeps_sign(trace, core, policy, base.joules > outcome.joules),
        (outcome.joules - bound.joules) / gap if gap > 0 else None,
        slower <= slowdown,
    )


def keeps_sign(trace: Trace, core: Core, policy: Policy, saves: bool) -> bool:
    """Whether the sign of the saving is the same with the watts at both ends of their ranges, for each state alone and
    for all together. A number of the profile errs in the same way in both runs.
    """
    for states in ([s] for s in replay.STATES):
        for sign in (-1, 1):
            if _saves_with(trace, core, policy, states, sign) != saves:
                return False
    return all(_saves_with(trace, core, policy, list(replay.STATES), sign) == saves for sign in (-1, 1))


def _saves_with(trace: Trace, core: Core, policy: Policy, states: list[str], sign: int) -> bool:
    watts = {s: np.maximum(0, w + sign * core.doubt[s]) if s in states else w for s, w in core.watts.items()}
    other = replace(core, watts=watts)
    return replay.run(trace, other, policy).joules < replay.run(trace, other, Policy("base clock", "spin")).joules


def _on_network(facts: Recorded, was: Checked, name: str) -> Trace:
    """The trace on another network: synchronizations and transfers change by the difference of the two networks'
    numbers. Only a simulated run has the numbers of its network.
    """
    if not was.has("numbers"):
        raise WattleError(
            f"--network {name}: the run was not simulated, so the time of its network is not known separately"
        )
    numbers = was.get("numbers")
    before = {key: numbers.get(key).known("value") for key in ("message", "byte", "receive") if numbers.has(key)}
    before |= {key: numbers.get(key).positive("value") for key in ("latency", "bandwidth")}
    after = {key: number.value for key, number in clusters.network(name).items()}

    def message(of: dict[str, float]) -> float:
        return of["latency"] + of["message"] + of.get("receive", of["message"])

    def byte(of: dict[str, float]) -> float:
        return 1 / of["bandwidth"] + 2 * of["byte"]

    trace = facts.trace
    each = 1 / (trace.pes * len(trace.compute))
    moved = facts.messages * (message(after) - message(before)) + facts.bytes * (byte(after) - byte(before))
    return Trace(np.maximum(0.0, trace.compute + moved * each), trace.barrier * message(after) / message(before))


# ---- output ----


def document(answer: Answer) -> dict[str, Any]:
    return {
        "schema": 1,
        "run": answer.source,
        "trace": answer.how,
        "machine": answer.machine,
        "network": answer.network,
        "against": {
            "wait": "spin",
            "clocks": "base clock",
            "time_s": answer.base.seconds,
            "joules": answer.base.joules,
        },
        "choices": [choice.as_dict() for choice in answer.choices],
    }


HEADS = ("wait", "clocks", "time", "slower", "joules", "saved", "oracle")


def show(answer: Answer, most: int = 12) -> None:
    shown = table(title=styled("What if: {}\non {}, network {}", answer.source, answer.machine, answer.network))
    of_edp = answer.rank == "edp"
    heads = [f"EDP {head}" if head == "saved" and of_edp else head for head in HEADS]
    for head in heads:
        shown.add_column(head, justify="left" if head in heads[:2] else "right", no_wrap=True)
    for choice in answer.choices[:most]:
        o, base = choice.outcome, answer.base
        shown.add_row(
            o.policy.wait,
            o.policy.name,
            units.seconds(o.seconds),
            f"{units.percent(choice.slower)}{'' if choice.allowed else ' !'}",
            si(o.joules, "J"),
            units.percent(100 * (1 - o.edp / base.edp))
            if of_edp
            else f"{units.percent(choice.saved)}{'' if choice.sure else ' ?'}",
            units.percent(100 * (1 - choice.oracle.joules / base.joules)),
        )
    console.out.print(shown)
    first = f"spinning at the base clock ({units.seconds(answer.base.seconds)}, {si(answer.base.joules, 'J')})"
    hidden = (
        f"The first {most} of {len(answer.choices)} choices; --json has all. " if len(answer.choices) > most else ""
    )
    words = (
        f"{hidden}Joules are modelled. Slower, {'EDP saved' if of_edp else 'saved'}, and joules that the oracle "
        f"would save: against {first}. !: slower than allowed; ?: the profile's numbers leave the sign open. "
        f"{answer.how[0].upper() + answer.how[1:]}."
    )
    console.out.print(plain(words, "faint"))
