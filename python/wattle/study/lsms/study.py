"""The study of LSMS: its transfers in five access patterns, and its unequal work under each mode of the governor."""

from __future__ import annotations

from dataclasses import replace

from wattle.study.lsms import recorded
from wattle.study.lsms.judges import (
    EVEN,
    PATTERNS,
    ROWS,
    SCALE,
    SYNC,
    TIMELINE,
    TRANSFER,
    VERSIONS,
    largest,
    most,
    sync_s,
)
from wattle.study.sweep.analysis import WAITS, Analysis, Point
from wattle.study.sweep.family import Sweep, in_joules
from wattle.study.sweep.plan import TURNS, Job, Plan, of_all_modes
from wattle.text import units

PES, SIMULATED_PES = 6, 17  # a root and 5 or 16 members of groups; even, so that two nodes have as many each
GROUPS, SIMULATED_GROUPS = 2, 4
PARAMETERS, QUICK_PARAMETERS = (1, 8, 64, 512, 2048), (8, 512)
FEW = 16  # parameters where work is unequal
RATIOS = (EVEN, 2, 4)
SCALE_PES, QUICK_SCALE_PES = (2, 6, 8, 16), (2, 6, 8)
SIMULATED_SCALE_PES, SIMULATED_QUICK_SCALE_PES = (2, 9, 17, 65, 257), (2, 9, 17, 65)
SCALE_RATIO = 3
TIMELINE_PES, TIMELINE_PARAMETERS = 6, 64
REPEATS = 3
OTHER_MODES = (("energy", "reactive"), ("energy", "proactive"), ("hybrid", "proactive"), ("baseline", "proactive"))


def _words(plan: Plan, pattern: str, steps: int, cases: list[str], repeats: int = REPEATS) -> tuple[str, ...]:
    groups, work = (SIMULATED_GROUPS if plan.simulated else GROUPS), (1 if plan.quick else 3)
    options = ("--groups", str(groups), "--work", str(work), "--turns", TURNS, "--pattern", pattern)
    return (*options, "--steps", str(steps), "--warm", "6", "--repeat", str(plan.repeats(repeats)), *cases)


def _jobs(plan: Plan) -> list[Job]:
    return [
        replace(job, optional=version == "mpi", lasts=job.series != TIMELINE)
        for version in VERSIONS
        for job in _of_version(plan, version)
    ]


def _of_version(plan: Plan, version: str) -> list[Job]:
    program = f"lsms-{version}"
    return [*_sync(plan, program), *_transfers(plan, program), *_scale(plan, program), _timeline(plan, program)]


def _usual(plan: Plan, pes: int) -> str:
    """The wait policy of jobs that are not compared by it. PEs spin, as the papers' do, where each has a core. A PE
    that spins would keep the others from a shared core.
    """
    return "spin" if plan.simulated or (plan.cores >= pes and not plan.place.across) else "adaptive"


def _sync(plan: Plan, program: str) -> list[Job]:
    cases = [f"{FEW}:{ratio:g}" for ratio in RATIOS]
    steps = 10 if plan.quick and not plan.simulated else 40
    words = _words(plan, "PPQ", steps, cases)
    pes = SIMULATED_PES if plan.simulated else PES
    job = Job(SYNC, program, words, len(cases) * plan.repeats(REPEATS), pes)
    usual = _usual(plan, pes)
    waits = [wait for wait in WAITS if wait != "spin" or usual == "spin"]
    found = list(of_all_modes(job, waits, (usual,)))
    if plan.quick and program == "lsms-mpi":
        return [j for j in found if j.mode == "off" or (j.mode, j.scaling) in OTHER_MODES]
    return found


