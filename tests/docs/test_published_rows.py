"""docs/published-rows.md: each section of the papers with results has a row of a study, or a reason why it has none."""

from __future__ import annotations

import re

import made_rows
import pytest
from tree import ROOT
from wattle.study import registry

PAGE = ROOT / "docs" / "published-rows.md"
SECTIONS = (
    *("D 2.1", "D 4.1", "D 4.2", "D 4.3", "D 5.4", "D 6.1", "D 6.2", "D 6.3", "D 7.2.1", "D 7.2.2", "D 7.3", "D 7.4"),
    *("D 8.2.2", "D 8.3", "D 8.3.1", "D 8.3.2", "D 8.3.3", "D 8.4", "D 9.1", "D 9.2", "D 11.1", "D 11.2.2", "D 11.3"),
    *("D 12.4", "D 12.6.1", "D 12.6.2", "D 12.6.3", "D 12.7", "D 13.4.3", "D 13.4.4", "D A.1", "D A.2"),
    *("E 2.3", "E 4.1", "E 4.2", "P V.C", "S, performance characteristics", "S, conclusions"),
)
STUDIES = [name for name in registry.names() if (registry.HERE / name / "published.toml").exists()]


def without_a_row() -> list[tuple[str, str, str]]:
    """Source, statement and reason of each line of the first table."""
    first = PAGE.read_text().partition("\n## ")[0]
    lines = [line for line in first.splitlines() if line.startswith("| ")][1:]
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]


def rows() -> dict[str, str]:
    """The source of each row, by STUDY/ID."""
    return {f"{name}/{row.id}": row.source for name in STUDIES for row in made_rows.rows_of(name)}


def sections_of(source: str) -> list[str]:
    """The sections that a source names: `D 8.3.2 and 8.4` are two."""
    found, paper = [], ""
    for part in re.split(r", (?=[DEPS] )", source):
        paper = part[:1]
        if paper == "S":
            found.append(part)
        found += [
            f"{paper} {number}" for number in re.findall(r"(?<![\w.])[A-Z0-9V]+(?:\.[A-Z0-9]+)*(?![\w.])", part[1:])
        ]
    return found


def test_each_line_has_a_source_a_statement_and_a_reason():
    for line in without_a_row():
        assert len(line) == 3 and all(line), line
        assert line[0][:2] in ("D ", "E ", "P ", "S,"), line


@pytest.mark.parametrize("section", SECTIONS)
def test_each_section_with_results_has_a_row_or_a_reason(section):
    told = [source for source, _, _ in without_a_row()] + list(rows().values())
    assert any(section in sections_of(source) for source in told)


def test_the_rows_that_the_page_names_exist():
    named = set(re.findall(r"`([a-z]+/[\w.-]+)`", PAGE.read_text()))
    assert named and named <= set(rows())


def test_a_chapter_without_a_study_has_no_row():
    for source, _, why in without_a_row():
        if why.startswith("no study"):
            assert not [row for row, other in rows().items() if set(sections_of(other)) & set(sections_of(source))], (
                source
            )
