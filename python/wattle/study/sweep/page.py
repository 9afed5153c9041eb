"""The page of a study of waiting and clocks. Each study adds its own sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from wattle.base.checked import Checked
from wattle.base.errors import DamagedFile
from wattle.html.figures import Figure, Look
from wattle.html.page import Page
from wattle.record import manifest as manifests
from wattle.record.manifest import Manifest
from wattle.study import published, samples
from wattle.study.medians import Cell, cell
from wattle.study.sweep.analysis import METRICS, Analysis, Point
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.figures import look_of, shown
from wattle.study.sweep.words import case_words, changes, longest
from wattle.text import units
from wattle.text.units import si

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


def build(made: Sweep, directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples, and makes the page."""
    analysis = made.load(directory, record)
    with _points_there(directory):
        return _page(made, analysis, manifests.study(directory, record), record)


@contextmanager
def _points_there(directory: Path) -> Iterator[None]:
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


def _page(made: Sweep, analysis: Analysis, facts: Checked, record: Manifest) -> Page:
    rows, bars = made.judge(analysis), made.judge_bars(analysis)
    sections = [s for s in made.sections(analysis) if s.figures]
    title, heads, lines = made.table(analysis)
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=made.title,
        subtitle=made.question,
        summary=made.summary(analysis, rows, bars, record, on_page=True),
        record=record,
        nav=_nav(sections, bool(rows), bool(bars)),
        figures=[figure for section in sections for figure in section.figures],
        content={
            "a": analysis,
            "cards": _cards(made, analysis),
            **published.content(rows),
            "bars": bars,
            "sections": sections,
            "legend_of": _legend,
            "fits": made.fits(analysis),
            "governed": any(point.scaling for point in analysis.points),
            "first": {"title": title, "heads": heads, "lines": lines, "amounts": _amounts(heads, lines)},
            "drawn_as": _drawn_as,
            "metrics": [METRICS[name].label for name in SHOWN],
            "points": [_point(analysis, point) for point in analysis.points],
            "samples": _samples(analysis),
            "rounds": facts.integer("rounds", lo=1),
            "paper": made.paper,
            "left_out": facts.get("left_out").object() if facts.has("left_out") else {},
            "clusters": _clusters(record),
            "doubt": units.doubt(analysis.uncertainty),
            "u": units,
        },
    )


def _clusters(record: Manifest) -> list[str]:
    """The clusters on which the jobs of a simulated study ran."""
    extra = record.extra
    by_series = (extra.get("simulated_by_series") or {}).values() or [extra.get("simulated") or {}]
    return list(dict.fromkeys(str(one.get("cluster", "?")) for one in by_series))


def _nav(sections: Sequence[Section], compares: bool, has_bars: bool) -> list[tuple[str, str]]:
    found = [("summary", "Summary"), ("result", "Results")]
    found += [(section.id, section.title) for section in sections]
    return [
        *found,
        *([("bars", "Our bars")] if has_bars else []),
        *([("published", "Published")] if compares else []),
        ("samples", "Samples"),
        ("method", "How measured"),
        ("manifest", "Manifest"),
    ]


def _legend(section: Section) -> list[tuple[str, Look, str]]:
    entries = [(entry, look_of(entry)) if isinstance(entry, str) else entry for entry in section.legend]
    return [(name, look, WAIT_WORDS.get(name, "")) for name, look in entries]


def _drawn_as(section: Section) -> str:
    """An explanation of the kind of figures in a section."""
    kinds = {trace["type"] for figure in section.figures for trace in figure.traces}
    if kinds == {"box"}:
        return "A box is the middle half of the samples, the line in it their median."
    return "Points are medians, whiskers the middle half of the samples." if kinds == {"scatter"} else ""


def _amounts(heads: list[str], lines: list[list[str]]) -> list[int]:
    """The columns that hold amounts, which are aligned right."""
    signs = "+-0123456789"
    return [k for k in range(len(heads)) if all(ln[k] == units.UNKNOWN or ln[k][:1] in signs for ln in lines)]


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
    cells = [cell(a.center(metric, point), partial(shown, metric)) for metric in SHOWN]
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
