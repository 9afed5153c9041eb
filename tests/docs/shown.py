"""Reads the commands, the expected output and the files that a Markdown page shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.M | re.S)
TITLE = re.compile(r'title="([^"]+)"')


@dataclass
class Command:
    """A command and the output that the page shows after it; None where it shows none."""

    text: str
    line: int
    expected: list[str] = field(default_factory=list)


@dataclass
class Page:
    files: dict[str, str]
    commands: list[Command]
    other_blocks: list[int]  # lines of code blocks in which a command could escape the test


def read(path: Path) -> Page:
    """Blocks of `console` have commands after `$ `, and output. Blocks with a title are files."""
    text = path.read_text(encoding="utf-8")
    page = Page({}, [], [])
    for match in FENCE.finditer(text):
        language, options, body = match[2], match[3], match[4]
        line = text.count("\n", 0, match.start()) + 2
        if title := TITLE.search(options):
            page.files[title[1]] = body
        elif language == "console":
            page.commands += commands(body, line)
        elif language in ("", "sh", "bash", "shell"):
            page.other_blocks.append(line)
    plain = FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    page.other_blocks += [n for n, line in enumerate(plain.split("\n"), 1) if re.match(r" {4}(?![-*|\d ])\S", line)]
    return page


def commands(block: str, first_line: int) -> list[Command]:
    found: list[Command] = []
    for number, line in enumerate(block.rstrip("\n").split("\n"), first_line):
        if line.startswith("$ "):
            found.append(Command(line[2:], number))
        elif found and found[-1].text.endswith("\\"):
            found[-1].text += "\n" + line
        elif found:
            found[-1].expected.append(line)
    return found


def agrees(expected: list[str], output: str) -> bool:
    """`...` stands for any text, in a line or, as a line of its own, for any lines."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part.rstrip()) for part in line.split("...")) + r"[ ]*\n"
    lines = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    return re.fullmatch(pattern, lines) is not None
