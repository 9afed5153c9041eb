"""The page of a study of a mini-app's versions."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from wattle import manifest as manifests
from wattle import units
from wattle.manifest import Manifest
from wattle.report import versions_figures as drawn
from wattle.report.amounts import si, si_scale
from wattle.report.page import Page
from wattle.study import published, registry
from wattle.study.published import Row, Verdict
from wattle.study.registry import Study
from wattle.study.stats import Center
from wattle.study.versions import App
from wattle.study.versions_analysis import METRICS, Analysis


def app_of(study: Study) -> App:
    return importlib.import_module(registry.MODULES[study.name]).APP


def build(study: Study, directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples, and makes the page."""
    app = app_of(study)
    analysis: Analysis = study.load(directory, record)
    rows, bars = published.judge(app.rows, analysis), published.judge(app.bars, analysis)
    by_input = [
        (given, drawn.figure_id("on", given), drawn.metric_figures(analysis, given)) for given in analysis.inputs
    ]
    waits = drawn.waits_figure(analysis)
    figures = [figure for _, _, found in by_input for figure in found] + ([waits] if waits else [])
    return Page(
        template="versions.html.j2",
        title=study.title,
        subtitle=f"{study.question} {analysis.place.found} on {analysis.place.words}.",
        summary=summary(app, analysis, rows, bars, record),
        record=record,
        nav=_nav(analysis, waits is not None),
        figures=figures,
        content={
            "a": analysis,
            "app": app,
            "rows": rows,
            "bars": bars,
            "notes": published.notes(rows),
            "tally": {published.PLURAL[v]: c for v, c in published.tally(rows).items()},
            "verdict_class": {v: v.name.lower().replace("_", "-") for v in Verdict},
            "by_input": by_input,
            "waits": waits,
            "cards": _cards(analysis),
            "legend": [(v, drawn.LOOKS[v], app.words[v]) for v in analysis.versions],
            "points": _points(analysis),
            "metrics": [METRICS[name].label for name in METRICS],
            "samples": _samples(analysis),
            "method": _method(directory, record),
            "energy": analysis.provenance("energy"),
            "doubt": _doubt(analysis.uncertainty),
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
    return word[0].upper() + word[1:]


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    plan = manifests.study(directory, record)
    return {"rounds": plan.integer("rounds", lo=1), "each": plan.integer("each", lo=1)}


def _doubt(share: float | None) -> str | None:
    return None if share is None else f"± {share * 100:.0f} %" if share <= 1 else f"-100 to +{share * 100:.0f} %"


# ---- words ----


def summary(app: App, a: Analysis, rows: list[Row], bars: list[Row], record: Manifest) -> str:
    """One paragraph, every number of it from the samples."""
    parts = [_quickest(a), _held(a), _joules(a, record), _bars(bars), _verdicts(rows)]
    if a.wrong:
        parts.insert(0, f"The answer was wrong in {a.wrong} runs: nothing below can be trusted.")
    parts += [f"Version {v} is left out: {reason}." for v, reason in a.left_out.items()]
    return " ".join(p for p in parts if p)


def _quickest(a: Analysis) -> str:
    given, n = a.inputs[-1], a.pes[-1]
    found = [(v, c.median) for v in a.versions if (c := a.center("seconds", v, given, n))]
    if len(found) < 2:
        return ""
    ordered = sorted(found, key=lambda entry: entry[1])
    scale = si_scale((s for _, s in ordered), "s")
    listed = ", ".join(f"{v} {si(s, 's', scale)}" for v, s in ordered)
    where = f"{given} with {units.several(n, 'PE')}"
    return f"Medians of {units.several(a.repeats, 'run')} on {where}, the quickest first: {listed}."


def _held(a: Analysis) -> str:
    if not a.held:
        return ""
    listed = ", ".join(f"{h.version} {h.share * 100:.2g} %" for h in a.held)
    return f"Workers that had no work were on a core for this part of the time: {listed}."


def _joules(a: Analysis, record: Manifest) -> str:
    kind = a.provenance("energy")
    if kind == "unavailable":
        return "Joules are not known here."
    source = ", ".join(a.sources)
    if kind == "measured":
        return f"Joules are measured ({source})."
    why = record.meter.get("why", "")
    return f"Joules are modelled, not measured ({source})" + (f": {why.rstrip('.')}." if why else ".")


def _bars(bars: list[Row]) -> str:
    tally = published.tally(bars)
    text = f"Of {units.several(len(bars), 'bar')} this project sets itself {tally[Verdict.AGREES]} held"
    if tally[Verdict.NOT_TESTABLE]:
        text += f" and {tally[Verdict.NOT_TESTABLE]} could not be tested here"
    return f"{text}."


def _verdicts(rows: list[Row]) -> str:
    tally = published.tally(rows)
    return (
        f"Of {units.several(len(rows), 'published statement')} {tally[Verdict.AGREES]} agreed with what was found, "
        f"{tally[Verdict.DIFFERS]} differed, and {tally[Verdict.NOT_TESTABLE]} could not be tested here."
    )


# ---- tables ----


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    """(value, what, how)."""
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


def _points(a: Analysis) -> list[dict[str, Any]]:
    """Median and quartiles of every metric, ready to print. Versions that are compared share a unit."""
    scales = {
        (given, n): {m: _scale(m, [a.center(m, v, given, n) for v in a.versions]) for m in METRICS}
        for given in a.inputs
        for n in a.pes
    }
    return [
        {
            "input": given,
            "pes": n,
            "version": version,
            "cells": [
                _cell(metric, a.center(metric, version, given, n), scales[given, n][metric]) for metric in METRICS
            ],
        }
        for given in a.inputs
        for n in a.pes
        for version in a.versions
    ]


def _scale(metric: str, found: list[Center | None]) -> units.Scale:
    return si_scale((c.median for c in found if c), METRICS[metric].unit)


def _cell(metric: str, found: Center | None, scale: units.Scale) -> tuple[str, str]:
    if found is None:
        return units.UNKNOWN, ""
    low, high = (drawn.amount(metric, v, scale) for v in (found.p25, found.p75))
    return drawn.amount(metric, found.median, scale), f"{low} to {high}"


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one line each."""
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
            {True: "yes", False: "NO", None: "not looked at"}[row["verified"]],
        ]
        for row in a.frame.sort("input", "series", "pes", "job", "repeat").iter_rows(named=True)
    ]
