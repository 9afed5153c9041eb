"""Every command of `wattle` that a page shows exists, with the options that the page gives it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wattle import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples/README.md"]
CODE = re.compile(r"^```\w*[^\n]*\n(.*?)^```|^ {4}(\S[^\n]*)$|`([^`\n]+)`", re.M | re.S)


def shown(text: str) -> Iterator[str]:
    """The lines of code blocks and the text between backquotes, if they begin with `wattle`."""
    for block, line, span in CODE.findall(text):
        for piece in block.replace("\\\n", " ").split("\n") if block else [line or span]:
            command = re.sub(r"^(\$ )?(sudo )?([A-Z_]+=\S+ )*", "", piece.strip())
            if re.match(r"wattle [a-z-]", command):
                yield re.split(r"\s+#|\s{3,}|\s*[|;&]", command)[0]


def options_of(command: Any) -> set[str]:
    context = command.context_class(command)
    parameters = [p for p in command.get_params(context) if p.param_type_name == "option"]
    return {name for p in parameters for name in (*p.opts, *p.secondary_opts)} | {"-h", "--help"}


def unknown(words: list[str], whole: Any) -> list[str]:
    """Words that are no command, or no option of it. A program after `--` has options of its own."""
    command, found = whole, []
    for word in words[1:]:
        if word == "--":
            break
        if word.startswith("-"):
            found += [word] if word.split("=")[0] not in options_of(command) else []
        elif children := getattr(command, "commands", None):
            if word.isupper():  # NAME or COMMAND stands for any of them
                break
            if word not in children:
                return [*found, word]
            command = children[word]
    return found


def test_commands_of_all_pages_have_the_options_that_are_shown() -> None:
    whole, wrong, count = cli.whole(), [], 0
    for page in PAGES:
        for command in shown(page.read_text(encoding="utf-8")):
            count += 1
            words = unknown(shlex.split(command), whole)
            wrong += [f"{page.relative_to(ROOT)}: {command}: {word}" for word in words]
    assert wrong == []
    assert count > 100
    assert unknown(["wattle", "run", "--no-such-option"], whole) == ["--no-such-option"]
