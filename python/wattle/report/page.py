"""The page around a report's content: one HTML file with style, script, figures and data inside."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import plotly.offline
from markupsafe import Markup

from wattle import __version__
from wattle.manifest import Manifest
from wattle.report.figures import Figure

FOLDER = Path(__file__).parent / "templates"


@dataclass
class Page:
    """What a report shows. `template` extends page.html.j2 and gets `content`; `nav` is (id, words) in the page's
    order."""

    template: str
    title: str
    subtitle: str
    summary: str  # one paragraph in plain words
    record: Manifest
    nav: list[tuple[str, str]]
    figures: list[Figure] = field(default_factory=list)
    content: dict[str, Any] = field(default_factory=dict)


def render(made: Page) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_id = {figure.id: figure for figure in made.figures}
    return environment.get_template(made.template).render(
        page=made,
        record=made.record,
        host=_host(made.record),
        figure=by_id,
        version=__version__,
        style=Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "figures.js").read_text(encoding="utf-8")),
        plotly=Markup(plotly.offline.get_plotlyjs()) if made.figures else "",
        figures_json=Markup(script_json({f.id: f.as_dict() for f in made.figures})),
        manifest_json=json.dumps(made.record.as_dict(), indent=2, ensure_ascii=False),
        **made.content,
    )


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element. What is not a finite number becomes null."""
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _host(record: Manifest) -> dict[str, str]:
    """The host, in words. Keys that an older or foreign manifest lacks are left out."""
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
