"""The page of a study of a mini-app's versions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from wattle.html.page import Page
from wattle.record import manifest as manifests
from wattle.record.manifest import Manifest
from wattle.study import published
from wattle.study.medians import Cell, cell
from wattle.study.stats import Center
from wattle.study.versions import figures as drawn
from wattle.study.versions.analysis import METRICS, Analysis
from wattle.study.versions.family import App
from wattle.text import units
from wattle.text.units import si_scale


def build(app: App, directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples, and makes the page."""
    analysis = app.load(directory, record)
    rows, bars = app.judge(analysis), app.judge_bars(analysis)
    by_input = [
        (given, drawn.figure_id("on", given), drawn.metric_figures(analysis, given)) for given in analysis.inputs
    ]
    waits = drawn.waits_figure(analysis)
    figures = [figure for _, _, found in by_input for figure in found] + ([waits] if waits else [])
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=app.title,
        subtitle=f"{app.question} {analysis.place.found} on {analysis.place.words}.",
        summary=app.summary(analysis, rows, bars, record, on_page=True),
        record=record,
        nav=_nav(analysis, waits is not None),
        figures=figures,
        content={
            "a": analysis,
            "app": app,
            **published.content(rows),
            "bars": bars,
            "by_input": by_input,
            "waits": waits,
            "cards": _cards(analysis),
            "legend": [(v, drawn.LOOKS[v], app.words[v]) for v in analysis.versions],
            "points": _points(analysis),
            "metrics": [METRICS[name].label for name in METRICS],
            "samples": _samples(analysis),
            "method": _method(directory, record),
            "energy": analysis.provenance("energy"),
            "doubt": units.doubt(analysis.uncertainty),
            "u": units,
        },
    )


def _nav(a: Analysis, waits: bool) -> list[tuple[str, str]]:
    found = [("summary", "Summary"), ("versions", "The versions")]
    found += [(drawn.figure_id("on", given), _short(given)) for given in a.inputs]
    found += [("waiting", "Waiting")] if waits or a.held else []
    found += [("bars", "Our bars"), ("published", "Published"), ("samples", "Samples")]
    return [*found, ("method", "How measured"), ("manifest", "Manifest")]


def _short(given: str) -> str:
    word = given.split(",")[0]
    return word[:1].upper() + word[1:]


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    plan = manifests.study(directory, record)
    return {"rounds": plan.integer("rounds", lo=1), "each": plan.integer("each", lo=1)}


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    """(value, label, remark) of the cards at the top."""
    given, n = a.inputs[-1], a.pes[-1]
    where = f"{given.split(',')[0]}, {units.several(n, 'PE')}, ratio of the medians"
    pairs = [(other, a.ratio("seconds", "am", other, given, n)) for other in a.versions if other != "am"]
    cards = [(f"{found.median:.2f}", f"time of am over {other}", where) for other, found in pairs if found]
    held = [
        (f"{h.share * 100:.2g} %", "of the time on a core, without work", f"am, {units.several(h.pes, 'PE')}")
        for h in a.held
        if h.version == "am"
    ]
    return [*cards, *held]


def _points(a: Analysis) -> list[list[Cell]]:
    """Median and quartiles of every metric, as text. Versions that are compared share a unit."""
    scales = {
        (given, n): {m: _scale(m, [a.center(m, v, given, n) for v in a.versions]) for m in METRICS}
        for given in a.inputs
        for n in a.pes
    }
    return [
        [
            *(given, str(n), version),
            *(
                cell(a.center(m, version, given, n), partial(drawn.amount, m, scale=scales[given, n][m]))
                for m in METRICS
            ),
        ]
        for given in a.inputs
        for n in a.pes
        for version in a.versions
    ]


def _scale(metric: str, found: list[Center | None]) -> units.Scale:
    return si_scale((c.median for c in found if c), METRICS[metric].unit)


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one row each."""
    return [
        [
            row["input"],
            row["series"],
            row["version"],
            str(row["pes"]),
            str(row["round"]),
            str(row["repeat"]),
            units.seconds(row["seconds"]),
            units.seconds(row["cpu_s"]),
            units.seconds(row["wait_s"]),
            units.seconds(row["wait_cpu_s"]),
            drawn.amount("energy", row["cpu_J"]),
            row["cpu_provenance"],
            {True: "yes", False: "NO", None: "not checked"}[row["verified"]],
        ]
        for row in a.frame.sort("input", "series", "pes", "job", "repeat").iter_rows(named=True)
    ]