def _transfers(plan: Plan, program: str) -> list[Job]:
    parameters: tuple[int, ...] = QUICK_PARAMETERS if plan.quick else PARAMETERS
    if plan.simulated:  # a simulated message takes longer than a real one
        parameters = tuple(n for n in parameters if n <= QUICK_PARAMETERS[-1])
    pes = SIMULATED_PES if plan.simulated else PES
    cases = [str(n) for n in parameters]
    steps = 3 if plan.simulated else 10
    return [
        Job(
            TRANSFER,
            program,
            _words(plan, pattern, steps, cases),
            len(cases) * plan.repeats(REPEATS),
            pes,
            _usual(plan, pes),
        )
        for pattern in PATTERNS
    ]


def _scale(plan: Plan, program: str) -> list[Job]:
    real, simulated = (QUICK_SCALE_PES, SIMULATED_QUICK_SCALE_PES) if plan.quick else (SCALE_PES, SIMULATED_SCALE_PES)
    cases = [f"{FEW}:{ratio:g}" for ratio in (EVEN, SCALE_RATIO)]
    words = _words(plan, "PPQ", 10, cases)
    samples = len(cases) * plan.repeats(REPEATS)
    numbers = simulated if plan.simulated else real
    return [Job(SCALE, program, words, samples, n, _usual(plan, numbers[-1])) for n in numbers]


def _timeline(plan: Plan, program: str) -> Job:
    """One short job that records each wait."""
    words = (*_words(plan, "PQPQ", 3, [f"{TIMELINE_PARAMETERS}:{SCALE_RATIO}"], 1), "--groups", str(GROUPS))
    wait, settings = _usual(plan, TIMELINE_PES), (("WATTLE_TIMELINE", recorded.BYTES),)
    return Job(TIMELINE, program, words, 1, TIMELINE_PES, wait, settings=settings, keep=recorded.keep)


Points = dict[str, Point | None]  # by version


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """The transfer stage in each pattern, and a step with unequal work under each policy."""
    ratio, x = most(a, SYNC), largest(a)
    lines = [_line(a, f"transfer, {pattern}", _transfers_by(a, pattern)) for pattern in PATTERNS]
    for policy in a.policies(series=SYNC):
        points = [p for p in a.select(series=SYNC, y=ratio) if p.policy == policy]
        lines.append(_line(a, f"CR {ratio:g}, {policy}", {p.name.split()[0]: p for p in points}))
    title = (
        f"A step, medians: the transfer stage alone ({x:.0f} parameters) by pattern, and unequal work by wait policy "
        f"or mode; PE-seconds at the barrier; joules of the nodes, {a.provenance}"
    )
    heads = [head for version in VERSIONS for head in (f"{version}: time", "barrier", "joules")]
    return title, ["", *heads], lines


def _transfers_by(a: Analysis, pattern: str) -> Points:
    return {v: next(iter(a.select(series=TRANSFER, name=f"{v} {pattern}", x=largest(a))), None) for v in VERSIONS}


def _line(a: Analysis, head: str, points: Points) -> list[str]:
    cells = [head]
    for point in (points.get(version) for version in VERSIONS):
        cells += [
            units.seconds(a.median("seconds", point)),
            units.seconds(sync_s(a, point) if point else None),
            in_joules(a, "node", point),
        ]
    return cells


def _says(a: Analysis) -> str:
    facts = []
    for version in VERSIONS:
        centers = {p: a.center("seconds", _transfers_by(a, p)[version]) for p in PATTERNS}
        times = {p: c.median for p, c in centers.items() if c}
        if times:
            best, worst = (of(times, key=lambda p: times[p]) for of in (min, max))
            facts.append(f"{version} {best} ({times[worst] / times[best]:.1f} times as fast as {worst})")
    return f"The fastest pattern for {largest(a):.0f} parameters: {', '.join(facts)}." if facts else ""


STUDY = Sweep(
    name="lsms",
    title="LSMS: transfers and waits of a real application's pattern",
    question=(
        "What do the access pattern of the transfers and the governor's mode at the barrier change, by MPI and by "
        "OpenSHMEM?"
    ),
    jobs=_jobs,
    rows=ROWS,
    table=_table,
    says=_says,
    at="{x} parameters",
)
