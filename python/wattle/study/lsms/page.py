"""The page of the study of LSMS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wattle.html.figures import Figure, Look, Trace, fragments_axis, hover_text
from wattle.study.lsms.judges import PATTERNS, SCALE, SYNC, TIMELINE, TRANSFER, VERSIONS, loss, most
from wattle.study.lsms.recorded import STAGES, Span, Step, last_step
from wattle.study.lsms.study import SCALE_RATIO
from wattle.study.sweep.analysis import WAITS, Analysis, Point
from wattle.study.sweep.page import (
    Section,
    Series,
    at_x,
    at_y,
    bars,
    by_mode,
    by_wait,
    each_metric,
    only_records,
    plain_axis,
)
from wattle.study.sweep.plan import MODES, SCALINGS
from wattle.text import units

NAMES = {"shmem": "OpenSHMEM", "mpi": "MPI"}
LOOKS = {
    "PQPQ": Look("--first"),
    "PPQ": Look("--second", "square-open", "dot"),
    "MPQMPQ": Look("--third", "diamond", "dashdot"),
    "MPMPQ": Look("--fourth", "circle-open", "dash"),
    "MMPQAMM": Look("--yield", "square", "dot"),
}
COLOURS = {
    "transfer": "--transfer",
    "compute": "--compute",
    "sync": "--grid",
    "collect": "--fourth",
    "spin": "--spin",
    "yield": "--yield",
    "asleep": "--asleep",
}
WORDS = {"sync": "at the barrier", "collect": "results", "asleep": "asleep"}
METRICS = (("seconds", "Time"), ("node", "Energy of the nodes"))


def sections(a: Analysis) -> list[Section]:
    there = [v for v in VERSIONS if any(p.name.startswith(f"{v} ") for p in a.points)]
    found = [_timelines(a, there), _transfers(a, there), _waits(a, there)]
    found += [_modes(a, version) for version in there]
    return [*found, _scale(a, there)]


# ---- timelines ----


def _timelines(a: Analysis, there: Sequence[str]) -> Section:
    figures = []
    for version in there:
        for point in a.select(series=TIMELINE):
            step = last_step(a, point) if point.name.startswith(f"{version} ") else None
            if step:
                figures += [_timeline(version, step, zoom) for zoom in (False, True)]
    return Section(
        "stages",
        "Both stages over time",
        "The last step of a job, as in figures 5.4 and 5.5. The thick bar of a PE shows the stages of the program, the "
        "thin one its waits as the runtime recorded them. Transfers are blocking here (PQPQ): these are the easiest to "
        "see.",
        figures,
        wide=True,
    )


def _timeline(version: str, step: Step, zoom: bool) -> Figure:
    """A step, or its transfer stage."""
    scale, unit = (1e6, "µs") if step.end < 2e-3 else (1e3, "ms")
    heads = [f"PE {pe}, {role}" for pe, role in enumerate(step.roles)]
    traces = []
    for rows, width, offset in ((step.stages, 0.5, -0.42), (step.waits, 0.22, 0.14)):
        kinds = dict.fromkeys(span.kind for spans in rows for span in spans)
        ordered = [k for k in (*STAGES, *COLOURS) if k in kinds]
        traces += [_bars(kind, heads, rows, scale, unit, (width, offset)) for kind in dict.fromkeys(ordered)]
    last = step.transfer_end if zoom else step.end
    axis = {"title": {"text": unit}, "range": [0, last * scale * 1.02]}
    title = f"{NAMES[version]}: {'the transfer stage' if zoom else 'the whole step'}"
    layout = {
        "barmode": "overlay",
        "showlegend": True,
        "xaxis": axis,
        "yaxis": {"type": "category", "categoryarray": heads, "autorange": "reversed", "automargin": True},
        "margin": {"l": 8, "r": 14, "t": 38, "b": 8},
    }
    id = f"timeline-{version}-{'transfer' if zoom else 'step'}"
    return Figure(id, title, f"{title}: stages and waits of each PE", traces, layout, 110 + 44 * len(heads), "one job")


def _bars(
    kind: str, heads: Sequence[str], rows: Sequence[Sequence[Span]], scale: float, unit: str, at: tuple[float, float]
) -> Trace:
    """The spans of one kind, as bars of a width and an offset."""
    found = [(head, span) for head, spans in zip(heads, rows, strict=True) for span in spans if span.kind == kind]
    words = WORDS.get(kind, kind)
    return {
        "type": "bar",
        "orientation": "h",
        "name": words,
        "y": [head for head, _ in found],
        "base": [span.begin * scale for _, span in found],
        "x": [(span.end - span.begin) * scale for _, span in found],
        "width": at[0],
        "offset": at[1],
        "marker": {"color": COLOURS[kind], "line": {"width": 0}},
        "customdata": [
            hover_text(head, [(words, units.seconds(span.end - span.begin)), ("from", units.seconds(span.begin))])
            for head, span in found
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


# ---- lines ----


def _transfers(a: Analysis, there: Sequence[str]) -> Section:
    counts = sorted({int(p.x or 0) for p in a.select(series=TRANSFER)})
    axis = fragments_axis(counts, True) | {"title": {"text": "parameters in a message"}}
    figures = []
    for version in there:
        series = [(p, LOOKS[p], a.select(series=TRANSFER, name=f"{version} {p}")) for p in PATTERNS]
        figures += each_metric(a, f"transfer-{version}-{{}}", METRICS, series, at_x, axis, f"{NAMES[version]}: {{}}")
    return Section(
        "transfer",
        "The transfer stage",
        "Steps without computing, in each access pattern: the root sends to the masters, the masters send to their "
        "workers, and all synchronize.",
        figures,
        [(pattern, LOOKS[pattern]) for pattern in PATTERNS],
    )


def _of(version: str, points: Sequence[Point]) -> list[Point]:
    return [p for p in points if p.name.startswith(f"{version} ")]


def _series_of(version: str, series: Series) -> Series:
    return [(name, look, _of(version, points)) for name, look, points in series]


def _ratio_axis(a: Analysis) -> dict[str, Any]:
    return plain_axis("CR", False, sorted({p.y or 0 for p in a.select(series=SYNC)}))


def _waits(a: Analysis, there: Sequence[str]) -> Section:
    metrics = (*METRICS[:1], ("cpu_s", "CPU seconds"), *METRICS[1:])
    figures = []
    for version in there:
        series, title = _series_of(version, by_wait(a, series=SYNC)), f"{NAMES[version]}: {{}}"
        figures += each_metric(a, f"sync-{version}-{{}}", metrics, series, at_y, _ratio_axis(a), title)
    return Section(
        "waits",
        "Unequal work, by wait policy",
        "A step with computing. The last worker of a group computes CR times as much as its master; the sum is the "
        "same for each CR. Where PEs share cores none of them spins, because it would keep the others from a core.",
        figures,
        WAITS,
    )


def _modes(a: Analysis, version: str) -> Section:
    acts = only_records(a, "no mode changes a clock: the lines show their own cost")
    figures = []
    for scaling in SCALINGS:
        series, id = _series_of(version, by_mode(a, series=SYNC, scaling=scaling)), f"modes-{version}-{scaling}-{{}}"
        figures += each_metric(a, id, METRICS, series, at_y, _ratio_axis(a), f"{{}}, {scaling}")
    alone = ""
    if version == "mpi" and a.knob.simulated:
        alone = (
            " The governor of an MPI job knows the waits of its own node only. Each rank is alone on a node here, so "
            "modes performance and hybrid raise no clock."
        )
    text = f"The same steps in each mode of the governor.{acts}{alone}"
    return Section(f"modes-{version}", f"Unequal work by {NAMES[version]}, by mode", text, figures, MODES)


# ---- scale ----


def _scale(a: Analysis, there: Sequence[str]) -> Section:
    figures = [figure for version in there if (figure := _by_pes(a, version))]
    facts = []
    for version in there:
        points = _of(version, a.select(series=SCALE, y=most(a, SCALE)))
        losses = [(p.pes, c.median) for p in points if (c := loss(a, p))]
        if losses:
            listed = ", ".join(f"{units.several(n, 'PE')} {units.percent(v)}" for n, v in losses)
            facts.append(f"{NAMES[version]}: {listed}.")
    text = f"A step at CR {SCALE_RATIO} by number of PEs: the mean over the PEs of the time in each stage. "
    if facts:
        text += f"Energy that equal work would save ({a.provenance}): {' '.join(facts)}"
    return Section("scale", "By number of PEs", text, figures)


def _by_pes(a: Analysis, version: str) -> Figure | None:
    points = _of(version, a.select(series=SCALE, y=most(a, SCALE)))
    if not points:
        return None
    heads = [units.several(p.pes, "PE") for p in points]
    parts = [
        (
            WORDS.get(stage, stage),
            COLOURS[stage] if stage != "sync" else "--spin",
            [1e3 * sum(a.medians(p, f"{stage}_s", p.pes)) / p.pes for p in points],
        )
        for stage in STAGES
    ]
    return bars(f"scale-{version}", NAMES[version], heads, parts, "ms", "medians of the samples")
