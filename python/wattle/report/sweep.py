"""The page of a study of waiting and clocks; barrier.py, slack.py, race.py and receiver.py give its sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle import manifest as manifests
from wattle import units
from wattle.manifest import Manifest
from wattle.report.amounts import si
from wattle.report.figures import Figure, Look
from wattle.report.page import Page
from wattle.report.sweep_figures import look_of, shown
from wattle.study import published, sweep
from wattle.study.published import Row, Verdict
from wattle.study.registry import Study
from wattle.study.stats import Center
from wattle.study.sweep import Sweep
from wattle.study.sweep_analysis import METRICS, Analysis, Point

WAIT_WORDS = {
    "spin": "spins, as the papers' barriers do",
    "yield": "spins, but gives the core away at each turn",
    "sleep": "sleeps in the kernel at once",
    "adaptive": "spins for as long as a sleep would cost, then sleeps: the default",
}


@dataclass(frozen=True)
class Section:
    """A part of the page. `text`: a paragraph before the figures; `legend`: what their lines are, policies by name
    alone or whatever else with its look."""

    id: str
    title: str
    text: str
    figures: list[Figure]
    legend: Sequence[str | tuple[str, Look]] = ()
    wide: bool = False


def build(
    made: Sweep, study: Study, directory: Path, record: Manifest, sections_of: Callable[[Analysis], list[Section]]
) -> Page:
    """Reads and checks the directory's samples, and makes the page."""
    analysis: Analysis = study.load(directory, record)
    told = manifests.study(directory, record)
    rows = sweep.judge(made, analysis)
    sections = [s for s in sections_of(analysis) if s.figures]
    title, heads, lines = made.table(analysis)
    return Page(
        template="sweep.html.j2",
        title=study.title,
        subtitle=study.question,
        summary=summary(made, analysis, rows, record),
        record=record,
        nav=_nav(sections),
        figures=[figure for section in sections for figure in section.figures],
        content={
            "a": analysis,
            "cards": _cards(made, analysis),
            "rows": rows,
            "notes": published.notes(rows),
            "tally": {published.PLURAL[v]: c for v, c in published.tally(rows).items()},
            "verdict_class": {v: v.name.lower().replace("_", "-") for v in Verdict},
            "sections": sections,
            "legend_of": _legend,
            "fits": made.fits(analysis),
            "governed": any(point.scaling for point in analysis.points),
            "first": {"title": title, "heads": heads, "lines": lines, "numbers": _numbers(heads, lines)},
            "drawn_as": _drawn_as,
            "metrics": [METRICS[name].label for name in SHOWN],
            "points": [_point(analysis, point) for point in analysis.points],
            "samples": _samples(analysis),
            "rounds": told.integer("rounds", lo=1),
            "paper": made.paper,
            "clusters": _clusters(record),
            "doubt": _doubt(analysis.uncertainty),
            "u": units,
        },
    )


def _clusters(record: Manifest) -> list[str]:
    """Of a simulated study: those that its jobs ran on."""
    extra = record.extra
    by_series = (extra.get("simulated_by_series") or {}).values() or [extra.get("simulated") or {}]
    return list(dict.fromkeys(str(one.get("cluster", "?")) for one in by_series))


def _nav(sections: Sequence[Section]) -> list[tuple[str, str]]:
    found = [("summary", "Summary"), ("result", "Results")]
    found += [(section.id, section.title) for section in sections]
    return [
        *found,
        ("published", "Published"),
        ("samples", "Samples"),
        ("method", "How measured"),
        ("manifest", "Manifest"),
    ]


def _legend(section: Section) -> list[tuple[str, Look, str]]:
    entries = [(entry, look_of(entry)) if isinstance(entry, str) else entry for entry in section.legend]
    return [(name, look, WAIT_WORDS.get(name, "")) for name, look in entries]


def _drawn_as(section: Section) -> str:
    """How to read what its figures have in common."""
    kinds = {trace["type"] for figure in section.figures for trace in figure.traces}
    if kinds == {"box"}:
        return "A box is the middle half of the samples, the line in it their median."
    return "Points are medians, whiskers the middle half of the samples." if kinds == {"scatter"} else ""


def _numbers(heads: list[str], lines: list[list[str]]) -> list[bool]:
    """Columns that hold amounts, to be set flush right."""
    return [all(line[k] == units.UNKNOWN or line[k][:1] in "+-0123456789" for line in lines) for k in range(len(heads))]


def _doubt(share: float | None) -> str | None:
    return None if share is None else f"± {share * 100:.0f} %" if share <= 1 else f"-100 to +{share * 100:.0f} %"


