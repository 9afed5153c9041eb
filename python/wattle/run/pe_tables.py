"""The tables by PE: time, waiting by stage, CPU time, joules."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wattle.run.view import COLUMNS, Line, PELine, View
from wattle.text import units
from wattle.text.console import Text, styled
from wattle.text.provenance import Joules, joule_unit, reaches_below_zero
from wattle.text.tables import Table, joules_cell, provenance_words, table

PES_SHOWN = 24
TOO_LONG = 10000.0
SHOWN_FROM = 1e-3  # share of its time without a core, from which the table has a column for that
WIDE_ENOUGH = 90  # columns of a terminal that has space for it beside joules
NO_CORE_COLUMN = next(k for k, (name, _) in enumerate(COLUMNS) if name == ("no", "core"))


def pe_table(view: View, width: int) -> Table:
    """One row a PE: time, compute, transfer, waiting by stage, time without a core if there was some, CPU seconds, and
    joules if they fit into `width` columns.
    """
    scale = units.scale_for([s for line in view.lines for s in line.seconds], units.SECONDS)
    result = table(title=f"By {view.noun}, times in {scale[1]}")
    _add_where(view, result)
    columns = [k for k in range(len(COLUMNS)) if k != NO_CORE_COLUMN or lacks_cores(view)]
    for k in columns:
        result.add_column(styled("{}\n{}", *COLUMNS[k][0]), justify="right", no_wrap=True)
    joules = _JoulesColumns(view, shown_domains(view) if joules_fit(view, width) else [])
    joules.add_to(result)

    def cells(line: Line) -> list[str | Text]:
        times = line.times(lambda seconds: units.scaled(seconds, scale))
        return [*_where(view, line), *(times[k] for k in columns), *joules.of(line)]

    shown = _shown(view.lines)
    for line in shown:
        result.add_row(*cells(line))
    result.add_section()
    result.add_row(*cells(view.total), style="bold")
    if len(shown) < len(view.lines):
        result.caption = (
            f"{len(shown)} of {len(view.lines)} {view.noun}s: those that waited most and least; --json has all"
        )
    return result


def joules_table(view: View) -> Table:
    """Joules by PE, where they do not fit into the table of times."""
    result = table(title=f"Joules by {view.noun}")
    _add_where(view, result)
    joules = _JoulesColumns(view, view.domains)
    joules.add_to(result)
    for line in _shown(view.lines):
        result.add_row(*_where(view, line), *joules.of(line))
    result.add_section()
    result.add_row(*_where(view, view.total, "all"), *joules.of(view.total), style="bold")
    return result


def _add_where(view: View, to: Table) -> None:
    """Adds the column of the PE, and before it that of the node where there are several."""
    for name in ("node", view.noun) if view.nodes else (view.noun,):
        to.add_column(styled("\n{}", name), no_wrap=True)


def _where(view: View, line: Line, name: str = "") -> list[str]:
    """The first cells of a row. `name` replaces the name of a sum."""
    if not view.nodes:
        return [name or line.name]
    return [line.node, line.name] if isinstance(line, PELine) else [name or line.name, ""]


class _JoulesColumns:
    """A column for each domain, with its unit and provenance as head. If it mixes them, modelled figures are marked."""

    def __init__(self, view: View, domains: Sequence[str]) -> None:
        self.domains = {domain: view.domains.index(domain) for domain in domains}
        columns = {d: [line.joules[k] for line in view.lines] for d, k in self.domains.items()}
        self.units = {d: _unit(column, view.total.joules[self.domains[d]]) for d, column in columns.items()}
        self.words = {d: provenance_words(column) for d, column in columns.items()}

    def add_to(self, to: Table) -> None:
        for domain in self.domains:
            name = styled("{}, {}\n{}", domain, self.units[domain][1], self.words[domain])
            to.add_column(name, justify="right", no_wrap=True)

    def of(self, line: Line) -> list[Text]:
        cells = ((d, line.joules[k]) for d, k in self.domains.items())
        return [joules_cell(figure, self.units[d][0], self.words[d] == "mixed") for d, figure in cells]


def lacks_cores(view: View) -> bool:
    """Whether a process had no core for a part of its time that the table shows."""
    return any((line.seconds[NO_CORE_COLUMN] or 0.0) >= SHOWN_FROM * (line.pe.wall_s or 0.0) > 0 for line in view.lines)


def joules_fit(view: View, width: int) -> bool:
    """Whether joules fit beside the times: at most two domains, no range (`12.3 (0–28.3)`), no column for the node, and
    in a narrow terminal none for time without a core.
    """
    domains = shown_domains(view)
    if domains and (view.nodes or (width < WIDE_ENOUGH and lacks_cores(view))):
        return False
    figures = [j for line in (*view.lines, view.total) for j in line.joules] if domains else []
    wide = any(j.joules is not None and reaches_below_zero(j.joules, j.uncertainty) for j in figures)
    return len(domains) <= 2 and not wide


def shown_domains(view: View) -> list[str]:
    """The domains with figures. Where there are none, a line below the table gives the reason."""
    return view.domains if any(j.known for line in view.lines for j in line.pe.joules) else []


def _unit(figures: list[Joules], whole: Joules) -> tuple[float, str]:
    """The unit that fits the largest PE, or the next larger one where the sum would get too long."""
    factor, unit = joule_unit(max(abs(j.joules or 0.0) for j in figures))
    return joule_unit(whole.joules) if whole.joules and abs(whole.joules) >= TOO_LONG * factor else (factor, unit)


def _shown(lines: list[PELine]) -> list[PELine]:
    """All PEs. Where they are too many, those that waited most and those that waited least."""
    if len(lines) <= PES_SHOWN:
        return lines
    waits = [line.pe.time_s["wait"] for line in lines]
    waited = [math.inf if s is None else s for s in waits]
    by_wait = sorted(range(len(lines)), key=waited.__getitem__)
    return [lines[k] for k in sorted(by_wait[: PES_SHOWN // 2] + by_wait[-PES_SHOWN // 2 :])]
