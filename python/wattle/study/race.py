"""The study of "race to halt": jobs, processes and phases at each clock."""

from __future__ import annotations

from wattle import units
from wattle.paths import find_home
from wattle.report.amounts import si
from wattle.study import sweep
from wattle.study.race_published import JOBS, PHASES, PROCESSES, ROWS, STEPS_CR, clusters_of
from wattle.study.sweep import TURNS, Job, Plan, Sweep
from wattle.study.sweep_analysis import Analysis
from wattle.study.sweep_samples import WAITS

PES = 2
PROCESS_PES, QUICK_PROCESS_PES = 8, 4
ARRAYS_MIB, QUICK_ARRAYS_MIB = 192, 48  # on each PE; more than the last-level cache of most
KERNELS = 5
REPEATS = 3


def _programs(plan: Plan) -> list[tuple[str, tuple[str, ...]]]:
    """Mini-apps, with inputs that take tenths of a second."""
    cities = find_home().shared("apps") / "tsp" / "data" / "tsp14.txt"
    return [
        ("mst-am", ("--json", "--repeat", str(REPEATS), "--edges", "300000" if plan.quick else "2000000")),
        ("tsp-am", ("--json", "--repeat", str(REPEATS), str(cities))),
        ("tsp-steal", ("--json", "--repeat", str(REPEATS), str(cities))),
    ]


def _at(clock: float | None, pes: int) -> tuple[tuple[str, str], ...]:
    return () if clock is None else (("WATTLE_CLOCKS", f"0-{pes - 1}={clock:g}"),)


def _job_level(plan: Plan) -> list[Job]:
    found = []
    for name, words in _programs(plan):
        for wait in WAITS:
            found.append(Job(JOBS, name, words, REPEATS, PES, wait))
        for clock in plan.clocks():
            found.append(Job(JOBS, name, words, REPEATS, PES, clock=clock, settings=_at(clock, PES)))
    return found


def _process_level(plan: Plan) -> list[Job]:
    """PEs that compute more the higher their number; modes: all at the base clock, all at a low one, those that wait
    at a low one."""
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


def _phase_level(plan: Plan) -> list[Job]:
    size = str(QUICK_ARRAYS_MIB if plan.quick else ARRAYS_MIB)
    words = ("--repeat", str(REPEATS), "--least", "0.02" if plan.quick else "0.2", size)
    return [
        Job(PHASES, "kernels", words, KERNELS * REPEATS, PES, clock=clock, settings=_at(clock, PES))
        for clock in (None, *plan.clocks())
    ]


def _jobs(plan: Plan) -> list[Job]:
    return _job_level(plan) + _process_level(plan) + _phase_level(plan)


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """Programs by policy and clock."""
    lines = []
    for point in [*a.select(series=JOBS), *a.select(series=PROCESSES), *a.select(series=PHASES)]:
        seconds, cpu, joules = (a.center(m, point) for m in ("seconds", "cpu_s", "node"))
        groups = clusters_of(a, point) if point.series == PROCESSES else None
        lines.append(
            [
                point.name,
                point.policy if point.clock is None else f"{point.wait}, {point.clock:g} GHz",
                units.seconds(seconds.median if seconds else None),
                units.seconds(cpu.median if cpu else None),
                si(joules.median, "J") if joules else units.UNKNOWN,
                " | ".join(units.ranges(sorted(g)) for g in groups) if groups else units.UNKNOWN,
            ]
        )
    title = f"Jobs, processes and phases: medians of {units.several(a.repeats, 'sample')}"
    return title, ["program", "policy", "time", "CPU", f"joules, {a.provenance}", "PEs that wait alike"], lines


SWEEP = Sweep(
    name="race",
    title="Is race to halt right?",
    question="Does the highest clock cost least, for whole jobs, for single processes, for phases?",
    jobs=_jobs,
    rows=ROWS,
    fits=lambda a: [],
    table=_table,
)

STUDY = sweep.study_of(SWEEP)
