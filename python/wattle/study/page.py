"""The frame of a study's page: its sections, bars, published figures, samples and method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle.html.figures import Figure
from wattle.html.page import Page
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.study import published
from wattle.study.engine import Study
from wattle.study.medians import Cell
from wattle.study.published import Row
from wattle.text import units
from wattle.text.provenance import amount

Block = tuple[str, Any]  # kind and value, as page.html.j2 has them
Table = tuple[Sequence[str], Sequence[Sequence[Cell]], Sequence[int]]  # headings, lines, and the columns of amounts


@dataclass(frozen=True)
class Section:
    """A part of the page. `nav`: its name in the bar of sections, where it is another than the title."""

    id: str
    title: str
    blocks: Sequence[Block]
    nav: str = ""

    @property
    def figures(self) -> list[Figure]:
        return [figure for kind, value in self.blocks if kind in ("figures", "small", "single") for figure in value]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A study's own parts of its page. `cards`: value, label and remark of each. `intro`: the words before the tally
    of published figures, and after it. `medians`, `samples`: the tables. `method`: the file with the entries on method.
    `more`: the values that it needs.
    """

    sections: Sequence[Section]
    cards: Sequence[tuple[str, str, str]]
    intro: tuple[str, str]
    medians_are: str
    medians: Table
    samples: Table | None = None
    method: str
    more: dict[str, Any] = field(default_factory=dict)
    rows_are: str = "statements"
    samples_id: str = "samples"
    published_nav: str = "Published"


def chips(rows: Iterable[Row], about: str) -> Block:
    """The verdicts of a section's rows."""
    return "chips", [(row, row.published) for row in rows if row.about == about]


def build(study: Study[Any], directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples, and makes the page."""
    a = study.load(directory, record)
    study.check_results(directory)
    rows, bars = study.judge(a), study.judge_bars(a)
    parts: Parts = study.parts(a, rows, manifest.study(directory, record), record)
    sections = [(section.id, section.nav or section.title) for section in parts.sections]
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=study.title,
        subtitle=study.subtitle(a),
        summary=study.summary(a, rows, bars, record, on_page=True),
        record=record,
        nav=[
            ("summary", "Summary"),
            *sections,
            *([("bars", "Our bars")] if bars else []),
            *([("published", parts.published_nav)] if rows else []),
            (parts.samples_id, "Samples"),
            ("method", "How measured"),
            ("manifest", "Manifest"),
        ],
        figures=[figure for section in parts.sections for figure in section.figures],
        content={
            "a": a,
            "study": study,
            **published.content(rows),
            "bars": bars,
            "parts": parts,
            "sections": parts.sections,
            "cards": parts.cards,
            "u": units,
            "amount": amount,
            **parts.more,
        },
    )
