"""The page of a fitted network: simulated times against times on this machine's two nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattle.html.figures import Figure, Look, Trace, hover_text
from wattle.html.page import Page
from wattle.record.manifest import Manifest
from wattle.study.network.fit import FIT, HELD, Measured, shown
from wattle.study.network.study import BAR, QUESTION, TITLE, Analysis, load
from wattle.text import units

NAV = [
    ("summary", "Summary"),
    ("agreement", "Agreement"),
    ("numbers", "Numbers"),
    ("times", "Times"),
    ("method", "How"),
]
LOOKS = {
    FIT: Look("--spin", "circle-open"),
    "network": Look("--first", "circle"),
    "patterns": Look("--second", "square-open"),
    "gups": Look("--third", "diamond"),
    "halo": Look("--fourth", "square"),
}
ABOUT = {
    FIT: "programs used for the fit",
    "network": "the same program with other sizes and calls",
    "patterns": "five ways of writing a payload",
    "gups": "updates of single words",
    "halo": "a stencil with halo exchange",
}


def build(directory: Path, record: Manifest) -> Page:
    a = load(directory, record)
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=TITLE,
        subtitle=QUESTION,
        summary=_summary(a),
        record=record,
        nav=NAV,
        figures=[_ratios(a), _times(a)],
        content={
            "a": a,
            "cards": _cards(a),
            "legend": [(name, LOOKS[name], ABOUT[name]) for name in LOOKS],
            "numbers": [(key, shown(n), n.tag, n.source, n.how) for key, n in a.numbers.items()],
            "rows": [_line(m) for m in a.found],
        },
    )


def _summary(a: Analysis) -> str:
    held = a.of(HELD)
    within = sum(abs(m.error) <= BAR for m in held)
    worst = max(held, key=lambda m: abs(m.error))
    return (
        f"On {len(held)} times of programs and sizes that were not used for the fit, the median error of the "
        f"simulation is {units.share(a.error(HELD))}; {within} are within {units.share(BAR)}. On the {len(a.of(FIT))} "
        f"that were used it is {units.share(a.error(FIT))}. The largest error is that of {worst.case.program} "
        f"{_name(worst)}: {units.seconds(worst.simulated_s)} simulated, {units.seconds(worst.real_s)} on the nodes."
    )


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    cards = [(units.share(a.error(HELD)), "median error", "all times held back")]
    return cards + [
        (units.share(e), f"median error of {name}", units.several(n, "time")) for name, (n, e) in a.programs().items()
    ]


def _name(m: Measured) -> str:
    return f"{m.case.name}, {units.size(m.case.bytes)}" if m.case.bytes else m.case.name


def _group(m: Measured) -> str:
    return FIT if m.case.role == FIT else m.case.program


def _line(m: Measured) -> dict[str, Any]:
    return {
        "role": m.case.role,
        "program": m.case.program,
        "name": _name(m),
        "real": units.seconds(m.real_s),
        "spread": f"{units.seconds(m.quarter_s)} to {units.seconds(m.three_quarters_s)}",
        "simulated": units.seconds(m.simulated_s),
        "error": units.percent(100 * m.error),
        "near": abs(m.error) <= BAR,
    }


def _points(a: Analysis, y: Any) -> list[Trace]:
    return [_trace(name, [m for m in a.found if _group(m) == name], y) for name in LOOKS]


def _trace(name: str, found: list[Measured], y: Any) -> Trace:
    look = LOOKS[name]
    lines = [
        hover_text(
            f"{m.case.program} {_name(m)}",
            [
                ("on the nodes", units.seconds(m.real_s)),
                ("simulated", units.seconds(m.simulated_s)),
                ("error", units.percent(100 * m.error)),
            ],
        )
        for m in found
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [m.real_s for m in found],
        "y": [y(m) for m in found],
        "marker": {
            "color": look.colour,
            "symbol": look.symbol,
            "size": 8,
            "line": {"color": look.colour, "width": 1.4},
        },
        "customdata": lines,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _seconds_axis(title: str) -> dict[str, Any]:
    return {"type": "log", "tickformat": "~s", "ticksuffix": "s", "dtick": 1, "title": {"text": title}}


def _band(lo: float, hi: float, bottom: float, top: float) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [lo, hi, hi, lo, lo],
        "y": [bottom, bottom, top, top, bottom],
        "fill": "toself",
        "fillcolor": "--published-fill",
        "line": {"width": 0, "color": "--published"},
        "hoverinfo": "skip",
    }


def _ratios(a: Analysis) -> Figure:
    lo, hi = _ends(a)
    traces = [_band(lo, hi, -100 * BAR, 100 * BAR), *_points(a, lambda m: 100 * m.error)]
    layout = {
        "xaxis": _seconds_axis("on the nodes"),
        "yaxis": {"ticksuffix": " %", "title": {"text": "simulated time, too long by"}, "zeroline": True},
        "showlegend": False,
    }
    note = f"the band is ± {units.share(BAR)}"
    return Figure(
        "errors", "Error of each time", "Error of each time against the time itself", traces, layout, 380, note
    )


def _times(a: Analysis) -> Figure:
    lo, hi = _ends(a)
    equal = {
        "type": "scatter",
        "mode": "lines",
        "x": [lo, hi],
        "y": [lo, hi],
        "line": {"color": "--published", "width": 1.5, "dash": "dash"},
        "hoverinfo": "skip",
    }
    layout = {"xaxis": _seconds_axis("on the nodes"), "yaxis": _seconds_axis("simulated"), "showlegend": False}
    traces = [equal, *_points(a, lambda m: m.simulated_s)]
    return Figure(
        "times", "Simulated and real", "Simulated time against real time", traces, layout, 380, "dashed: equal"
    )


def _ends(a: Analysis) -> tuple[float, float]:
    times = [t for m in a.found for t in (m.real_s, m.simulated_s)]
    return 0.7 * min(times), 1.4 * max(times)
