"""The call tree of a run: regions, functions and calls, with the sum of the call sites below each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wattle.figures.call_paths import merged
from wattle.figures.sites import MergedSite
from wattle.machine.symbols import Place

Key = tuple[str, str, str, int]  # kind, name, file, line


@dataclass
class Node:
    """A node. `parent`: its place in the list, which is smaller; None for an outermost node. `sites`: those below it.
    `own`: those that end here, which only a call has.
    """

    parent: int | None
    kind: str
    name: str
    place: Place | None
    sites: list[MergedSite] = field(default_factory=list)
    own: list[MergedSite] = field(default_factory=list)

    @property
    def sum(self) -> MergedSite:
        """The sum of the sites below."""
        return merged(self.sites)


def tree(sites: Sequence[MergedSite]) -> list[Node]:
    """The nodes, each after its parent."""
    nodes: list[Node] = []
    at: dict[tuple[int | None, Key], int] = {}
    for site in sites:
        parent: int | None = None
        steps: list[tuple[str, str, Place | None]] = [("region", name, None) for name in site.region]
        steps += [("cut", site.path_end, None)] if site.path_end else []
        steps += [("frame", frame.name, frame) for frame in reversed(site.frames)]
        for kind, name, place in [*steps, ("call", site.call, site.place)]:
            key = (parent, (kind, name, place.file if place else "", place.line if place else 0))
            if key not in at:
                at[key] = len(nodes)
                nodes.append(Node(parent, kind, name, place))
            parent = at[key]
            nodes[parent].sites.append(site)
        if parent is not None:
            nodes[parent].own.append(site)
    return nodes
