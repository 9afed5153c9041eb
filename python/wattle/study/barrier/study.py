"""The study of waiting at a barrier: by the wait's length, and by the number of PEs that wait."""

from __future__ import annotations

from dataclasses import replace

from wattle.study.barrier.judges import LATE, ROWS, SCALE, fits
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.family import Sweep, changes, costs
from wattle.study.sweep.plan import MODES, Job, Plan, of_all_modes
from wattle.text import units

LATE_MS, QUICK_LATE_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), (1, 2, 5, 10, 20, 50)
PES, QUICK_PES = (2, 3, 4, 8, 16, 32), (2, 3, 4, 8)
SIMULATED_PES, SIMULATED_QUICK = (2, 4, 16, 64, 256, 1024, 4096), (2, 4, 16, 64)
SCALE_MS = 20
LEAST_S = 0.02  # more than ten intervals of a sensor
LEARN = ("--learn", "6")  # samples: the governor predicts a wait after four of similar length


def _jobs(plan: Plan) -> list[Job]:
    late = tuple(map(str, QUICK_LATE_MS if plan.quick else LATE_MS))
    repeats = plan.repeats(4)
    common = ("--least", "0" if plan.simulated else f"{LEAST_S:g}", "--repeat", str(repeats))
    of_late = of_all_modes(Job(LATE, "barrier", (*common, *late), len(late) * repeats, lasts=True), WAITS, ("spin",))
    found = [replace(job, arguments=(*LEARN, *job.arguments)) if job.mode in MODES else job for job in of_late]
    quick, full = (SIMULATED_QUICK, SIMULATED_PES) if plan.simulated else (QUICK_PES, PES)
    for pes in quick if plan.quick else full:
        one = Job(SCALE, "barrier", (*common, str(SCALE_MS)), repeats, pes, lasts=True)
        found += of_all_modes(one, WAITS, ())
    return found


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """The longest wait, by policy."""
    late = a.select(series=LATE)
    longest = max(p.x or 0 for p in late)
    lines = []
    for policy in a.policies(series=LATE):
        point = next(p for p in late if p.policy == policy and p.x == longest)
        lines.append([policy, *costs(a, point, "own"), changes(a, point)])
    title = f"One PE waits {longest:g} ms for another: medians of {units.several(a.repeats, 'sample')}"
    changes_head = a.changes_head("clock changes in a job")
    return title, ["policy", "time", "CPU", f"PEs' joules, {a.provenance}", changes_head], lines


STUDY = Sweep(
    name="barrier",
    title="Waiting at a barrier, in time and in scale",
    question="What does waiting at a barrier cost, by the length of the wait and the number of PEs that wait?",
    jobs=_jobs,
    rows=ROWS,
    fits=fits,
    table=_table,
    at="T = {x} ms",
)
