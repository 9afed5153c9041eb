"""The counters of a run as text: instructions, cycles and cache misses by PE, packets by network interface."""

from __future__ import annotations

from wattle.record.pe import PE, WAYS, Interface, Operations
from wattle.run.view import View
from wattle.text import units

HEADS = (
    ("", "instructions"),
    ("", "cycles"),
    ("instructions", "a cycle"),
    ("last-level", "references"),
    ("last-level", "misses"),
)
WAYS_HEADS = (("packets", "sent"), ("", "received"), ("bytes", "sent"), ("", "received"))


def cells(counted: Operations) -> list[str]:
    """A PE's counts, by HEADS."""
    instructions, cycles = counted.instructions, counted.cycles
    ratio = None if instructions is None or not cycles else instructions / cycles
    return [
        units.count(instructions),
        units.count(cycles),
        units.UNKNOWN if ratio is None else f"{ratio:.2f}",
        units.count(counted.cache_references),
        units.count(counted.cache_misses),
    ]


def asked(view: View) -> bool:
    """Whether the run was asked to count (WATTLE_COUNTERS)."""
    return any(line.pe.operations for line in view.lines)


def rows(view: View) -> list[tuple[PE, list[str]]]:
    """The PEs with a known count, in the order of the view."""
    found = ((line.pe, line.pe.operations) for line in view.lines if line.pe.operations)
    return [(pe, cells(counted)) for pe, counted in found if set(cells(counted)) != {units.UNKNOWN}]


def interface_rows(view: View) -> list[tuple[str, Interface, list[str]]]:
    """(host, interface, cells by WAYS_HEADS) of each interface that moved a packet, or whose packets are not known."""
    return [
        (
            node.host,
            one,
            [*(units.count(one.packets[way]) for way in WAYS), *(units.size(one.bytes[way]) for way in WAYS)],
        )
        for node in (view.profile.nodes if view.profile else [])
        for one in (node.interfaces.found if node.interfaces else [])
        if any(one.packets[way] != 0 for way in WAYS)
    ]


def reasons(view: View) -> list[str]:
    """Why counts are missing, each reason once."""
    of_pes = (line.pe.operations.why for line in view.lines if line.pe.operations)
    nodes = view.profile.nodes if view.profile else []
    of_nodes = (node.interfaces.why for node in nodes if node.interfaces)
    return [f"{why[0].upper()}{why[1:]}." for why in dict.fromkeys([*of_pes, *of_nodes]) if why]
