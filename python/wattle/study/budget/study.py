"""The study of power budgets: a loop of unequal work under a budget of the whole job, and under equal caps."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from wattle.base.errors import DamagedFile
from wattle.record import profile
from wattle.sim import simulation
from wattle.study.budget import oracle
from wattle.study.budget.judges import BARS, BUDGET, CAP, NOISE, ROWS, beyond, capped, highest, saved, where
from wattle.study.sweep.analysis import Analysis
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.plan import TURNS, Job, Plan
from wattle.text import units

PATTERNS = ("static", "drifting", "alternating")
RATIOS, QUICK_RATIOS = (1.0, 1.1, 1.5, 2.0, 4.0), (1.0, 2.0, 4.0)
PARTS, QUICK_PARTS = (40, 55, 70, 85, 100), (55, 70)  # percent of the highest watts
PES, MANY_PES, REAL_PES = 16, 128, 4
SEEDS, QUICK_SEEDS = 8, 6
WORK_MS, INSTANCES, LEARNS = 10.0, 300, 20
SETTLES_S = 4.0  # after which the average of a package's watts is at its limit
PACKAGE = oracle.ROW  # PEs of a package


def _jobs(plan: Plan) -> list[Job]:
    pes = PES if plan.simulated else REAL_PES
    parts = QUICK_PARTS if plan.quick else PARTS
    found = []
    for pattern in PATTERNS:
        for ratio in (QUICK_RATIOS if pattern == "static" else (2.0,)) if plan.quick else RATIOS:
            for part in parts:
                found += _pair(oracle.Case(pattern, pes, ratio, 1e-3 * WORK_MS), part)
    for seed in range(1, 1 + (QUICK_SEEDS if plan.quick else SEEDS)):
        found += _pair(oracle.Case("static", pes, 2.0, 1e-3 * WORK_MS, NOISE, seed), 70)
    if plan.simulated and not plan.quick:
        for ratio in (1.0, 2.0):
            found += _pair(oracle.Case("static", MANY_PES, ratio, 1e-3 * WORK_MS), 70)
    return found


def _pair(case: oracle.Case, part: int) -> list[Job]:
    """A case under a budget, and then under equal caps of the same watts."""
    settles = round(SETTLES_S / (case.work_s * case.ratio))
    highest_clock = (("WATTLE_CLOCKS", f"0-{case.pes - 1}=9"),)
    return [
        _job(case, part, BUDGET, LEARNS, settings=(("WATTLE_POWER_BUDGET", f"{part}%"),), keep=partial(_keep, case)),
        _job(case, part, CAP, settles, settings=highest_clock, planned=partial(_limit, case, part)),
    ]


def _job(case: oracle.Case, part: int, mode: str, before: int, **how: Any) -> Job:
    counts = ("--before", str(before), "--instances", str(INSTANCES), "--work", f"{1e3 * case.work_s:g}")
    words = ("--pattern", case.pattern, "--turns", TURNS, *counts, "--seed", str(case.seed))
    of_case = f"{case.ratio:g}:{case.percent:g}"
    return Job("loop", "budget", (*words, of_case), 1, case.pes, "adaptive", mode, f"{part} %", **how)


def _limit(case: oracle.Case, part: int, rows: list[dict[str, Any]]) -> dict[str, str]:
    """The limit of each package: its part of the watts that the job before had."""
    ran = next(
        r for r in reversed(rows) if r["mode"] == BUDGET and r["scaling"] == f"{part} %" and r["pes"] == case.pes
    )
    watts = json.loads(ran["more_json"])["budget_w"] * PACKAGE / case.pes
    return {"WATTLE_PACKAGE_LIMIT": f"{watts:.2f}W"}


def _keep(case: oracle.Case, folder: Path, pes: int) -> dict[str, Any]:
    """The budget of a finished job, and the time of the optimum in simulation."""
    clocks = profile.load(folder, pes).pes[0].clocks
    budget = clocks.power_budget if clocks else None
    if budget is None:
        raise DamagedFile(folder, "no PE has a power budget")
    found = {
        "budget_w": budget.watts,
        "mean_w": budget.mean_w,
        "highest_w": budget.highest_w,
        "above_s": budget.above_s,
    }
    if not (folder / simulation.RESULT).is_file():
        return found
    known = oracle.clocks_of(folder)
    at = range(LEARNS, LEARNS + INSTANCES)
    return found | {"optimum_s": sum(oracle.optimum(known, case.loads(i), budget.watts) for i in at)}


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """Each case: the time against equal caps and the optimum, the joules, and the highest second."""
    lines = []
    for p in a.select(mode=BUDGET):
        cap = capped(a, p)
        seconds, joules = (saved(a, metric, p) if cap else None for metric in ("seconds", "own"))
        longer, most = beyond(a, p), highest(a, p)
        lines.append(
            [
                where(p),
                *(units.UNKNOWN if c is None else f"{-c.median:+.1f} %" for c in (seconds, joules)),
                units.UNKNOWN if longer is None else f"{longer.median:+.1f} %",
                units.UNKNOWN if most is None else f"{most:.1f} %",
            ]
        )
    title = f"Under a budget: time and joules against equal caps, medians over the seeds; joules {a.provenance}"
    return title, ["case", "time", "joules", "time beyond the optimum", "highest second"], lines


STUDY = Sweep(
    name="budget",
    title="Budget: watts of a job, moved to the PEs that others wait for",
    question="How much time does a power budget of the whole job save where work is unequal, and how much is possible?",
    jobs=_jobs,
    rows=ROWS,
    bars=BARS,
    table=_table,
    at="{x} to 1",
)
