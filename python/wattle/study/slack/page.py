"""The page of the study of slack."""

from __future__ import annotations

from wattle.html.figures import Figure
from wattle.study.slack.judges import EARLY, MEETS, PAIRS, RATIOS, SHORT
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.page import (
    Section,
    at_x,
    at_y,
    bars,
    by_mode,
    by_wait,
    each_metric,
    look_of,
    only_records,
    plain_axis,
)
from wattle.study.sweep.plan import MODES, SCALINGS

WAITING = {"spin": "spin", "adaptive": "poll for as long as a sleep would cost, then sleep"}

# The timelines of figures 11.1 (proactive) and 11.9 (reactive).
CASES = (("A", "baseline", None), ("B", "performance", None), ("C", "energy", None), ("D", "energy", SHORT))


WAIT_METRICS = (("seconds", "Time"), ("cpu_s", "CPU seconds"), ("own", "Energy of the PEs"))
MODE_METRICS = (("seconds", "Time"), ("node", "Energy of the node"), ("node_watts", "Power of the node"))


def sections(a: Analysis) -> list[Section]:
    axis = plain_axis("CR", False, sorted({p.x or 0 for p in a.select(series=RATIOS)} - {SHORT}))
    acts = only_records(a, "no mode changes a clock: the lines show the cost of the modes themselves")
    metrics = (*WAIT_METRICS, ("own_watts", "Power of the PEs"))
    found = [
        Section(
            "waits",
            "By wait policy",
            "One PE computes, the other computes CR times as much, then both synchronize. An instance, by the early "
            "PE's wait policy.",
            each_metric(a, "wait-{}", metrics, by_wait(a, series=RATIOS), at_x, axis),
            WAITS,
        )
    ]
    for scaling in SCALINGS:
        modes = by_mode(a, series=RATIOS, wait="spin", scaling=scaling)
        figures = each_metric(a, f"{scaling}-{{}}", MODE_METRICS, modes, at_x, axis)
        text = f"The same, spinning, in each mode.{acts}"
        found.append(Section(scaling, f"Scaling {scaling}", text, figures, MODES))
        found.append(
            Section(
                f"timelines-{scaling}",
                f"Timelines, {scaling}",
                "An instance of figures 11.1 and 11.9: A baseline, B performance, C energy, D a slack too short for "
                "a change of clock. Medians of the computing and waiting of each PE; clock changes are those of the "
                "whole job.",
                [_timelines(a, scaling)],
                wide=True,
            )
        )
    return [*found, _early(a, acts), *_pairs(a)]


def _timelines(a: Analysis, scaling: str) -> Figure:
    ratios = sorted({p.x or 0 for p in a.select(series=RATIOS)})
    usual = min(ratios, key=lambda r: abs(r - 2))
    heads, compute, slack = [], [], []
    for letter, mode, ratio in CASES:
        points = a.select(series=RATIOS, wait="spin", mode=mode, scaling=scaling, x=ratio or usual)
        if not points:
            continue
        point = points[0]
        changes = a.changes(point)
        facts = "" if changes is None else f", {changes:.0f} changes"
        for pe in (0, 1):
            heads.append(f"{letter} {mode}, CR {point.x:g}{facts}: PE {pe}")
            compute.append(1e3 * a.medians(point, "compute_s", 2)[pe])
            slack.append(1e3 * a.medians(point, "slack_s", 2)[pe])
    parts = [("compute", "--compute", compute), ("slack", "--spin", slack)]
    return bars(f"timeline-{scaling}", f"Cases A to D, {scaling}", heads, parts, "ms", "medians of the samples", 380)


def _pairs(a: Analysis) -> list[Section]:
    """The same work, with a barrier of all PEs and with flags between two."""
    points = {meet: a.select(series=PAIRS, name=meet) for meet in MEETS}
    if not all(points.values()):
        return []
    looks = zip(points.items(), (look_of("baseline"), look_of("energy")), strict=True)
    axis = plain_axis("CR", False, sorted({p.x or 0 for p in points[MEETS[0]]}))
    series = [(meet, look, some) for (meet, some), look in looks]
    shown = [(meet, look) for meet, look, _ in series]
    text = (
        f"{points[MEETS[0]][0].pes} PEs, of which another one is late in each instance. All wait for it in a barrier, "
        "or only the other PE of its pair does."
    )
    return [Section("pairs", "Pairs", text, each_metric(a, "pairs-{}", MODE_METRICS[:2], series, at_x, axis), shown)]


def _early(a: Analysis, acts: str) -> Section:
    points = a.select(series=EARLY)
    axis = plain_axis("EC", False, sorted({p.y or 0 for p in points}))
    most = max((p.x or 0 for p in points), default=0)
    pes, wait = (points[0].pes, points[0].wait) if points else (0, "")
    figures = []
    for ratio in (1.0, most):
        id, series = f"early-{{}}-{ratio:g}".replace(".", "_"), by_mode(a, series=EARLY, x=ratio)
        figures += each_metric(a, id, MODE_METRICS[:2], series, at_y, axis, f"{{}}, CR {ratio:g}")
    how = WAITING.get(wait, wait)
    text = f"{pes} PEs, of which EC are early, by CR, in each mode, proactive. PEs that wait {how}.{acts}"
    return Section("early", "Early cores", text, figures, MODES)
