"""Makes a page of documentation for each routine from the API table: man pages and HTML.

usage: generate_pages.py api.json OUTPUT_DIR

Writes OUTPUT_DIR/man/man3/NAME.3 and OUTPUT_DIR/html/NAME.html for every routine. Routines that differ only in their
type, or in having a context, share one page: its first name has it, the others and their C11 generic lead there.
"""

import html
import itertools
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

WRONG = (
    "A wrong call ends the job with exit code 64. A line on standard error names the call, its place in the program, "
    "the value and the PE. These mistakes are reported:"
)
NOT_CHECKED = "WATTLE_CHECK=off skips most of these checks. The behavior after a wrong call is undefined then."
NOTHING_WRONG = "None."
SYNCHRONIZES = (
    "If PEs make different calls, or pass different values of an argument that must be the same, they may wait for "
    "ever. With SHMEM_DEBUG the job ends and a message names them."
)

WIDTH = 72  # of a synopsis


@dataclass
class Section:
    """Paragraphs, then a list of terms with their meanings. A term may be empty; its meaning is a plain item then."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    items: list[tuple[str, str]] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def age(members: list[dict]) -> str:
    first, last = members[0], max(members, key=lambda r: r["ctx"])
    if not first["since"]:
        return "This routine is not part of the standard."
    with_context = f", with a context since {last['since']}" if last["since"] != first["since"] else ""
    deprecated = f"; deprecated since {first['deprecated']}" if first["deprecated"] else ""
    return f"In the standard since {first['since']}{with_context}{deprecated}."


def first_sentence(text: str) -> str:
    """The first sentence of a text, without its full stop."""
    return re.split(r"(?<!\.)[.?](?= |$)", text)[0]


def title(first: dict) -> str:
    """The title of a page: the name of the C11 generic, or of the first routine."""
    return first["generic"] or first["name"]


def families(routines: list[dict]) -> list[list[dict]]:
    return [list(members) for _, members in itertools.groupby(routines, key=lambda r: r["family"])]


def longest(members: list[dict], what: str) -> dict | list:
    """A column of the routine whose text in that column is longest."""
    return max((r[what] for r in members), key=len)


def errors(members: list[dict]) -> Section:
    mistakes = longest(members, "mistakes")
    section = Section("Errors", [WRONG if mistakes else NOTHING_WRONG], [("", f"{text};") for text in mistakes])
    if mistakes:
        section.items[-1] = ("", f"{mistakes[-1]}.")
        section.after.append(NOT_CHECKED)
    if members[0]["collective"]:
        section.after.append(SYNCHRONIZES)
    return section


def wrapped(prototype: str) -> str:
    """A prototype in lines of at most WIDTH columns."""
    lines = [""]
    for word in re.split(r"(?<=,) ", f"{prototype};"):
        if len(lines[-1]) + 1 + len(word) > WIDTH and lines[-1]:
            lines.append(" " * 4)
        lines[-1] += word if lines[-1].strip() == "" else f" {word}"
    return "\n".join(lines)


def synopsis(members: list[dict]) -> list[str]:
    """The prototypes of a family, without repetitions for its types."""
    return [wrapped(pattern) for pattern in dict.fromkeys(r["pattern"] for r in members)]


def variants(members: list[dict]) -> str:
    """The values of TYPENAME and SIZE in the synopsis. Empty if the family has one type."""
    first, names = members[0], list(dict.fromkeys(r["type"] for r in members))
    if names == [""]:
        return ""
    if not first["c_type"]:
        return f"SIZE is the number of bits of an element: {', '.join(names)}."
    spelt = {r["type"]: r["c_type"] for r in members}
    types = ", ".join(name if name == spelt[name] else f"{name} ({spelt[name]})" for name in names)
    generic = f" In C11 {first['generic']}(...) selects the routine by type." if first["generic"] else ""
    return f"TYPENAME is one of these, with the C type in parentheses if its name differs: {types}.{generic}"


def refers_to(members: list[dict], pages: dict[str, str]) -> list[str]:
    """Routines that the page mentions, one for each other page."""
    first = members[0]
    names = re.findall(r"\bshmemx?_\w+", f"{first['doc']} {first['value']}")
    found = {pages[name]: name for name in reversed(names) if name in pages and pages[name] != first["name"]}
    return list(reversed(found.values()))


def sections(members: list[dict], pages: dict[str, str]) -> list[Section]:
    """The sections of a page after its synopsis."""
    first = members[0]
    said = [Section("Description", [first["doc"]])]
    if arguments := longest(members, "arguments"):
        said.append(Section("Arguments", items=list(arguments.items())))
    said.append(Section("Return value", [first["value"] or "None."]))
    said.append(errors(members))
    said.append(Section("Standard", [age(members)]))
    said.append(Section("Notes", ["Each routine has a twin for profiling tools, with the prefix p."]))
    if others := refers_to(members, pages):
        said.append(Section("See also", [", ".join(f"{name}(3)" for name in others)]))
    return said


# --- man ---------------------------------------------------------------------------------------------------------


def roff(text: str) -> str:
    """Text as roff, with the text between backquotes in italics."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("\n.", "\n\\&.")
    return re.sub(r"`([^`]+)`", r"\\fI\1\\fP", plain)


