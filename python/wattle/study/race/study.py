"""The study of "race to halt": jobs, processes and phases at each clock."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.clocks.choice import choose
from wattle.machine.paths import find_home
from wattle.study.options import QUICK, ROUNDS
from wattle.study.place import check_place
from wattle.study.race import own
from wattle.study.race.judges import (
    BOUND_BY_MEMORY,
    JOBS,
    ONLINE,
    PHASES,
    PROCESSES,
    REDUCED_GHZ,
    ROWS,
    STEPS_CR,
    clusters_of,
)
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.family import Sweep, costs
from wattle.study.sweep.plan import TURNS, Job, Plan
from wattle.text import units

PES = 2
MOST_PES = 100_000  # of a user's program
PROCESS_PES, QUICK_PROCESS_PES = 8, 4
ARRAYS_MIB, QUICK_ARRAYS_MIB = 192, 48  # of each PE; larger than most last-level caches
SIMULATED_ARRAYS_MIB = 24  # more than a core's part of any cache
KERNELS = 5
REPEATS = 3
SIMULATED_PES, SIMULATED_PROCESSES = 16, 360  # PEs of one of the papers' nodes, and processes of their BT-MZ
GOVERNED = (("baseline", "proactive"), ("energy", "reactive"), ("hybrid", "reactive"), ("hybrid", "proactive"))


def _programs(plan: Plan) -> list[tuple[str, tuple[str, ...]]]:
    """Mini-apps with inputs that take tenths of a second. Memory bounds the last one."""
    cities = find_home().shared("apps") / "tsp" / "data" / "tsp14.txt"
    repeats = str(plan.repeats(REPEATS))
    arrays, work, instances = (ARRAYS_MIB, "20", "20") if not plan.quick else (QUICK_ARRAYS_MIB, "5", "10")
    if plan.simulated:
        arrays, work, instances = SIMULATED_ARRAYS_MIB, "5", "4"
    memory = ("--work", work, "--turns", TURNS, "--instances", instances, "--warm", "0", "--repeat", repeats)
    return [
        ("mst-am", ("--json", "--repeat", repeats, "--edges", "300000" if plan.quick else "2000000")),
        ("tsp-am", ("--json", "--repeat", repeats, str(cities))),
        ("tsp-steal", ("--json", "--repeat", repeats, str(cities))),
        ("slack", (*memory, "--kernel", BOUND_BY_MEMORY, "--arrays", str(arrays), "1")),
    ]


def _at(clock: float | None, pes: int) -> tuple[tuple[str, str], ...]:
    return () if clock is None else (("WATTLE_CLOCKS", f"0-{pes - 1}={clock:g}"),)


def _clocks(plan: Plan) -> list[float]:
    """Some clocks, with the base clock, the papers' highest. None without a knob."""
    base = {plan.knob.base} if plan.knob.acts and plan.knob.base else set()
    return sorted({*plan.clocks(), *base})


def _job_level(plan: Plan) -> list[Job]:
    found = []
    repeats, pes = plan.repeats(REPEATS), SIMULATED_PES if plan.simulated else PES
    clocks = _clocks(plan)
    for name, words in _programs(plan):
        for wait in WAITS:
            found.append(Job(JOBS, name, words, repeats, pes, wait))
        for clock in clocks:
            found.append(Job(JOBS, name, words, repeats, pes, clock=clock, settings=_at(clock, pes)))
    return found


def _process_level(plan: Plan) -> list[Job]:
    """PEs whose computing grows with their number. Modes: all PEs at the base clock, all at a low clock, and those that
    wait at a low clock.
    """
    if plan.simulated:
        return _simulated_processes(plan)
    pes = QUICK_PROCESS_PES if plan.quick else PROCESS_PES
    work, instances = ("1", "16") if plan.quick else ("4", "40")
    options = ("--work", work, "--turns", TURNS, "--instances", instances, "--warm", "0", "--loads", "steps")
    words = (*options, "--repeat", str(REPEATS), f"{STEPS_CR:g}")
    found = [Job(PROCESSES, "slack", words, REPEATS, pes, wait) for wait in WAITS]
    for clock in plan.clocks():
        found.append(Job(PROCESSES, "slack", words, REPEATS, pes, "spin", clock=clock, settings=_at(clock, pes)))
    if plan.knob.acts:
        low, high = plan.knob.clocks[0], plan.knob.base or plan.knob.clocks[-1]
        early = f"0-{pes // 2 - 1}={low:g},{pes // 2}-{pes - 1}={high:g}"
        modes = {"standard": f"0-{pes - 1}={high:g}", "reduced": f"0-{pes - 1}={low:g}", "hybrid": early}
        for mode, setting in modes.items():
            found.append(
                Job(PROCESSES, "slack", words, REPEATS, pes, "spin", mode, settings=(("WATTLE_CLOCKS", setting),))
            )
    return found


