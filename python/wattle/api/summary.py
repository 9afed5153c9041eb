"""The summary of a run in a notebook: its figures with their provenance, and a picture of the time of its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from wattle.record.pe import PE
from wattle.record.runs import Run
from wattle.run.view import View, view
from wattle.text import units
from wattle.text.visible import visible

DRAWN = 32  # processes in the picture
SITES = 5  # in the table
Of = Callable[[PE], float | None]
STATES: tuple[tuple[str, str, Of], ...] = (  # of the picture: name, colour, and the seconds of a process
    ("compute", "#00695c", lambda pe: pe.time_s["compute"]),
    ("transfer", "#4db6ac", lambda pe: pe.time_s["transfer"]),
    ("wait: spin", "#e65100", lambda pe: pe.state_s["spin"]),
    ("wait: yield", "#ffb74d", lambda pe: pe.state_s["yield"]),
    ("wait: asleep", "#b0bec5", lambda pe: pe.state_s["asleep"]),
    ("no core", "#ad1457", lambda pe: pe.time_s["no_core"]),
)
WIDTH, BAR = 480, 12  # pixels


def html(run: Run) -> str:
    """The summary as a piece of HTML without scripts."""
    found = view(run)
    rows = "".join(f"<tr><th>{_safe(name)}</th><td>{_safe(words)}</td></tr>" for name, words in _rows(found))
    head = f"<b>{_safe(found.title)}</b> {_safe(found.pes + found.extent)}"
    drawn = _picture([line.pe for line in found.lines], found.noun)
    return f"<div>{head}<p>{_safe(found.verdict)}</p><table>{rows}</table>{drawn}{_sites(found)}</div>"


def _rows(found: View) -> Iterator[tuple[str, str]]:
    if found.exit_code:
        yield "exit code", str(found.exit_code)
    yield "time", found.took
    for figure in found.whole:
        yield f"{figure.domain}, nodes", f"{figure} ({figure.source})" if figure.known else str(figure)
    if found.pop:
        yield "efficiency", found.pop.words
    for name, spread in found.repeats:
        joules = f" {spread.joules.provenance}" if spread.joules is not None else ""
        yield name, f"median {units.UNKNOWN if spread.median is None else f'{spread.median:.4g}'}{joules}"


def _picture(pes: list[PE], noun: str) -> str:
    """Stacked bars of the time of each process."""
    longest = max((pe.wall_s or 0.0 for pe in pes), default=0.0)
    if not longest:
        return ""
    parts = []
    for k, pe in enumerate(pes[:DRAWN]):
        at = 0.0
        for name, colour, of in STATES:
            seconds = of(pe) or 0.0
            x, width = 60 + WIDTH * at / longest, WIDTH * seconds / longest
            title = f"<title>{noun} {pe.pe}: {name} {units.seconds(seconds)}</title>"
            place = f'x="{x:.1f}" y="{k * (BAR + 2)}" width="{width:.1f}" height="{BAR}"'
            parts.append(f'<rect {place} fill="{colour}">{title}</rect>')
            at += seconds
        parts.append(f'<text x="0" y="{k * (BAR + 2) + BAR - 2}" font-size="10">{noun} {pe.pe}</text>')
    legend = " ".join(f'<span style="color:{colour}">&#9632;</span> {name}' for name, colour, _ in STATES)
    rest = f"<br>{len(pes) - DRAWN} more" if len(pes) > DRAWN else ""
    height = min(len(pes), DRAWN) * (BAR + 2)
    return f'<div>{legend}</div><svg width="{WIDTH + 60}" height="{height}">{"".join(parts)}</svg>{rest}'


def _sites(found: View) -> str:
    cells = "".join(
        f"<tr><td>{_safe(site.place.words)}</td><td>{_safe(site.call)}</td><td>{units.seconds(site.waiting_s)}</td>"
        f"<td>{_safe(str(site.all_joules))}</td></tr>"
        for site in found.sites[:SITES]
    )
    heads = "<tr><th>costliest call sites</th><th>call</th><th>waiting</th><th>joules</th></tr>"
    return f"<table>{heads}{cells}</table>" if cells else ""


def _safe(text: str) -> str:
    return escape(visible(text))
