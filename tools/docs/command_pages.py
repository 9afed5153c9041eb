"""Makes the site's page of the commands of `wattle` from their Typer definitions, which `--help` also prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from wattle import cli

HEAD = """\
# Commands

After this page you can look up each command and option of `wattle`. It has the same text as `wattle COMMAND --help`.
[The lab](../lab.md) explains the commands and their results. `oshrun` is described in [Launching](../launching.md).
"""


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for name, command in cli.whole().commands.items():
        lines += section(f"wattle {name}", command, 2)
    return "\n".join(lines)


def section(name: str, command: Any, level: int) -> list[str]:
    """A command, its usage and its options, then the commands within it."""
    context = command.context_class(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = [f"{'#' * level} {name}", "", command.help or "", "", "```text", usage, "```", ""]
    records = [p.get_help_record(context) for p in command.get_params(context) if p.name != "help"]
    if rows := [f"| `{cell(names)}` | {cell(meaning)} |" for names, meaning in filter(None, records)]:
        lines += ["| argument or option | meaning |", "|---|---|", *rows, ""]
    for child, inner in getattr(command, "commands", {}).items():
        lines += section(f"{name} {child}", inner, level + 1)
    return lines


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("[", "\\[")
