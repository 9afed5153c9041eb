"""The table by node, for jobs on several: which PEs are where, and joules of each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wattle import units
from wattle.by_node import Node, on_one_machine
from wattle.console import Text, styled
from wattle.profile import RunProfile
from wattle.provenance import Joules, joule_unit
from wattle.tables import Table, joules_cell, provenance_words, table

LABEL_WIDTH = 12
NODES_SHOWN = 24
Row = tuple[str, str, list[tuple[str, Joules, Joules, Joules]]]  # name, PEs, (domain, PEs' share, idle, node)


def labels(nodes: Sequence[Node]) -> list[str]:
    """A short name for each node: without the domain, and without a long name's head, where that keeps them apart."""
    for cut in (_host_alone_short, _short, lambda host: host):
        found = [cut(node.host) for node in nodes]
        if len(set(found)) == len(nodes):
            return found
    return [f"{_host_alone_short(node.host)}#{i}" for i, node in enumerate(nodes)]  # hosts of one name


def _short(host: str) -> str:
    return host if len(host) <= LABEL_WIDTH else "…" + host[1 - LABEL_WIDTH :]


def _host_alone_short(host: str) -> str:
    return _short(host.partition(".")[0])


def node_table(profile: RunProfile) -> Table:
    """For each node and domain: joules of its PEs, idle joules and the node's, and their sums over all nodes."""
    shown = profile.nodes[:NODES_SHOWN]
    domains = domains_of(profile)
    rows = [_of_node(name, node, domains) for name, node in zip(labels(profile.nodes), shown, strict=False)]
    rows.append(_of_all(profile, domains))
    result = table(title=f"By node, {len(profile.nodes)} nodes")
    result.add_column(styled("\nnode"), no_wrap=True)
    result.add_column(styled("\nPEs"), overflow="fold", max_width=16)
    marks = _add_joules_columns(result, rows) if domains else []
    for name, pes, figures in rows[:-1]:
        _add(result, name, pes, figures, marks)
    result.add_section()
    _add(result, *rows[-1], marks, style="bold")
    if len(shown) < len(profile.nodes):
        result.caption = f"{len(shown)} of {len(profile.nodes)} nodes; --json has all"
    return result


def domains_of(profile: RunProfile) -> list[str]:
    """Those with a figure to show."""
    figures = [j for node in profile.nodes for pe in node.pes for j in (*pe.node, *pe.joules)]
    return list(dict.fromkeys(j.domain for j in figures if j.known))


def _of_node(name: str, node: Node, domains: list[str]) -> Row:
    return name, units.ranges(node.numbers), [(d, node.share(d), node.idle(d), node.joules(d)) for d in domains]


def _of_all(profile: RunProfile, domains: list[str]) -> Row:
    figures = [(d, profile.joules(d), profile.idle_joules(d), profile.node_joules(d)) for d in domains]
    return "all" if profile.all_nodes else "these", units.several(len(profile.pes), "PE"), figures


def _add_joules_columns(to: Table, rows: list[Row]) -> list[bool]:
    """Returns for each of the three whether its cells are marked because the column mixes provenances."""
    to.add_column(styled("\njoules"), no_wrap=True)
    words = [provenance_words(f[i] for _, _, figures in rows[:-1] for f in figures) for i in (1, 2, 3)]
    for name, word in zip(("PEs", "idle", "node"), words, strict=True):
        to.add_column(styled("{}\n{}", name, word), justify="right", no_wrap=True)
    return [word == "mixed" for word in words]


def _add(to: Table, name: str, pes: str, figures: list, marks: list[bool], style: str = "") -> None:
    if not figures:
        to.add_row(name, pes, style=style)
    for i, (domain, *cells) in enumerate(figures):
        texts = [_cell(figure, mark) for figure, mark in zip(cells, marks, strict=True)]
        to.add_row(name if i == 0 else "", pes if i == 0 else "", domain, *texts, style=style)


def _cell(figure: Joules, mark: bool) -> Text:
    """In a unit of its own: a node's idle draw and a PE's share are worlds apart."""
    if figure.joules is None:
        return joules_cell(figure, 1.0, mark)
    factor, unit = joule_unit(figure.joules)
    return styled("{} {}", joules_cell(figure, factor, mark), unit)


def one_machine_words(profile: RunProfile) -> str:
    """What has to be said where nodes are no machines of their own; empty where they are."""
    shared = on_one_machine(profile.nodes)
    if not shared:
        return ""
    names = dict(zip(map(id, profile.nodes), labels(profile.nodes), strict=True))
    machines = Counter(node.boot_id for node in shared)
    lists = [" and ".join(names[id(node)] for node in shared if node.boot_id == boot_id) for boot_id in machines]
    who = "; ".join(f"{found} are one machine" for found in lists)
    if profile.counted_twice:
        return f"{who}: each read the machine's one sensor, so joules of several nodes are not added up."
    return f"{who}: the model takes each node for a machine of its own, idle draw included."
