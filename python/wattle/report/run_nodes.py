"""Parts of the page of a run on several nodes: joules by node, and the traffic between nodes."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from wattle.figures import merged
from wattle.html.figures import Figure, Trace, hover_text
from wattle.record.pe import PE
from wattle.record.profile import RunProfile
from wattle.report.run_figures import DOMAIN_COLOURS, bar, bars, height
from wattle.run.view import NodeLine, View
from wattle.text import units
from wattle.text.provenance import Joules

NODES_SHOWN = 64


def node_figures(view: View) -> list[Figure]:
    """Joules by node, the PEs' share and idle stacked. Empty for a job on one node or without known joules."""
    nodes = view.nodes[:-1]
    if not nodes or not nodes[0].figures:
        return []
    names, traces = [node.label for node in nodes], []
    for k, colour in zip(range(len(nodes[0].figures)), cycle(DOMAIN_COLOURS), strict=False):
        by_node = [node.figures[k] for node in nodes]
        for part, found in ((f"{view.noun}s", [f[1] for f in by_node]), ("idle", [f[2] for f in by_node])):
            traces.append(_stack(names, f"{by_node[0][0]}, {part}", found, colour))
    for trace in traces[1::2]:
        trace["opacity"] = 0.35
    return [
        Figure(
            id="joules-by-node",
            title="Joules by node",
            label=f"Stacked bars, one a node: joules of its {view.noun}s and idle joules, by domain",
            traces=traces,
            layout=bars("stack", "J"),
            height=height(len(names)),
            note=f"the whole bar is the node's joules; pale: idle joules, attributed to no {view.noun}",
        )
    ]


def _stack(names: list[str], what: str, found: list[Joules], colour: str) -> Trace:
    hover = [
        hover_text(name, [(what, str(f)), ("source", f.source), ("n", "1 run")])
        for name, f in zip(names, found, strict=True)
    ]
    return bar(what, names, [f.joules for f in found], colour, hover)


def node_rows(view: View) -> list[dict[str, Any]]:
    """A row for each node and domain, then the sums over all nodes. Empty for a job on one node."""
    shown = [*view.nodes[:-1][:NODES_SHOWN], *view.nodes[-1:]]
    return [{"host": node.host, "pes": node.pes, "figures": _cells(node)} for node in shown]


def _cells(node: NodeLine) -> list[tuple[str, list[tuple[str, Joules]]]]:
    return [(domain, [(f.words, f) for f in found]) for domain, *found in node.figures]


def network_rows(profile: RunProfile) -> list[list[str]]:
    """Messages to other nodes by PE: sent, received, dropped; then of all PEs. Empty without a network."""
    if profile.network is None:
        return []
    rows = [[str(pe.pe), pe.host, *_network_cells(pe)] for pe in profile.pes if pe.network is not None]
    return [*rows[:NODES_SHOWN], ["all", "", *_network_cells(profile)]]


def _network_cells(of: PE | RunProfile) -> list[str]:
    network = of.network
    if network is None:
        return []
    counts = [network.messages["sent"], network.messages["received"], network.messages["merged"]]
    sizes = [network.bytes[way] for way in ("sent", "received", "hardware")]
    drops = [network.dropped["foreign"], network.dropped["malformed"]]
    joules = str(merged.avoided(of) if isinstance(of, PE) else merged.of_run(of))
    return [*map(units.count, counts), joules, *map(units.size, sizes), *map(units.count, drops)]
