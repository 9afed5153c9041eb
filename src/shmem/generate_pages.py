"""Makes a page of documentation for each routine from the API table: man pages and HTML.

usage: generate_pages.py api.json OUTPUT_DIR

Writes OUTPUT_DIR/man/man3/NAME.3 and OUTPUT_DIR/html/NAME.html for every routine. Routines that differ only in their
type, or in having a context, share one page: its first name has it, the others and their C11 generic lead there.
"""

import html
import itertools
import json
import sys
from pathlib import Path

ERRORS = (
    "A wrong argument (no such PE, memory that is not symmetric or too short, a destroyed team or context, a misaligned"
    " variable) ends the job with a line on standard error that names the call, the value and the PE. "
    "WATTLE_CHECK=off skips the checks."
)


def age(routine: dict) -> str:
    if not routine["since"]:
        return "No part of the standard."
    deprecated = f"; deprecated since {routine['deprecated']}" if routine["deprecated"] else ""
    return f"In the standard since {routine['since']}{deprecated}."


def families(routines: list[dict]) -> list[list[dict]]:
    return [list(members) for _, members in itertools.groupby(routines, key=lambda r: r["family"])]


def roff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("\n.", "\n\\&.")


def meanings(members: list[dict]) -> dict[str, str]:
    """What the page says of arguments: those of the form that has most."""
    return max((r["arguments"] for r in members), key=len)


def man_page(members: list[dict]) -> str:
    first = members[0]
    names = ", ".join(r["name"] for r in members[:2]) + (", ..." if len(members) > 2 else "")
    lines = [
        f'.TH {first["name"].upper()} 3 "" Wattle "OpenSHMEM 1.6"',
        ".SH NAME",
        f"{roff(names)} \\- {roff(first['doc'].split('.')[0])}",
        ".SH SYNOPSIS",
        ".nf",
        f"#include <{first['header']}>",
        "",
        *[roff(r["prototype"]) + ";" for r in members],
        ".fi",
    ]
    if first["generic"]:
        lines.append(f"C11: {roff(first['generic'])}(...) chooses by type.")
    lines += [".SH DESCRIPTION", roff(first["doc"])]
    if arguments := meanings(members):
        lines.append(".SH ARGUMENTS")
        lines += [f".TP\n.I {roff(name)}\n{roff(text)}" for name, text in arguments.items()]
    lines += [".SH ERRORS", roff(ERRORS), ".SH STANDARD", roff(age(first))]
    lines += [".SH NOTES", "Each routine has a twin for tools, whose name has a p before it."]
    return "\n".join(lines) + "\n"


PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto}}
pre{{background:#f4f4f4;padding:1em;overflow:auto}}</style>
</head><body>
{body}
</body></html>
"""


def html_arguments(members: list[dict]) -> str:
    items = "".join(
        f"<dt><code>{html.escape(name)}</code></dt><dd>{html.escape(text)}</dd>\n"
        for name, text in meanings(members).items()
    )
    return f"<h2>Arguments</h2>\n<dl>\n{items}</dl>\n" if items else ""


def html_page(members: list[dict]) -> str:
    first = members[0]
    prototypes = html.escape("\n".join(f"{r['prototype']};" for r in members))
    generic = (
        f"<p>C11: <code>{html.escape(first['generic'])}(...)</code> chooses by type.</p>" if first["generic"] else ""
    )
    body = (
        f'<p><a href="index.html">All routines</a></p>\n<h1>{html.escape(first["name"])}</h1>\n'
        f"<pre>#include &lt;{html.escape(first['header'])}&gt;\n\n{prototypes}</pre>\n{generic}\n"
        f"<p>{html.escape(first['doc'])}</p>\n{html_arguments(members)}<h2>Errors</h2>\n<p>{html.escape(ERRORS)}</p>\n"
        f"<h2>Standard</h2>\n<p>{html.escape(age(first))}</p>"
    )
    return PAGE.format(title=html.escape(first["name"]), body=body)


def leads_to(name: str, first: str) -> str:
    body = f'<p><a href="{first}.html">{html.escape(name)} is described with {html.escape(first)}</a></p>'
    return PAGE.format(title=html.escape(name), body=body).replace(
        "<title>", f'<meta http-equiv="refresh" content="0; url={first}.html"><title>'
    )


def index_page(groups: list[list[dict]]) -> str:
    items = []
    for members in groups:
        first, more = members[0], len(members) - 1
        others = f" and {more} more" if more else ""
        items.append(
            f'<li><a href="{first["name"]}.html">{first["name"]}</a>{others}: {html.escape(first["doc"])}</li>'
        )
    return PAGE.format(
        title="Routines", body="<h1>Routines of OpenSHMEM 1.6</h1>\n<ul>\n" + "\n".join(items) + "\n</ul>"
    )


def main() -> None:
    routines, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    man, pages = out / "man/man3", out / "html"
    man.mkdir(parents=True, exist_ok=True)
    pages.mkdir(parents=True, exist_ok=True)
    groups, taken = families(routines), {r["name"] for r in routines}
    for members in groups:
        first = members[0]["name"]
        (man / f"{first}.3").write_text(man_page(members))
        (pages / f"{first}.html").write_text(html_page(members))
        names = [r["name"] for r in members[1:]]
        if (generic := members[0]["generic"]) and generic not in taken:
            names.append(generic)
        for name in names:
            (man / f"{name}.3").write_text(f".so man3/{first}.3\n")
            (pages / f"{name}.html").write_text(leads_to(name, first))
    (pages / "index.html").write_text(index_page(groups))


if __name__ == "__main__":
    main()
