"""Renders a page: one HTML file with style, script, figures and data inside."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from wattle import __version__
from wattle.html.figures import Figure
from wattle.machine import allocation
from wattle.record.manifest import Manifest
from wattle.text import console
from wattle.text.visible import visible

FOLDER = Path(__file__).parent / "templates"
CARTESIAN = Path(__file__).parent / "plotly-cartesian.min.js.gz"  # by tools/figures-library
BACKTICKS = re.compile("`([^`]+)`")


@dataclass
class Page:
    """The contents of a report. `template` extends base.html.j2 and gets `content`. `nav` holds (id, words) in the
    page's order. `record`: None for a page of several runs, which has no manifest. `noun`: the word for a process.
    `power`: sentences beside the figure `power`, in a section of their own.
    """

    template: Path
    title: str
    subtitle: str
    summary: str  # one paragraph in plain words
    record: Manifest | None
    nav: list[tuple[str, str]]
    figures: list[Figure] = field(default_factory=list)
    content: dict[str, Any] = field(default_factory=dict)
    power: list[str] = field(default_factory=list)
    noun: str = "PE"


@cache
def _environment(folder: Path) -> jinja2.Environment:
    """Keeps the compiled templates of `folder` and of all pages, for a process that writes several pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, folder]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["code"] = code
    return environment


def render(made: Page) -> str:
    by_id = {figure.id: figure for figure in made.figures}
    template = _environment(made.template.parent).get_template(made.template.name)
    return template.render(
        page=made,
        record=made.record,
        **_facts(made.record),
        figure=by_id,
        version=__version__,
        style=Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "figures.js").read_text(encoding="utf-8")),
        plotly=Markup(plotly()) if made.figures else "",
        figures_json=Markup(script_json({f.id: f.as_dict() for f in made.figures})),
        **made.content,
    )


def plotly() -> str:
    """The figures' library, compressed: the part for two dimensions if it was fetched (0.7 MB), else all (2 MB)."""
    return _compressed(CARTESIAN)


@cache
def _compressed(cartesian: Path) -> str:
    if cartesian.exists():
        return base64.b64encode(cartesian.read_bytes()).decode("ascii")
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode("utf-8"), mtime=0)).decode("ascii")


def _shown(value: Any) -> Any:
    """Text for the page with its invisible characters written out."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, lines=True)
    return value


def code(words: str) -> Markup:
    """A sentence whose parts between backticks are shown as code."""
    return Markup(BACKTICKS.sub(r"<code>\1</code>", str(escape(visible(words, lines=True)))))


def script_json(value: Any) -> str:
    """JSON for use inside a script element. A number that is not finite becomes null."""
    return console.json_text(value, indent=None).strip().replace("<", "\\u003c")


def _facts(record: Manifest | None) -> dict[str, Any]:
    """The values of the section on the manifest."""
    if record is None:
        return {}
    return {
        "host": _host(record),
        "shield": _shield(record),
        "allocation": allocation.words(record.allocation),
        "manifest_json": console.json_text(record.as_dict()).rstrip(),
    }


def _shield(record: Manifest) -> str:
    """The cores of a shielded study, and what else ran there; empty without a shield."""
    entry = record.extra.get("shield")
    return str(entry.get("words", "")) if isinstance(entry, dict) else ""


def _host(record: Manifest) -> dict[str, str]:
    """The host as text. Keys that an older manifest lacks are left out."""
    host = record.host
    found = {
        "host": host.get("name"),
        "CPU": host.get("cpu"),
        "cores": host.get("cores"),
        "kernel": host.get("kernel"),
        "load when it began": host.get("load"),
        "memory": f"{host['memory_bytes'] / 2**30:.1f} GiB" if isinstance(host.get("memory_bytes"), int) else None,
    }
    return {key: str(value) for key, value in found.items() if value is not None}