# ---- words ----


def summary(made: Sweep, a: Analysis, rows: list[Row], record: Manifest, *, reasons: str = "below") -> str:
    """One paragraph, every number of it from the samples. `reasons`: where the reader finds those of the verdicts."""
    parts = [
        _waiting(made, a),
        _fit(made, a),
        made.says(a),
        f"{_sentence(a.knob.words)}.",
        _joules(a, record),
        _verdicts(rows, reasons),
    ]
    if a.wrong:
        parts.insert(0, f"{units.several(a.wrong, 'sample')} did not do what it should: nothing below can be trusted.")
    return " ".join(p for p in parts if p)


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _waiting(made: Sweep, a: Analysis) -> str:
    """What the longest case of the first series took on cores, by wait policy."""
    last = _longest(a)
    points = a.select(series=last.series, who=last.who, mode="off", clock=None)
    found = [
        (p, c)
        for p in points
        if (p.name, p.pes, p.x, p.y) == (last.name, last.pes, last.x, last.y) and (c := a.center("cpu_s", p))
    ]
    listed = ", ".join(f"{p.wait} {units.seconds(c.median)}" for p, c in found)
    who = "the receiver" if last.who == "receiver" else "all PEs"
    return f"CPU time of {who} ({_case(made, last)}), by wait policy: {listed}."


def _longest(a: Analysis) -> Point:
    """Of what was measured first: its last case, under the first wait policy."""
    first = next(iter(a.points))
    who = "receiver" if first.who == "sender" else first.who
    return a.select(series=first.series, name=first.name, who=who, wait=first.wait, mode="off", clock=None)[-1]


def _case(made: Sweep, point: Point) -> str:
    swept = "" if point.x is None else ", " + made.at.format(x=f"{point.x:,.10g}")
    return f"{point.series}: {point.name}{swept}"


def _fit(made: Sweep, a: Analysis) -> str:
    fits = made.fits(a)
    return f"Spinning, {fits[0].words}." if fits else ""


def _joules(a: Analysis, record: Manifest) -> str:
    source = ", ".join(a.sources)
    if a.provenance == "unavailable":
        return "Joules are not known here."
    if a.provenance == "measured":
        return f"Joules are measured ({source}): a sensor sees the whole node."
    if a.knob.simulated:
        return f"Joules are modelled, not measured ({source}): the watts of each state and clock, as long as simulated."
    why = record.meter.get("why", "").rstrip(".")
    return f"Joules are modelled, not measured ({source}), all at the base clock" + (f": {why}." if why else ".")


def _verdicts(rows: list[Row], reasons: str) -> str:
    tally = published.tally(rows)
    return (
        f"Of {units.several(len(rows), 'published statement')} {tally[Verdict.AGREES]} agreed with what was found, "
        f"{tally[Verdict.DIFFERS]} differed, and {tally[Verdict.NOT_TESTABLE]} could not be tested here; the reasons "
        f"are {reasons}."
    )


# ---- tables ----

SHOWN = ("seconds", "cpu_s", "own", "node", "own_watts")


def _cards(made: Sweep, a: Analysis) -> list[tuple[str, str, str]]:
    """(value, what, how): what sleeping and adapting save of spinning's CPU time."""
    last = _longest(a)
    found = []
    for wait in ("sleep", "adaptive"):
        if saved := a.saving("cpu_s", a.like(last, wait="spin"), a.like(last, wait=wait)):
            found.append(
                (units.percent(saved.median), f"of CPU time saved by {wait}", f"against spin, {_case(made, last)}")
            )
    return found


def _cell(metric: str, found: Center | None) -> tuple[str, str]:
    if found is None:
        return units.UNKNOWN, ""
    return shown(metric, found.median), f"{shown(metric, found.p25)} to {shown(metric, found.p75)}"


def _head(p: Point) -> list[str]:
    clock = units.UNKNOWN if p.clock is None else f"{p.clock:g} GHz"
    swept = [units.UNKNOWN if v is None else f"{v:,g}" for v in (p.x, p.y)]
    return [p.series, p.name, p.who, p.wait, "-" if p.mode == "off" else p.policy, clock, str(p.pes), *swept]


def _point(a: Analysis, point: Point) -> dict[str, Any]:
    changes = a.changes(point)
    return {
        "head": _head(point),
        "cells": [_cell(metric, a.center(metric, point)) for metric in SHOWN],
        "changes": units.UNKNOWN if changes is None else f"{changes:.0f}",
    }


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one line each."""
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


__all__ = ["Section", "build", "summary", "sweep"]
