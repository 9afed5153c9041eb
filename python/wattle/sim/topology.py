"""The topology of a network of several switches or routers, in the form of SimGrid's zones."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from wattle.base import limits
from wattle.base.checked import Checked, shown

TAGS = ("cited", "derived", "assumed")
# By kind: its keys. A list has a number for each level or dimension.
KEYS = {
    "fat-tree": ("below", "above", "links"),
    "dragonfly": ("groups", "chassis", "routers", "nodes", "group_links", "chassis_links", "router_links"),
    "torus": ("dimensions",),
}
OF_SIMGRID = {"fat-tree": "FAT_TREE", "dragonfly": "DRAGONFLY", "torus": "TORUS"}
WORDS = ("kind", "tag", "source", "how")
MOST_PLACES = 1 << 16  # SimGrid makes a host for each


@dataclass(frozen=True)
class Topology:
    """A topology. `numbers`: by key, one number or one for each level or dimension."""

    kind: str
    numbers: dict[str, list[int]]
    tag: str
    source: str
    how: str

    @property
    def places(self) -> int:
        """The number of nodes that it connects."""
        of = {"fat-tree": ("below",), "torus": ("dimensions",)}.get(
            self.kind, ("groups", "chassis", "routers", "nodes")
        )
        return prod(number for key in of for number in self.numbers[key])

    @property
    def parameters(self) -> str:
        """SimGrid's `topo_parameters`."""
        lists = {key: ",".join(map(str, numbers)) for key, numbers in self.numbers.items()}
        if self.kind == "torus":
            return lists["dimensions"]
        if self.kind == "fat-tree":
            return f"{len(self.numbers['below'])};{lists['below']};{lists['above']};{lists['links']}"
        ranks = (("groups", "group_links"), ("chassis", "chassis_links"), ("routers", "router_links"))
        return ";".join([*(f"{lists[number]},{lists[links]}" for number, links in ranks), lists["nodes"]])

    @property
    def least_links(self) -> int:
        """Links between two nodes as near to each other as possible."""
        return 1 if self.kind == "torus" else 2


def read(table: Checked) -> Topology:
    """Reads the table `topology` of a cluster's file."""
    kind = table.choice("kind", tuple(KEYS))
    for key in table.object():
        if key not in (*WORDS, *KEYS[kind]):
            raise table.wrong(f"{shown(key)}: a {kind} has {', '.join([*WORDS, *KEYS[kind]])}")
    found = Topology(
        kind,
        {key: _numbers(table, key, kind) for key in KEYS[kind]},
        table.choice("tag", TAGS),
        *(table.text(key) if table.has(key) else "" for key in ("source", "how")),
    )
    if found.tag != "assumed" and not found.source:
        raise table.wrong(f"a topology tagged {found.tag} needs a source")
    if len({len(numbers) for numbers in found.numbers.values()}) > 1:
        raise table.wrong(f"{', '.join(KEYS[kind])}: expected as many numbers in each, one for each level of switches")
    if found.places > MOST_PLACES:
        raise table.wrong(f"it has {found.places:,} places; expected at most {MOST_PLACES:,}")
    return found


def _numbers(table: Checked, key: str, kind: str) -> list[int]:
    if kind == "dragonfly":
        return [table.integer(key, 1, limits.PES)]
    values = table.get(key).expect("a list").value
    if not values or not all(type(value) is int and 1 <= value <= limits.PES for value in values):
        raise table.get(key).wrong(f"{shown(values)}: expected numbers from 1 to {limits.PES}, such as [4, 4]")
    return list(values)
