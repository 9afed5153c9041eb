"""A run as Caliper's JSON (`json-split`), which Hatchet and Thicket read.

The call tree has a row for each rank and call. Its numbers are those of the calls alone, so that readers add them up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wattle.figures.sites import MergedSite, merge
from wattle.frames.tree import Node, tree
from wattle.record.manifest import Manifest
from wattle.record.pe import STAGES, add
from wattle.record.profile import RunProfile

ORDER, PATH, PROVENANCE = "Node order", "path", "provenance"
VALUES = ("mpi.rank", "sum#time.duration", "wait_s", "spin_s", "yield_s", "asleep_s", "calls", "bytes", "joules")
COLUMNS = (ORDER, PATH, *VALUES, PROVENANCE)
UNITS = {"sum#time.duration": "sec", "bytes": "B", "joules": "J"}
KINDS = ("modelled", "unavailable")  # of joules of calls: they are shares of those of a process


def text(profile: RunProfile, record: Manifest) -> str:
    """The document. Its further keys are facts about the run, which Thicket shows as metadata."""
    nodes = tree(merge(profile))
    document = {
        "data": list(_rows(nodes, profile.counted_twice)),
        "columns": COLUMNS,
        "column_metadata": [_about(name) for name in COLUMNS],
        "nodes": [
            *({"label": node.name, "column": PATH} | _parent(node) for node in nodes),
            *({"label": kind, "column": PROVENANCE} for kind in KINDS),
        ],
        **_facts(profile, record),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _about(name: str) -> dict[str, Any]:
    unit = UNITS.get(name, "sec" if name.endswith("_s") else "")
    return {"is_value": name in VALUES, **({"attribute.unit": unit} if unit else {})}


def _parent(node: Node) -> dict[str, int]:
    return {} if node.parent is None else {"parent": node.parent}


def _rows(nodes: list[Node], counted_twice: bool) -> Iterator[list[Any]]:
    """A row for each call of each rank. Readers take the order of the nodes from the first rows, so that each node has
    one there; of a node without calls it is zero.
    """
    kinds = {kind: len(nodes) + k for k, kind in enumerate(KINDS)}
    first, others = [], []
    for k, node in enumerate(nodes):
        found = _by_rank(node.own, counted_twice) or {0: [0] * (len(VALUES) - 1)}
        rows = [[k, k, rank, *of, kinds["unavailable" if of[-1] is None else "modelled"]] for rank, of in found.items()]
        first.append(rows[0])
        others += rows[1:]
    yield from first
    yield from others


def _by_rank(sites: list[MergedSite], counted_twice: bool) -> dict[int, list[float | None]]:
    """The numbers of VALUES after the rank; None where one is not known."""
    found: dict[int, list[float | None]] = {}
    for pe, site in (member for one in sites for member in one.members):
        joules = None if counted_twice else add(site.joules.values())
        waits = (site.wait_s[stage] for stage in STAGES)
        new = [site.time_s, site.waiting_s, *waits, site.calls, site.bytes, joules if site.joules else None]
        before = found.get(pe.pe)
        found[pe.pe] = [add(pair) for pair in zip(before, new, strict=True)] if before else new
    return found


def _facts(profile: RunProfile, record: Manifest) -> dict[str, Any]:
    joules = profile.whole_joules
    return {
        "command": " ".join(record.command),
        "started": record.started,
        "host": record.host.get("name"),
        "n_processes": profile.n_pes,
        "wall_s": profile.wall_s,
        "wattle_version": record.wattle_version,
        "commit": record.git["commit"] if record.git else None,
        "label": record.extra.get("label"),
        "joules_of_nodes": joules.joules,
        "joules_uncertainty": joules.uncertainty,
        "joules_provenance": str(joules.provenance),
        "joules_source": joules.source,
    }
