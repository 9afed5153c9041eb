"""The study of slack: early and late PEs at a barrier, under each wait policy, mode and scaling."""

from __future__ import annotations

from dataclasses import replace

from wattle.study.slack.judges import BARS, EARLY, EARLY_CR, MEETS, PAIRS, RATIOS, ROWS, SHORT
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.family import Sweep, changes, costs
from wattle.study.sweep.plan import MODES, TURNS, Job, Plan, of_all_modes
from wattle.text import units

CR, QUICK_CR = (1, SHORT, 1.5, 2, 3, 4, 8), (1, SHORT, 2, 4)
EARLY_PES = 4  # EC needs several PEs; where there are more PEs than cores, they share cores and clocks
SIMULATED_PES, SIMULATED_EARLY = 16, (1, 2, 4, 8, 12, 15)  # the papers' node
REPEATS = 3


def _arguments(plan: Plan, cases: list[str]) -> tuple[str, ...]:
    work, instances = (1, 10) if plan.quick else (5, 40)
    options = ("--work", str(work), "--turns", TURNS, "--instances", str(instances), "--warm", "6")
    return (*options, "--repeat", str(plan.repeats(REPEATS)), *cases)


def _jobs(plan: Plan) -> list[Job]:
    ratios = [f"{cr:g}:1" for cr in (QUICK_CR if plan.quick else CR)]
    pes, counts = (SIMULATED_PES, SIMULATED_EARLY) if plan.simulated else (EARLY_PES, range(1, EARLY_PES))
    early = [f"{cr:g}:{count}" for cr in (1, EARLY_CR) for count in counts]
    wait = "spin" if plan.simulated else "adaptive"
    found = list(of_all_modes(_job(plan, RATIOS, ratios), WAITS, ()))
    for case in ratios:  # a governor would predict the waits of a case from those of the case before
        found += of_all_modes(_job(plan, RATIOS, [case]), (), ("spin",) if plan.quick else ("spin", "adaptive"))
    many = _job(plan, EARLY, early, pes, wait)
    found.append(many)
    for case in early:
        one = _job(plan, EARLY, [case], pes, wait)
        found += [replace(one, mode=mode, scaling="proactive") for mode in MODES]
    found += [_job(plan, PAIRS, [f"{cr:g}" for cr in (1, EARLY_CR)], pes, wait, meet) for meet in MEETS]
    return found


def _job(plan: Plan, series: str, cases: list[str], pes: int = 2, wait: str = "adaptive", meet: str = "") -> Job:
    """A job. `meet`: another PE is late in each instance, and all PEs meet by a barrier, or two of them as a pair."""
    samples, words = len(cases) * plan.repeats(REPEATS), _arguments(plan, cases)
    if meet:
        words = ("--loads", "rotate", "--meet", meet, *words)
    return Job(series, "slack", words, samples, pes, wait, lasts=True)


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """A table of an instance at the largest CR, by policy and mode."""
    points = a.select(series=RATIOS)
    most = max(p.x or 0 for p in points)
    lines = []
    for point in (p for p in points if p.x == most):
        policy = "-" if point.mode == "off" else point.policy
        lines.append([point.wait, policy, *costs(a, point, "node"), changes(a, point)])
    title = f"CR = {most:g}, one early and one late PE, an instance: medians of {units.several(a.repeats, 'sample')}"
    changes_head = a.changes_head("changes in a job")
    return title, ["wait", "mode, scaling", "time", "CPU", f"node's joules, {a.provenance}", changes_head], lines


STUDY = Sweep(
    name="slack",
    title="Slack: proactive and reactive scaling",
    question=(
        "What is the effect of the governor's modes on early and late PEs at a barrier, by load ratio and early cores?"
    ),
    jobs=_jobs,
    rows=ROWS,
    bars=BARS,
    table=_table,
    at="CR {x}",
)
