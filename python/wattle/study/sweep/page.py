"""The page of a study of waiting and clocks. Each study adds its own sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from wattle.base.checked import Checked
from wattle.base.errors import DamagedFile
from wattle.html.figures import Figure, Look, Trace, amounts_axis, hover_text
from wattle.record.manifest import Manifest
from wattle.study import page, samples
from wattle.study.medians import Cell, cell, hover_lines, through
from wattle.study.stats import Center
from wattle.study.sweep.analysis import METRICS, WAITS, Analysis, Point
from wattle.study.sweep.family import Sweep, case_words, changes, longest
from wattle.study.sweep.plan import MODES
from wattle.text import units
from wattle.text.units import si

LOOKS = {
    "spin": Look("--first", "circle"),
    "yield": Look("--second", "square-open", "dot"),
    "sleep": Look("--third", "diamond", "dashdot"),
    "adaptive": Look("--fourth", "circle-open", "dash"),
    "baseline": Look("--first", "circle"),
    "performance": Look("--second", "square-open", "dot"),
    "energy": Look("--third", "diamond", "dashdot"),
    "hybrid": Look("--fourth", "circle-open", "dash"),
}
OTHERS = (
    Look("--first"),
    Look("--second", "square-open", "dot"),
    Look("--third", "diamond", "dashdot"),
    Look("--fourth", "circle-open", "dash"),
    Look("--yield", "square", "dot"),
)

CLOSE = 0.03  # of the axis: ticks that are nearer to each other share a text


def look_of(policy: str) -> Look:
    return LOOKS.get(policy.split(",")[0], Look("--yield", "square", "dot"))


def lines(
    a: Analysis,
    id: str,
    title: str,
    metric: str,
    series: Series,
    x: Callable[[Point], float],
    axis: dict[str, Any],
    height: int = 320,
) -> Figure:
    """A metric against the swept value, with a line for each of `series` (name, look, points)."""
    traces = [t for name, look, points in series if (t := _trace(a, metric, name, look, points, x))]
    kind = METRICS[metric]
    note = f"{a.provenance}; lower is better" if kind.energy else "lower is better"
    if kind.energy and not traces:
        note = "not known here"
    return Figure(
        id=id,
        title=title,
        label=f"{title}: {kind.label} against {axis['title']['text']}, a line for each way",
        traces=traces,
        layout={"xaxis": axis, "yaxis": amounts_axis(traces, kind.unit)},
        note=note,
        height=height,
    )


def _trace(
    a: Analysis, metric: str, name: str, look: Look, points: Sequence[Point], x: Callable[[Point], float]
) -> Trace | None:
    kind = METRICS[metric]
    found = [(p, c) for p in points if (c := a.center(metric, p))]
    pes = {id(c): p.pes for p, c in found}

    def hover(at: float, c: Center) -> Markup:
        lines = hover_lines(kind.label, c, kind.shown)
        return hover_text(
            f"{name}, {units.several(pes[id(c)], 'PE')}", [*lines, ("at", f"{at:,g}"), ("samples", str(c.n))]
        )

    return through([(x(p), c) for p, c in found], look, name, hover)


Series = Sequence[tuple[str, Look, Sequence[Point]]]


def at_x(point: Point) -> float:
    return point.x or 0


def at_y(point: Point) -> float:
    return point.y or 0


def by_wait(a: Analysis, **where: Any) -> Series:
    """A series for each wait policy, without a governor."""
    return [(wait, look_of(wait), a.select(wait=wait, mode="off", **where)) for wait in WAITS]


def by_mode(a: Analysis, **where: Any) -> Series:
    """A series for each mode of the governor."""
    return [(mode, look_of(mode), a.select(mode=mode, **where)) for mode in MODES]


def each_metric(
    a: Analysis,
    id: str,
    metrics: Sequence[tuple[str, str]],
    series: Series,
    x: Callable[[Point], float],
    axis: dict[str, Any],
    title: str = "{}",
) -> list[Figure]:
    """The figures `lines` of metrics (name, title). `id`, `title`: forms of the figure's."""
    return [lines(a, id.format(m), title.format(words), m, series, x, axis) for m, words in metrics]


def sizes_axis(sizes: Sequence[float], title: str) -> dict[str, Any]:
    """A logarithmic axis of bytes, with a tick at every power of 16."""
    ticks = [n for n in (16**k for k in range(8)) if sizes and sizes[0] <= n <= sizes[-1]]
    return {
        "type": "log",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [units.size(t) for t in ticks],
        "title": {"text": title},
    }


def only_records(a: Analysis, words: str) -> str:
    """A sentence about a knob that changes no clock; empty where one does."""
    return "" if a.knob.acts else f" The knob only records, so {words}."


