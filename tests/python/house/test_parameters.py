"""No function of src has more than seven parameters, except where another project's interface asks for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tree import ROOT

MOST = 7
PUBLIC = re.compile(r"P?ARMCI_\w+|on_lost")  # ARMCI's own signatures; PMIx's of an event handler

ARGUMENTS = r"\(([^;{}()]*(?:\([^()]*\)[^;{}()]*)*)\)"
FUNCTION = re.compile(r"^[A-Za-z_][\w *()]*?\b(\w+)" + ARGUMENTS + r"\s*(?:__attribute__[^;{]*)?(?=[;{])", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def parameters(text: str) -> int:
    depth = commas = 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        commas += sign == "," and depth == 0
    return commas + 1


def too_many(text: str) -> list[tuple[str, int]]:
    found = [(m[1], parameters(m[2])) for m in FUNCTION.finditer(COMMENT.sub("", text))]
    return [(name, n) for name, n in found if n > MOST and not PUBLIC.fullmatch(name)]


def test_functions_with_many_parameters_are_found() -> None:
    assert too_many(
        "static int f(int a, int b[2], void (*c)(int, int), int d, int e,\n  int g, int h, int i)\n{\n}\n"
    ) == [("f", 8)]
    assert too_many("int f(int a, int b, int c, int d, int e, int g, void (*h)(int, int));\n") == []


@pytest.mark.parametrize("room", sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()), ids=lambda p: p.name)
def test_no_function_has_more_than_seven_parameters(room: Path) -> None:
    found = {str(p.relative_to(ROOT)): too_many(p.read_text()) for p in sorted(room.rglob("*.[ch]"))}
    assert {path: names for path, names in found.items() if names} == {}
