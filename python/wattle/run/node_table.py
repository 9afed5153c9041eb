"""The table by node, for jobs on several nodes: the PEs and joules of each node."""

from __future__ import annotations

from wattle.run.view import NodeLine, View
from wattle.text.console import Text, styled
from wattle.text.provenance import Joules, joule_unit
from wattle.text.tables import Table, joules_cell, provenance_words, table

NODES_SHOWN = 24


def node_table(view: View) -> Table:
    """For each node and domain: joules of its PEs, idle joules and the node's, with sums over all nodes."""
    *nodes, whole = view.nodes
    shown = nodes[:NODES_SHOWN]
    result = table(title=f"By node, {len(nodes)} nodes")
    result.add_column(styled("\nnode"), no_wrap=True)
    result.add_column(styled("\n{}s", view.noun), overflow="fold", max_width=16)
    marks = _add_joules_columns(result, shown, view.noun) if whole.figures else []
    for line in shown:
        _add(result, line, marks)
    result.add_section()
    _add(result, whole, marks, style="bold")
    if len(shown) < len(nodes):
        result.caption = f"{len(shown)} of {len(nodes)} nodes; --json has all"
    return result


def _add_joules_columns(to: Table, nodes: list[NodeLine], noun: str) -> list[bool]:
    """Adds three columns of joules. Returns for each whether its cells are marked because it mixes provenances."""
    to.add_column(styled("\njoules"), no_wrap=True)
    words = [provenance_words(figures[1:][i] for node in nodes for figures in node.figures) for i in range(3)]
    for name, word in zip((f"{noun}s", "idle", "node"), words, strict=True):
        to.add_column(styled("{}\n{}", name, word), justify="right", no_wrap=True)
    return [word == "mixed" for word in words]


def _add(to: Table, line: NodeLine, marks: list[bool], style: str = "") -> None:
    if not line.figures:
        to.add_row(line.label, line.pes, style=style)
    for i, (domain, *cells) in enumerate(line.figures):
        texts = [_cell(figure, mark) for figure, mark in zip(cells, marks, strict=True)]
        to.add_row(line.label if i == 0 else "", line.pes if i == 0 else "", domain, *texts, style=style)


def _cell(figure: Joules, mark: bool) -> Text:
    """A cell in a unit of its own, because a node's idle joules and a PE's share differ by orders of magnitude."""
    if figure.joules is None:
        return joules_cell(figure, 1.0, mark)
    factor, unit = joule_unit(figure.joules)
    return styled("{} {}", joules_cell(figure, factor, mark), unit)