def plain_axis(title: str, log: bool = False, ticks: Sequence[float] = ()) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": title}, "type": "log" if log else "linear"}
    if ticks:
        groups = [[t] for t in ticks] if log else _close(ticks)
        texts = [_text(group) for group in groups]
        axis |= {"tickmode": "array", "tickvals": [group[0] for group in groups], "ticktext": texts}
        if len(groups) < len(ticks):
            axis["tickangle"] = 0
    return axis


def _text(ticks: Sequence[float]) -> str:
    first, last = f"{ticks[0]:,g}", f"{ticks[-1]:,g}"
    return first if len(ticks) == 1 else f"{first}, {last}" if len(ticks) == 2 else f"{first} to {last}"


def _close(ticks: Sequence[float]) -> list[list[float]]:
    """Ticks in groups whose texts would cover each other, such as the base clock and the request for turbo."""
    groups: list[list[float]] = []
    for tick in sorted(ticks):
        if groups and tick - groups[-1][0] < CLOSE * (max(ticks) - min(ticks)):
            groups[-1].append(tick)
        else:
            groups.append([tick])
    return groups


def boxes(id: str, title: str, groups: Sequence[tuple[str, Look, Sequence[float]]], unit: str, note: str) -> Figure:
    """A box for each group of values. Every value is drawn."""
    traces: list[Trace] = [
        {
            "type": "box",
            "name": name,
            "x": [name] * len(values),
            "y": list(values),
            "boxpoints": "all",
            "jitter": 0.5,
            "pointpos": 0,
            "line": {"color": look.colour, "width": 1.4},
            "fillcolor": "rgba(0,0,0,0)",
            "marker": {"color": look.colour, "size": 4, "opacity": 0.6, "symbol": look.symbol},
            "customdata": [hover_text(name, [("value", f"{v:.1f} {unit}")]) for v in values],
            "hoverinfo": "text",
            "hoveron": "points",
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, look, values in groups
        if values
    ]
    layout = {"xaxis": {"type": "category"}, "yaxis": {"ticksuffix": f" {unit}", "rangemode": "tozero"}}
    return Figure(id, title, f"{title}: a box for each", traces, layout, 320, note)


def bars(
    id: str,
    title: str,
    heads: Sequence[str],
    parts: Sequence[tuple[str, str, Sequence[float]]],
    axis: str,
    note: str,
    height: int = 320,
) -> Figure:
    """Horizontal bars, one for each heading, of parts in sequence: (name, colour, a value for each heading). `axis`:
    the values' unit.
    """
    traces: list[Trace] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": list(heads),
            "x": list(values),
            "marker": {"color": colour},
            "customdata": [
                hover_text(head, [(name, f"{v:.3g} {axis}")]) for head, v in zip(heads, values, strict=True)
            ],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, colour, values in parts
    ]
    layout = {
        "barmode": "stack",
        "bargap": 0.3,
        "showlegend": True,
        "xaxis": {"title": {"text": axis}, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
        "margin": {"l": 8, "r": 14, "t": 56, "b": 8},  # the legend is below the buttons
    }
    return Figure(
        id, title, f"{title}: bars of {', '.join(name for name, _, _ in parts)}", traces, layout, height, note
    )


WAIT_WORDS = {
    "spin": "spins, as the papers' barriers do",
    "yield": "spins, but yields the core in each iteration",
    "sleep": "sleeps in the kernel at once",
    "adaptive": "spins for as long as a sleep would cost, then sleeps: the default",
}


@dataclass(frozen=True)
class Section:
    """A part of the page. `text`: a paragraph before the figures. `legend`: the lines of the figures, policies by name
    and others with their looks.
    """

    id: str
    title: str
    text: str
    figures: list[Figure]
    legend: Sequence[str | tuple[str, Look]] = ()
    wide: bool = False


def parts(made: Sweep, a: Analysis, facts: Checked, record: Manifest) -> page.Parts:
    sections = [_result(made, a), *(_blocks(section) for section in made.sections(a) if section.figures)]
    head = ["series", "what", "whose", "wait", "mode", "clock", "PEs", "x", "y"]
    return page.Parts(
        sections=sections,
        cards=_cards(made, a),
        intro=(
            f"The statements that {made.paper} gives in words or numbers; the text at hand lacks the plots.",
            "The verdicts are computed from these samples. Positive percentages are savings.",
        ),
        medians_are="Medians over the samples, and the middle half of them.",
        medians=(
            [*head, *(METRICS[name].label for name in SHOWN), a.changes_head("changes")],
            [_point(a, point) for point in a.points],
            range(6, 99),
        ),
        samples=(
            [*head, "round", "repeat", "time", "CPU", "CPU energy", "DRAM energy", "joules are", "verified"],
            _samples(a),
            range(6, 15),
        ),
        method="sweep/method.html.j2",
        more={
            "facts": {"rounds": facts.integer("rounds", lo=1)},
            "left_out": facts.get("left_out").object() if facts.has("left_out") else {},
            "clusters": _clusters(record),
            "doubt": units.doubt(a.uncertainty),
        },
    )


@contextmanager
def points_there(directory: Path) -> Iterator[None]:
    """Turns errors of figures into DamagedFile. Samples are checked one by one when they are read. Only a figure shows
    whether all its points were measured equally often. A missing point gives an index error, an empty sequence or a
    zero.
    """
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (LookupError, ArithmeticError, ValueError, StopIteration) as error:
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        raise DamagedFile(directory / samples.FILE, f"lacks samples that the report needs ({why})") from error


def _clusters(record: Manifest) -> list[str]:
    """The clusters on which the jobs of a simulated study ran, with their titles."""
    extra = record.extra
    by_series = (extra.get("simulated_by_series") or {}).values() or [extra.get("simulated") or {}]
    names = [(str(one.get("cluster", "?")), str(one.get("title", ""))) for one in by_series]
    return list(dict.fromkeys(f"{name} ({title})" if title else name for name, title in names))


def amounts(heads: list[str], lines: list[list[str]]) -> list[int]:
    """The columns of a table that hold amounts, which are aligned right."""
    signs = "+-0123456789"
    return [k for k in range(len(heads)) if all(ln[k] == units.UNKNOWN or ln[k][:1] in signs for ln in lines)]


NO_CLOCK = Markup(" <b>No clock can be set here</b> ({}){}.")
GOVERNED = ": modes of the governor ran with a knob that only records, so there are no results on their savings"


def _result(made: Sweep, a: Analysis) -> page.Section:
    title, heads, lines = made.table(a)
    governed = GOVERNED if any(point.scaling for point in a.points) else ""
    none = "" if a.knob.acts else NO_CLOCK.format(a.knob.why or "the knob only records", governed)
    blocks: list[page.Block] = [
        ("p", Markup("{}.{}").format(title, none)),
        ("table", (heads, lines, amounts(heads, lines))),
    ]
    if fits := made.fits(a):
        badge = Markup('<span class="badge {0}">{0}</span>')
        rows = [[fit.policy, fit.words, f"{fit.r2:.4f}", badge.format(fit.provenance)] for fit in fits]
        blocks += [("h3", "Straight lines by least squares")]
        blocks += [("table", (("policy", "line", "r2", "joules are"), rows, (2,)))]
    return page.Section("result", "Results", blocks)


def _blocks(section: Section) -> page.Section:
    blocks: list[page.Block] = [("p", f"{section.text} {_drawn_as(section)}")]
    if section.legend:
        entries = [(entry, look_of(entry)) if isinstance(entry, str) else entry for entry in section.legend]
        blocks.append(("legend bold", [(name, look, WAIT_WORDS.get(name, "")) for name, look in entries]))
    blocks.append(("single" if section.wide else "figures", section.figures))
    return page.Section(section.id, section.title, blocks)


def _drawn_as(section: Section) -> str:
    """An explanation of the kind of figures in a section."""
    kinds = {trace["type"] for figure in section.figures for trace in figure.traces}
    if kinds == {"box"}:
        return "A box is the middle half of the samples, the line in it their median."
    return "Points are medians, whiskers the middle half of the samples." if kinds == {"scatter"} else ""


SHOWN = ("seconds", "cpu_s", "own", "node", "own_watts")


def _cards(made: Sweep, a: Analysis) -> list[tuple[str, str, str]]:
    """(value, label, remark) of the cards: the CPU time of spinning that sleeping and adapting save."""
    last = longest(a)
    found = []
    for wait in ("sleep", "adaptive"):
        if saved := a.saving("cpu_s", a.like(last, wait="spin"), a.like(last, wait=wait)):
            found.append(
                (
                    units.percent(saved.median),
                    f"of CPU time saved by {wait}",
                    f"against spin, {case_words(made.at, last)}",
                )
            )
    return found


def _head(p: Point) -> list[str]:
    clock = units.UNKNOWN if p.clock is None else f"{p.clock:g} GHz"
    swept = [units.UNKNOWN if v is None else f"{v:,g}" for v in (p.x, p.y)]
    return [p.series, p.name, p.who, p.wait, "-" if p.mode == "off" else p.policy, clock, str(p.pes), *swept]


def _point(a: Analysis, point: Point) -> list[Cell]:
    cells = [cell(a.center(metric, point), METRICS[metric].shown) for metric in SHOWN]
    return [*_head(point), *cells, changes(a, point)]


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one row each."""
    return [
        [
            *_head(point),
            str(row["round"]),
            str(row["repeat"]),
            units.seconds(row["seconds"]),
            units.seconds(row["cpu_s"]),
            *(units.UNKNOWN if row[f"{d}_J"] is None else si(row[f"{d}_J"], "J") for d in ("cpu", "dram")),
            row["cpu_provenance"],
            "yes" if row["verified"] else "NO",
        ]
        for point, rows in a.points.items()
        for row in rows
    ]
