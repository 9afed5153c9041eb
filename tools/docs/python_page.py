"""The reference of `import wattle`, from the docstrings of its public names and the columns of its tables."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import wattle
from wattle.api import functions
from wattle.energy.region import Gathered, Measured
from wattle.frames.columns import TABLES

HEAD = """# Python reference

After this page you know each name of `import wattle`, and each column of its tables.
[Wattle from Python](../tutorials/python.md) shows them in use. All of them exist since version 0.1.0. An error is a
`wattle.WattleError`, whose text is that of the commands.

"""
COLUMNS = """## Columns

A name ends in its unit: `_s` seconds, `_bytes`, `_percent`; `joules` and `watts` are in J and W. A number that is not
known is null, never 0.

"""
SECTIONS = {"Args:": "arguments", "Returns:": "returns", "Raises:": "raises", "Attributes:": "attributes"}
CALLED = ("advise", "compare", "energy", "history")


def page() -> str:
    """The page in Markdown."""
    found: dict[str, Any] = {
        name: getattr(functions if name in CALLED else wattle, name) for name in wattle.__all__
    } | {"Measured": Measured, "Gathered": Gathered}
    parts = [HEAD, "## Functions\n\n"]
    parts += [entry(name, one) for name, one in sorted(found.items()) if inspect.isfunction(one)]
    parts.append("## Classes\n\n")
    parts += [entry(name, one) for name, one in sorted(found.items()) if inspect.isclass(one)]
    parts += [COLUMNS, *(table(name) for name in TABLES)]
    return "".join(parts)


def entry(name: str, one: Any) -> str:
    """A function, or a class with its members."""
    called = f"wattle.{name}" if name in wattle.__all__ else name
    shown = f"```python\n{called}{signature(one)}\n```\n\n" if inspect.isfunction(one) else ""
    members = "".join(f"| `{member}` | {words} |\n" for member, words in public(one)) if inspect.isclass(one) else ""
    return f"### {called}\n\n{shown}{text(one)}" + (f"| member | |\n|---|---|\n{members}\n" if members else "")


def signature(one: Any) -> str:
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(one)))


def text(one: Any) -> str:
    """A docstring in Markdown: sections become lists, and indented lines of code stay."""
    found = []
    of_section = False
    for line in (inspect.getdoc(one) or "").splitlines():
        if line in SECTIONS:
            of_section = True
            found.append(f"**{SECTIONS[line]}**\n")
        elif of_section and line.startswith("    "):
            named = re.match(r"    (\w+): (.*)", line)
            found.append(
                f"- `{named[1]}`: {named[2]}" if named else line[4:] if line.startswith("     ") else f"{line[4:]}"
            )
        else:
            of_section = False if line else of_section
            found.append(line)
    return "\n".join(found).strip() + "\n\n"


def public(kind: type) -> Iterator[tuple[str, str]]:
    """The public members of a class with the first paragraph of their docstrings."""
    for name, member in vars(kind).items():
        of = member.func if hasattr(member, "func") else member
        words = inspect.getdoc(of if inspect.isfunction(of) or isinstance(of, property) else None)
        if name.startswith("_") or not words or isinstance(of, type):
            continue
        called = (
            f"{name}{signature(of).replace('self, ', '').replace('self', '')}"
            if member is of and inspect.isfunction(of)
            else name
        )
        yield called.replace("|", "\\|"), " ".join(words.split()).replace("|", "\\|")


def table(name: str) -> str:
    """The columns of a table."""
    kinds = {"int": "whole number", "float": "number", "text": "text"}
    rows = "".join(f"| `{column.name}` | {kinds[column.kind]} | {column.words} |\n" for column in TABLES[name])
    return f"### {name}\n\n| column | kind | meaning |\n|---|---|---|\n{rows}\n"


if __name__ == "__main__":
    print(page())
