"""What the page of a run says of several nodes: joules by node, and what went between them."""

from __future__ import annotations

from typing import Any

from wattle import units
from wattle.by_node import Node
from wattle.html.figures import Figure, Trace, hover_text
from wattle.pe import PE
from wattle.profile import RunProfile
from wattle.provenance import Joules
from wattle.report.run_figures import DOMAIN_COLOURS, bar, bars, height
from wattle.run.node_table import domains_of, labels

NODES_SHOWN = 64


def node_figures(profile: RunProfile) -> list[Figure]:
    """Joules by node, PEs' share and idle stacked; none where the job had one node or no joules are known."""
    domains = domains_of(profile)
    if len(profile.nodes) < 2 or not domains:
        return []
    names, traces = labels(profile.nodes), []
    for domain, colour in zip(domains, DOMAIN_COLOURS * len(domains), strict=False):
        traces.append(_stack(profile, names, domain, "PEs", colour))
        traces.append(_stack(profile, names, domain, "idle", colour))
    return [
        Figure(
            id="joules-by-node",
            title="Joules by node",
            label="Stacked bars, one a node: joules of its PEs and idle joules, by domain",
            traces=traces,
            layout=bars("stack", "J"),
            height=height(len(names)),
            note="the whole bar is the node's; pale: idle, caused by no PE",
        )
    ]


def _stack(profile: RunProfile, names: list[str], domain: str, part: str, colour: str) -> Trace:
    found = [node.share(domain) if part == "PEs" else node.idle(domain) for node in profile.nodes]
    hover = [
        hover_text(name, [(f"{domain}, {part}", str(f)), ("source", f.source), ("n", "1 run")])
        for name, f in zip(names, found, strict=True)
    ]
    trace = bar(f"{domain}, {part}", names, [f.joules for f in found], colour, hover)
    if part == "idle":
        trace["opacity"] = 0.35
    return trace


def node_rows(profile: RunProfile) -> list[dict[str, Any]]:
    """A row for each node and domain, then the sums over all nodes. None where the job had one node."""
    if len(profile.nodes) < 2:
        return []
    domains = domains_of(profile)
    rows = [_row(node, domains) for node in profile.nodes[:NODES_SHOWN]]
    figures = [(d, profile.joules(d), profile.idle_joules(d), profile.node_joules(d)) for d in domains]
    name = "all nodes" if profile.all_nodes else "these nodes"
    return [*rows, {"host": name, "pes": units.several(len(profile.pes), "PE"), "figures": _cells(figures)}]


def _row(node: Node, domains: list[str]) -> dict[str, Any]:
    figures = [(d, node.share(d), node.idle(d), node.joules(d)) for d in domains]
    return {"host": node.host, "pes": units.ranges(node.numbers), "figures": _cells(figures)}


def _cells(figures: list[tuple[str, Joules, Joules, Joules]]) -> list[tuple[str, list[tuple[str, Joules]]]]:
    return [(domain, [(_amount(f), f) for f in found]) for domain, *found in figures]


def _amount(figure: Joules) -> str:
    return str(figure).removesuffix(f" {figure.provenance}") if figure.known else units.UNKNOWN


def network_rows(profile: RunProfile) -> list[list[str]]:
    """What each PE sent to other nodes, received and dropped; then all PEs. None where there was no network."""
    if profile.network is None:
        return []
    rows = [[str(pe.pe), pe.host, *_network_cells(pe)] for pe in profile.pes if pe.network is not None]
    return [*rows[:NODES_SHOWN], ["all", "", *_network_cells(profile)]]


def _network_cells(of: PE | RunProfile) -> list[str]:
    network = of.network
    if network is None:
        return []
    counts = [network.messages["sent"], network.messages["received"]]
    sizes = [network.bytes[way] for way in ("sent", "received", "hardware")]
    drops = [network.dropped["foreign"], network.dropped["malformed"]]
    return [*map(units.count, counts), *map(units.size, sizes), *map(units.count, drops)]
