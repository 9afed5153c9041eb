"""docs/profile.md and the types of `wattle.record.pe` have the same fields, and the runtime writes these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jobs import HOME, clean_environment, run
from msgspec import inspect
from tree import ROOT
from wattle.record import pe

PAGE = (ROOT / "docs/profile.md").read_text()
FIRST = re.compile(r"^\| (`.*?`) \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")


def rows(title: str) -> dict[str, str]:
    """The first table of a section: the words of a row, by each field that it names."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return {name: words for names, words in FIRST.findall(section) for name in NAME.findall(names)}


def members(kind: inspect.Type) -> dict[str, inspect.Type]:
    """The fields of a type, of the entries of a list, or of an object that may be null."""
    if isinstance(kind, inspect.UnionType):
        return next((found for each in kind.types if (found := members(each))), {})
    if isinstance(kind, inspect.ListType):
        return members(kind.item_type)
    fields = getattr(kind, "fields", ())
    names = [getattr(field, "encode_name", field.name) for field in fields]
    return dict(zip(names, (field.type for field in fields), strict=True))


WHOLE = members(inspect.type_info(pe.PE))


@pytest.mark.parametrize(
    ("title", "of"),
    [
        ("Fields (schema 4)", WHOLE | {"schema": None}),
        ("A job that was killed", members(WHOLE["ended"])),
        ("Time without a core", members(WHOLE["no_core"])),
        ("Clocks", members(WHOLE["clocks"])),
        ("Order of calls", dict.fromkeys(pe.STEP_COLUMNS[2:])),
        ("Work for others", dict.fromkeys(pe.Served._fields)),
    ],
)
def test_a_table_of_the_page_has_the_fields_of_its_type(title: str, of: dict[str, Any]) -> None:
    assert set(rows(title)) == set(of)


def test_a_row_names_the_parts_of_its_field() -> None:
    for title, kinds in (("Fields (schema 4)", WHOLE), ("Clocks", members(WHOLE["clocks"]))):
        found = rows(title)
        for name in kinds.keys() - {"ended", "no_core", "clocks"}:
            assert members(kinds[name]).keys() <= set(NAME.findall(found[name])), name


def unknown(value: Any, kind: inspect.Type, place: str) -> Iterator[str]:
    """The places of a document that its type does not have."""
    if isinstance(value, list):
        for entry in value:
            yield from unknown(entry, kind, place)
    elif isinstance(value, dict) and (known := members(kind)):
        yield from (f"{place}.{key}" for key in value.keys() - known.keys())
        for key in value.keys() & known.keys():
            yield from unknown(value[key], known[key], f"{place}.{key}")


def test_the_runtime_writes_these_fields(tmp_path: Path) -> None:
    env = clean_environment() | {"WATTLE_PROFILE_DIR": str(tmp_path), "WATTLE_COUNTERS": "on"}
    run(HOME / "bin/oshrun", "-n", 2, HOME / "bin/examples/halo", env=env)
    document = json.loads((tmp_path / "pe-00000.json").read_text())
    assert document.pop("schema") == pe.SCHEMA
    assert not set(unknown(document, inspect.type_info(pe.PE), ""))
