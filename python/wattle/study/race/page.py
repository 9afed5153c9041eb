"""The page of the study of race to halt."""

from __future__ import annotations

from wattle.html.figures import Figure
from wattle.study.race.judges import FMA, JOBS, MEMORY, PHASES, PROCESSES, at_clocks, clusters_of
from wattle.study.sweep.analysis import WAITS, Analysis, Point
from wattle.study.sweep.page import OTHERS, Section, bars, boxes, lines, look_of, plain_axis
from wattle.text import units

SAVED = (("seconds", "time"), ("node", "energy"), ("edp", "EDP"), ("ed2p", "ED2P"), ("e2dp", "E2DP"))


def _clock(point: Point) -> float:
    return point.clock or 0


def sections(a: Analysis) -> list[Section]:
    return [jobs(a), _processes(a), _phases(a)]


def jobs(a: Analysis) -> Section:
    names = list(dict.fromkeys(p.name for p in a.select(series=JOBS)))
    if not a.knob.acts:
        figures = [
            _by_wait(a, metric, title, names)
            for metric, title in (("cpu_s", "CPU seconds"), ("node", "Energy of the node"))
        ]
        words = f"{a.knob.words[0].upper()}{a.knob.words[1:]}"
        text = f"{words}. The wait policy remains: each program under each wait policy."
        return Section("jobs", "Jobs", text, figures, WAITS)
    ticks = sorted({p.clock for p in a.select(series=JOBS) if p.clock is not None})
    axis = plain_axis("GHz", False, ticks)
    series = [(name, look, at_clocks(a, JOBS, name)) for name, look in zip(names, OTHERS, strict=False)]
    figures = [lines(a, f"job-{m}", f"{title[0].upper()}{title[1:]}", m, series, _clock, axis) for m, title in SAVED]
    legend = list(zip(names, OTHERS, strict=False))
    return Section("jobs", "Jobs", "Each program at each clock, the same for all PEs.", figures, legend)


def _by_wait(a: Analysis, metric: str, title: str, names: list[str]) -> Figure:
    """Boxes of the samples by wait policy. Bars would need an axis of their own."""
    groups = []
    for name in names:
        for wait in WAITS:
            for point in a.select(series=JOBS, name=name, wait=wait, mode="off", clock=None):
                found = a.center(metric, point)
                if found:
                    rows = a.points[point]
                    values = [v for row in rows if (v := _value(metric, row)) is not None]
                    groups.append((f"{name}, {wait}", look_of(wait), values))
    unit = "s" if metric == "cpu_s" else "J"
    return boxes(f"job-wait-{metric}", title, groups, unit, "" if metric == "cpu_s" else a.provenance)


def _value(metric: str, row: dict[str, object]) -> float | None:
    from wattle.study.sweep.analysis import METRICS

    return METRICS[metric].value(row)


def _processes(a: Analysis) -> Section:
    groups = []
    for point in a.select(series=PROCESSES):
        shares = [100 * v for job in a.waits(point) for v in job]
        name = point.policy if point.clock is None else f"{point.clock:g} GHz"
        groups.append((name, look_of(point.policy), shares))
    spin = next(iter(a.select(series=PROCESSES, wait="spin", mode="off", clock=None)), None)
    facts = ""
    if spin and (found := clusters_of(a, spin)):
        facts = " Spinning, PEs with similar waits: " + "; ".join(units.ranges(sorted(g)) for g in found) + "."
    figures = [
        boxes(
            "process-waits", "Share of the job's time that a PE waits", groups, "%", "a point for each PE of each job"
        )
    ]
    if spin:
        figures.append(_per_pe(a, spin))
    text = (
        "PE 0 computes least, the last PE most; all PEs synchronize often. Modes standard, reduced and hybrid "
        "need a knob." + facts
    )
    return Section("processes", "Processes", text, figures)


def _per_pe(a: Analysis, point: Point) -> Figure:
    compute, slack = (a.medians(point, key, point.pes) for key in ("compute_s", "slack_s"))
    heads = [f"PE {pe}" for pe in range(point.pes)]
    parts = [
        ("compute", "--compute", [1e3 * s for s in compute]),
        ("wait", "--spin", [1e3 * s for s in slack]),
    ]
    return bars("process-pes", "An instance by PE, spinning", heads, parts, "ms", "medians of the samples")


def _phases(a: Analysis) -> Section:
    if not a.knob.acts:
        groups = []
        for name, look in zip((FMA, *MEMORY), OTHERS, strict=True):
            for point in a.select(series=PHASES, name=name, clock=None):
                groups.append(
                    (name, look, [v for row in a.points[point] if (v := _value("own_watts", row)) is not None])
                )
        figure = boxes("phase-power", "Power of the PEs", groups, "W", a.provenance)
        text = (
            "A phase limited by arithmetic (FMA, compute intensity about 6) and four limited by memory (STREAM: copy "
            "0.5, scale and add 0.67, triad 0.75), at the only available clock."
        )
        return Section("phases", "Phases", text, [figure])
    ticks = sorted({p.clock for p in a.select(series=PHASES) if p.clock is not None})
    axis = plain_axis("GHz", False, ticks)
    series = [(n, look, at_clocks(a, PHASES, n)) for n, look in zip((FMA, *MEMORY), OTHERS, strict=True)]
    figures = [
        lines(a, f"phase-{m}", title, m, series, _clock, axis)
        for m, title in (
            ("seconds", "Time of a pass"),
            ("node", "Energy of a pass"),
            ("node_watts", "Power of the node"),
        )
    ]
    legend = [(name, look) for name, look, _ in series]
    return Section("phases", "Phases", "A pass of each kernel at each clock.", figures, legend)
