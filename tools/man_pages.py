"""Writes the man pages of the command `wattle` and of the header wattle.h.

usage: man_pages.py (command | header) VERSION OUTPUT_DIR

`command` writes man1/wattle.1 from the commands' own help, and needs the packages of the whole lab. `header` writes
man3/wattle.h.3 from the comments of include/wattle.h, and a page that leads there for each of its functions.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def roff(text: str) -> str:
    """Text as roff, with the text between backquotes in italics."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    plain = re.sub(r"^([.'])", r"\\&\1", plain, flags=re.MULTILINE)
    return re.sub(r"`([^`]+)`", r"\\fI\1\\fP", plain)


def head(name: str, section: int, what: str, version: str) -> list[str]:
    return [f'.TH {name} {section} "" "Wattle {version}"', ".SH NAME", f"{name} \\- {roff(what)}"]


def verbatim(text: str) -> list[str]:
    return [".PP", ".nf", roff(text.strip("\n")), ".fi"]


# ---- the command ----


def command_page(version: str) -> str:
    sys.path.insert(0, str(ROOT / "python"))
    from wattle import cli

    whole = cli.whole()
    lines = head("wattle", 1, whole.help.rstrip("."), version)
    lines += [".SH SYNOPSIS", ".B wattle", roff("COMMAND [OPTIONS] [ARGUMENTS]"), ".SH DESCRIPTION"]
    lines.append(roff("Results go to standard output, remarks and progress to standard error. With --json, standard "))
    lines.append(roff("output holds one JSON document. Wrong usage and unreadable input end with one line and code 2."))
    lines.append(".SH COMMANDS")
    for name, command in whole.commands.items():
        lines += command_section(f"wattle {name}", command)
    lines += [".SH ENVIRONMENT", ".TP", ".B WATTLE_HOME"]
    lines.append("The installation prefix or build tree whose tools are used.")
    lines += [".TP", ".B WATTLE_...", roff("Settings of the runtime; `wattle doctor --settings` lists them.")]
    lines += [".SH SEE ALSO", "oshcc(1), oshrun(1), wattle.h(3)"]
    return "\n".join(lines) + "\n"


def command_section(name: str, command: Any) -> list[str]:
    """A command with its options, then the commands within it."""
    context = command.context_class(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {name}", f".B {name}", roff(usage)]
    for paragraph in (command.help or "").split("\n\n"):
        lines += [".PP", roff(" ".join(paragraph.split()))]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            lines += [".TP", f".B {roff(record[0])}", roff(" ".join(record[1].split()))]
    for child, inner in getattr(command, "commands", {}).items():
        lines += command_section(f"{name} {child}", inner)
    return lines


# ---- the header ----

COMMENT = re.compile(r"/\*\*\n?(.*?)\*/\n(.*?)(?=\n\n|\Z)", re.DOTALL)
NAME = re.compile(r"(\w+)\(")


def header_pages(version: str) -> dict[str, str]:
    """The page, and for each function one that leads to it, by file name."""
    text = (ROOT / "include/wattle.h").read_text(encoding="utf-8")
    intro, *parts = [(undecorated(comment), declared) for comment, declared in COMMENT.findall(text)]
    what, about = re.sub(r"^@file \S+\n", "", intro[0]).split("\n\n", 1)
    lines = head("wattle.h", 3, what.strip().rstrip("."), version)
    lines += [".SH SYNOPSIS", ".B #include <wattle.h>", ".PP", roff("Link with `-lwattle`."), ".SH DESCRIPTION"]
    lines += paragraphs(about)
    types = [part for part in parts if part[1].startswith("typedef")]
    functions = [part for part in parts if part not in types and NAME.search(part[1])]
    lines.append(".SH TYPES")
    for comment, declared in types:
        lines += [*paragraphs(comment), *verbatim(declared)]
    lines.append(".SH FUNCTIONS")
    names = [NAME.search(declared)[1] for _, declared in functions]
    for name, (comment, declared) in zip(names, functions, strict=True):
        lines += [f".SS {name}", *verbatim(declared), *paragraphs(comment)]
    lines += [".SH SEE ALSO", "wattle(1)"]
    return {"wattle.h.3": "\n".join(lines) + "\n"} | {f"{name}.3": ".so man3/wattle.h.3\n" for name in names}


def undecorated(comment: str) -> str:
    return re.sub(r"^ ?\* ?", "", comment, flags=re.MULTILINE).strip()


def paragraphs(text: str) -> list[str]:
    """Text with Doxygen's marks as roff: paragraphs, code, lists, arguments and results."""
    lines: list[str] = []
    for block in re.split(r"\n\n|(?=@code)|(?<=@endcode)|\n(?=@param|@return|- )", text):
        if not (block := block.strip("\n")):
            continue
        if code := re.fullmatch(r"@code\n(.*)@endcode", block, re.DOTALL):
            lines += verbatim(code[1])
        elif argument := re.match(r"@param\[([\w,]+)\]\s+(\w+)\s+(.*)", block, re.DOTALL):
            lines += [".TP", f".I {argument[2]}", roff(f"({argument[1]}) {' '.join(argument[3].split())}")]
        elif block.startswith("@return"):
            lines += [".TP", "Returns", roff(" ".join(block.removeprefix("@return").split()))]
        elif block.startswith("- "):
            lines += [".IP \\(bu 2", roff(" ".join(block[2:].split()))]
        else:
            lines += [".PP", roff(" ".join(block.split()))]
    return lines


def main() -> None:
    kind, version, out = sys.argv[1:]
    section, pages = (1, {"wattle.1": command_page(version)}) if kind == "command" else (3, header_pages(version))
    folder = Path(out) / f"man{section}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
