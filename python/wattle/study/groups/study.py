"""The study of groups: PEs that wait for some of the others, in each mode of the governor, beside an oracle."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from wattle.sim import simulation
from wattle.study.groups import oracle
from wattle.study.groups.judges import (
    ALONE,
    BARS,
    PER_NODE,
    PERCENT,
    ROWS,
    SHARED,
    Against,
    against,
    baseline,
    saved,
    where,
)
from wattle.study.stats import center
from wattle.study.sweep.analysis import METRICS, Analysis, Point, thresholds_of
from wattle.study.sweep.family import Sweep, changes
from wattle.study.sweep.plan import TURNS, Job, Plan
from wattle.text import units

OPENSHMEM = ("world", "teams", "reduce", "crossing", "nested", "pairs", "halo", "wavefront", "ring")
MPI = ("communicators", "grid")
PATTERNS = (*OPENSHMEM, *MPI)
SIZED = ("teams", "communicators", "pairs", "halo", "wavefront")  # that run with other numbers of PEs, too
RATIO, INSTANCES = 3.0, 200
PES, SIMULATED_PES = 4, 16
SIZES, QUICK_SIZES = (4, 64, 256), (4,)
SEEDS, QUICK_SEEDS = 8, 6
UNEQUAL = ("world", "teams", "pairs", "ring")  # that run with unequal work in a quick sweep
GOVERNED = (
    ("energy", "proactive"),
    ("energy", "reactive"),
    ("hybrid", "proactive"),
    ("hybrid", "reactive"),
    ("performance", "proactive"),
    ("performance", "reactive"),
)


def _job(plan: Plan, series: str, pattern: str, pes: int, percent: float, seed: int) -> Job:
    instances = INSTANCES if plan.simulated else INSTANCES // 10
    options = ("--pattern", pattern, "--turns", TURNS, "--instances", str(instances), "--seed", str(seed))
    case = oracle.Case(pattern, pes, instances, RATIO, percent, seed)
    machine = None
    if series == SHARED and plan.machine:
        machine = simulation.plan(plan.machine.cluster, 1, {}, per_node=PER_NODE)
    return Job(
        series,
        "groups-mpi" if pattern in MPI else "groups",
        (*options, f"{RATIO:g}:{percent:g}"),
        1,
        pes,
        "spin" if plan.simulated else "adaptive",
        machine=machine,
        keep=partial(_keep, case),
        optional=pattern in MPI,
    )


def _keep(case: oracle.Case, folder: Path, pes: int) -> dict[str, Any]:
    """The time and the joules of the cores of a simulated job, and the oracle's saving."""
    if not (folder / simulation.RESULT).is_file():
        return thresholds_of(folder, pes)
    ran = oracle.read(folder)
    return {"job_s": ran.seconds, "cores_J": ran.joules, "oracle_saves": oracle.saving(case, ran)}


def _in(job: Job, modes: tuple[tuple[str, str], ...]) -> list[Job]:
    return [job, *(replace(job, mode=mode, scaling=scaling) for mode, scaling in modes)]


def _jobs(plan: Plan) -> list[Job]:
    pes = SIMULATED_PES if plan.simulated else PES
    found = []
    for pattern in PATTERNS:
        found += _in(_job(plan, ALONE, pattern, pes, 0, 1), GOVERNED[:3] if plan.quick else GOVERNED)
        if plan.quick and pattern not in UNEQUAL:
            continue
        for seed in range(1, 1 + (QUICK_SEEDS if plan.quick else SEEDS)):
            found += _in(_job(plan, ALONE, pattern, pes, PERCENT, seed), GOVERNED[: 1 if plan.quick else 2])
    if plan.simulated:
        for pattern in PATTERNS:
            found += _in(_job(plan, SHARED, pattern, pes, 0, 1), GOVERNED[:1])
        for size in QUICK_SIZES if plan.quick else SIZES:
            for pattern in SIZED:
                found += _in(_job(plan, ALONE, pattern, size, 0, 1), GOVERNED[:1])
    return found


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """Each case: the oracle's saving, and of each mode the saving and the time lost."""
    lines = []
    for base in a.select(mode="off"):
        modes = [p for p in a.points if p.mode != "off" and baseline(a, p) == base]
        for p in sorted(modes, key=lambda p: (p.mode, p.scaling)):
            lines.append([base.name, where(base), p.policy, *_cells(a, base, p), changes(a, p)])
    title = (
        "Saving of each mode in joules, its part of an oracle's, and time lost; medians over the seeds; joules of the "
        f"node, {a.provenance}"
    )
    heads = ["pattern", "PEs", "mode, scaling", "saved", "of the oracle's", "time"]
    return title, [*heads, a.changes_head("changes in a job")], lines


def _cells(a: Analysis, base: Point, point: Point) -> list[str]:
    node, seconds = (center(saved(a, METRICS[metric].value, base, point)) for metric in ("node", "seconds"))
    of: Against | None = against(a, point)
    return [
        units.UNKNOWN if node is None else units.percent(node.median),
        units.UNKNOWN if of is None else f"{of.part.median:.0f} %",
        units.UNKNOWN if seconds is None else f"{-seconds.median:+.2f} %",
    ]


STUDY = Sweep(
    name="groups",
    title="Groups: PEs that wait for some of the others",
    question=(
        "How much of an oracle's saving does each mode of the governor get where teams, communicators, pairs or "
        "neighbours wait for each other?"
    ),
    jobs=_jobs,
    rows=ROWS,
    bars=BARS,
    table=_table,
    at="CR {x}",
)