def _simulated_processes(plan: Plan) -> list[Job]:
    """The papers' 360 processes, with the loads of BT-MZ's published partition. `hybrid` is a plan from the waits of
    the first job, made as `wattle plan` makes it.
    """
    pes, repeats = SIMULATED_PROCESSES, plan.repeats(REPEATS)
    options = ("--work", "5", "--turns", TURNS, "--instances", "10" if plan.quick else "40", "--warm", "0")
    words = (*options, "--loads", "bt-mz", "--repeat", str(repeats), "1")
    low, high = plan.knob.clocks[0], plan.knob.base or plan.knob.clocks[-1]

    def fixed(mode: str, ghz: float) -> Job:
        return Job(PROCESSES, "slack", words, repeats, pes, "spin", mode, settings=_at(ghz, pes))

    found = [Job(PROCESSES, "slack", words, repeats, pes, wait) for wait in WAITS]
    found += [fixed("standard", high), fixed("reduced", REDUCED_GHZ if low < REDUCED_GHZ else low)]
    found.append(Job(PROCESSES, "slack", words, repeats, pes, "spin", "hybrid", planned=partial(_plan_of, plan)))
    for wait in ("adaptive",) if plan.quick else ("spin", "adaptive"):  # a job of so many PEs takes long to simulate
        found += [Job(ONLINE, "slack", words, repeats, pes, wait, mode, scaling) for mode, scaling in GOVERNED]
    return found


def _plan_of(plan: Plan, rows: list[dict[str, Any]]) -> dict[str, str]:
    facts = next(r["job_waits_json"] for r in rows if r["series"] == PROCESSES and r["wait"] == "spin")
    found = json.loads(facts)
    wall_s, waits = found["wall_s"], found["wait_s"]
    base = plan.knob.base or plan.knob.clocks[-1]

    def at_least(ghz: float) -> float:
        return next((c for c in plan.knob.clocks if c >= ghz * (1 - 1e-9)), base)

    by_pe = choose(waits, [wall_s - w for w in waits], wall_s, base, at_least)
    return {"WATTLE_CLOCKS": ",".join(f"{pe}={ghz:g}" for pe, ghz in enumerate(by_pe))}


def _phase_level(plan: Plan) -> list[Job]:
    if plan.simulated:
        words = (
            "--repeat",
            "1",
            "--least",
            "0.02",
            str(SIMULATED_ARRAYS_MIB),
        )  # long enough to make wake-ups at its barriers negligible
        return [
            Job(PHASES, "kernels", words, KERNELS, SIMULATED_PES, clock=clock, settings=_at(clock, SIMULATED_PES))
            for clock in (None, *plan.knob.clocks)
        ]
    size = str(QUICK_ARRAYS_MIB if plan.quick else ARRAYS_MIB)
    words = ("--repeat", str(REPEATS), "--least", "0.02" if plan.quick else "0.2", size)
    return [
        Job(PHASES, "kernels", words, KERNELS * REPEATS, PES, clock=clock, settings=_at(clock, PES))
        for clock in (None, *_clocks(plan))
    ]


def _jobs(plan: Plan) -> list[Job]:
    made = [*_process_level(plan), *_phase_level(plan)]
    return [*_job_level(plan), *(replace(job, lasts=True) for job in made)]


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """A table of programs by policy and clock."""
    lines = []
    for point in [p for series in (JOBS, PROCESSES, ONLINE, PHASES) for p in a.select(series=series)]:
        groups = clusters_of(a, point) if point.series == PROCESSES else None
        lines.append(
            [
                point.name,
                point.policy if point.clock is None else f"{point.wait}, {point.clock:g} GHz",
                *costs(a, point, "node"),
                " | ".join(units.ranges(sorted(g)) for g in groups) if groups else units.UNKNOWN,
            ]
        )
    title = f"Jobs, processes and phases: medians of {units.several(a.repeats, 'sample')}"
    return (
        title,
        ["program", "policy", "time", "CPU", f"node's joules, {a.provenance}", "PEs with similar waits"],
        lines,
    )


class Race(Sweep):
    """The study itself, or that of a user's program."""

    def asked(
        self,
        on: str,
        link: str | None,
        quick: bool,
        program: list[str] | None = None,
        n: int | None = None,
        **more: Any,
    ) -> tuple[Sweep, Plan]:
        if not program:
            if n is not None:
                raise WattleError(f"-n {n}: is for a program of your own, as in `wattle study race -n 4 -- ./app`")
            return self, self.plan(quick, check_place(self.where(on), link, simulates=True), **more)
        if n is not None and not 1 <= n <= MOST_PES:
            raise WattleError(f"-n {n}: allowed are 1 to {MOST_PES}")
        own.check_program(program[0])
        plan = self.plan(quick, check_place(self.where(on), link, simulates=True), **more)
        own.check_clocks(plan)
        return own.sweep_of(program, 2 if n is None else n), plan

    def of(self, facts: Checked) -> Sweep:
        return own.sweep_of(facts.texts("program"), 1) if facts.has("program") else self


STUDY = Race(
    name="race",
    title="Is race to halt right?",
    question="Does the highest clock cost the least energy, for whole jobs, single processes and phases?",
    jobs=_jobs,
    rows=ROWS,
    table=_table,
    options={
        "program": Annotated[
            list[str] | None,
            typer.Argument(
                metavar="PROGRAM", help="A program of your own and its arguments, after --: it runs at each clock."
            ),
        ],
        "quick": QUICK,
        "n": Annotated[int | None, typer.Option("-n", "--np", metavar="N", help="PEs of your own program (2).")],
        "rounds": ROUNDS,
    },
)
