"""Power by process and node for the page of a run: mean and peak, and a map of watts over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wattle.figures import pe_power
from wattle.figures.pe_power import Power
from wattle.html.figures import Figure, heat_map, hover_text
from wattle.record.profile import folder_of
from wattle.run.view import PELine, View, labels
from wattle.text.provenance import significant

if TYPE_CHECKING:
    from wattle.figures.courses import Courses

ROWS = 64  # processes in the table and in the map
COLUMNS = 120  # parts of the time in the map


@dataclass(frozen=True)
class Shown:
    """Rows of a name with its power in one domain, the map, and whether there are peaks."""

    rows: list[tuple[str, Power]]
    figures: list[Figure]
    peaks: bool


def shown(view: View) -> Shown:
    """The power of a run's processes and nodes; nothing where no joules are known."""
    if view.profile is None or not any(figure.known for line in view.lines for figure in line.pe.joules):
        return Shown([], [], False)
    courses = pe_power.courses_of(view.profile, view.run.middle.manifest)
    folder = folder_of(view.profile.directory)
    lines = sorted(view.lines, key=lambda line: line.pe.pe)[:ROWS]
    rows = [(_name(view, line), power) for line in lines for power in pe_power.of_pe(line.pe, courses)]
    nodes = zip(view.profile.nodes, labels(view.profile.nodes), strict=True)
    for node, label in list(nodes)[:ROWS]:
        name = f"node {label}" if len(view.profile.nodes) > 1 else "node"
        rows += [(name, power) for power in pe_power.of_node(node, courses, folder)]
    return Shown(rows, _map(view, lines, courses), any(power.peak.watts is not None for _, power in rows))


def _name(view: View, line: PELine) -> str:
    return f"{view.noun} {line.name}"


def _map(view: View, lines: list[PELine], courses: Courses | None) -> list[Figure]:
    """Watts of the processors by process over time: a row for each process, colour for the watts."""
    drawn = [line for line in lines if courses is not None and line.pe.pe in courses.pes and _joules(line) is not None]
    if not drawn or courses is None or courses.end_s <= 0:
        return []
    each = courses.end_s / COLUMNS
    edges = [k * each for k in range(COLUMNS + 1)]
    watts = [[float(w) * (_joules(line) or 0.0) for w in courses.means(line.pe.pe, edges)] for line in drawn]
    middles = [(k + 0.5) * each for k in range(COLUMNS)]
    hover = [
        [
            hover_text(_name(view, line), [("at", f"{at:.4g} s"), ("power", f"{significant(w, 3)} W, modelled")])
            for at, w in zip(middles, row, strict=True)
        ]
        for line, row in zip(drawn, watts, strict=True)
    ]
    trace = heat_map(list(range(COLUMNS)), list(range(len(drawn))), watts, "W", hover)
    trace["x"] = middles
    step = max(1, len(drawn) // 8)
    return [
        Figure(
            id="watts-by-pe",
            title=f"Power by {view.noun} over time",
            label=f"A map: a row for each {view.noun}, time from left to right; colour: watts of its processor cores",
            traces=[trace],
            layout={
                "xaxis": {"title": {"text": f"s since the first {view.noun} began"}, "showgrid": False},
                "yaxis": {
                    "tickmode": "array",
                    "tickvals": list(range(0, len(drawn), step)),
                    "ticktext": [line.name for line in drawn[::step]],
                    "title": {"text": view.noun},
                    "autorange": "reversed",
                    "showgrid": False,
                },
            },
            height=max(240, min(560, 140 + 30 * len(drawn))),
            note="modelled: joules of the profile, distributed by the watts of each state; idle draw left out",
        )
    ]


def _joules(line: PELine) -> float | None:
    """The joules of a process that follow its states; None where one is not known."""
    found = [figure.joules for figure in line.pe.joules if pe_power.of_processors(figure)]
    known = [joules for joules in found if joules is not None]
    return sum(known) if found and len(known) == len(found) else None