def roff_section(section: Section) -> list[str]:
    items = [
        f".TP\n.I {roff(term)}\n{roff(text)}" if term else f".IP \\(bu 2\n{roff(text)}" for term, text in section.items
    ]
    after = [f".PP\n{roff(text)}" for text in section.after]
    return [f".SH {section.title.upper()}", *map(roff, section.paragraphs), *items, *after]


def man_page(members: list[dict], pages: dict[str, str]) -> str:
    first = members[0]
    names = ", ".join(r["name"] for r in members[:2]) + (", ..." if len(members) > 2 else "")
    if first["generic"]:
        names = f"{first['generic']}, {names}"
    lines = [
        f'.TH {title(first).upper()} 3 "" Wattle "OpenSHMEM 1.6"',
        ".SH NAME",
        f"{roff(names)} \\- {roff(first_sentence(first['doc']))}",
        ".SH SYNOPSIS",
        ".nf",
        f"#include <{first['header']}>",
        "",
        *map(roff, synopsis(members)),
        ".fi",
    ]
    if text := variants(members):
        lines += [".PP", roff(text)]
    return "\n".join(lines + [line for s in sections(members, pages) for line in roff_section(s)]) + "\n"


# --- HTML --------------------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}
pre{{background:#f4f4f4;padding:1em;overflow:auto}}</style>
</head><body>
{body}
</body></html>
"""


def marked_up(text: str) -> str:
    """Text as HTML, with the text between backquotes as code and NAME(3) as a link."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\b(\w+)\(3\)", r'<a href="\1.html">\1</a>', text)


def html_section(section: Section) -> str:
    parts = [f"<h2>{section.title}</h2>"]
    parts += [f"<p>{marked_up(text)}</p>" for text in section.paragraphs]
    if section.items and section.items[0][0]:
        terms = "\n".join(f"<dt><code>{html.escape(t)}</code></dt><dd>{marked_up(d)}</dd>" for t, d in section.items)
        parts.append(f"<dl>\n{terms}\n</dl>")
    elif section.items:
        parts.append("<ul>\n" + "\n".join(f"<li>{marked_up(text)}</li>" for _, text in section.items) + "\n</ul>")
    return "\n".join(parts + [f"<p>{marked_up(text)}</p>" for text in section.after])


def html_page(members: list[dict], pages: dict[str, str]) -> str:
    first = members[0]
    prototypes = html.escape("\n".join(synopsis(members)))
    text = variants(members)
    body = (
        f'<p><a href="index.html">All routines</a></p>\n<h1>{html.escape(title(first))}</h1>\n'
        f"<pre>#include &lt;{html.escape(first['header'])}&gt;\n\n{prototypes}</pre>\n"
        f"{f'<p>{html.escape(text)}</p>' if text else ''}\n"
    )
    return PAGE.format(
        title=html.escape(title(first)), body=body + "\n".join(map(html_section, sections(members, pages)))
    )


def leads_to(name: str, first: str) -> str:
    body = f'<p><a href="{first}.html">{html.escape(name)} is described with {html.escape(first)}</a></p>'
    return PAGE.format(title=html.escape(name), body=body).replace(
        "<title>", f'<meta http-equiv="refresh" content="0; url={first}.html"><title>'
    )


def index_page(groups: list[list[dict]]) -> str:
    items = []
    for members in groups:
        first, more = members[0], len(members) - 1
        others = f" ({first['name']} and {more} more)" if more else ""
        items.append(f'<li><a href="{first["name"]}.html">{title(first)}</a>{others}: {marked_up(first["doc"])}</li>')
    return PAGE.format(
        title="Routines", body="<h1>Routines of OpenSHMEM 1.6</h1>\n<ul>\n" + "\n".join(items) + "\n</ul>"
    )


def page_of(groups: list[list[dict]]) -> dict[str, str]:
    """The name of the page of each routine and of each C11 generic."""
    pages = {r["name"]: members[0]["name"] for members in groups for r in members}
    for members in groups:
        if generic := members[0]["generic"]:
            pages.setdefault(generic, members[0]["name"])
    return pages


def main() -> None:
    routines, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    man, website = out / "man/man3", out / "html"
    man.mkdir(parents=True, exist_ok=True)
    website.mkdir(parents=True, exist_ok=True)
    groups = families(routines)
    pages = page_of(groups)
    for members in groups:
        first = members[0]["name"]
        (man / f"{first}.3").write_text(man_page(members, pages))
        (website / f"{first}.html").write_text(html_page(members, pages))
    for name, first in pages.items():
        if name == first:
            continue
        (man / f"{name}.3").write_text(f".so man3/{first}.3\n")
        (website / f"{name}.html").write_text(leads_to(name, first))
    (website / "index.html").write_text(index_page(groups))


if __name__ == "__main__":
    main()
