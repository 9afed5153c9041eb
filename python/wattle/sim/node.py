"""A machine profile as simulation needs it: a PE a core, each with its share of what the node draws anyway."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from wattle.errors import WattleError
from wattle.pe import STATES

DRAM = ("idle.dram", "dram.per_byte")


@dataclass(frozen=True)
class Clock:
    ghz: float
    base: bool
    watts: dict[str, dict[str, Any]]  # by state: the profile's row


@dataclass(frozen=True)
class Node:
    """`cores`: of the whole node. `rows`: the profile's numbers, by key."""

    profile: str
    cores: int
    sockets: int
    clocks: list[Clock]  # in the profile's order
    rows: dict[str, dict[str, Any]]

    @property
    def base(self) -> int:
        return next(i for i, clock in enumerate(self.clocks) if clock.base)

    @property
    def idle_w(self) -> float:
        """A core's share of the idle node."""
        return float(self.rows["idle.cpu"]["value"]) * self.sockets / self.cores


def read(machine: dict[str, Any]) -> Node:
    """From the `machine` of wattle-info's answer."""
    name = str(machine.get("name") or "?")
    rows = {str(row.get("key")): row for row in machine.get("numbers") or []}
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for key, row in rows.items():
        if match := re.fullmatch(r"clocks\[(\d+)\]\.(\w+)", key):
            found.setdefault(int(match[1]), {})[match[2]] = row
    sockets = int(machine.get("sockets") or 1)
    cores = sockets * int(machine.get("cores_per_socket") or 0)
    if not cores or not found:
        raise WattleError(f"machine profile {name} does not say how many cores it has: nothing to simulate")
    base = float(machine.get("base_ghz") or 0)
    clocks = []
    for i in sorted(found):
        ghz = float(found[i]["active"].get("ghz") or 0)
        clocks.append(Clock(ghz, abs(ghz - base) < 1e-9, {state: found[i][state] for state in STATES}))
    return Node(name, cores, sockets, clocks, rows)


def share(node: Node, name: str) -> str:
    """The profile of one core's share, for the meter in the simulated PE."""
    part = node.sockets / node.cores
    note = f"One core of {node.cores}: its share of profile {node.profile}."
    lines = [
        f"name: {name}",
        f"title: {_quoted(note)}",
        f"about: {_quoted(note)}",
        "sockets: 1",
        "cores_per_socket: 1",
        "idle:",
    ]
    lines += _number("cpu", node.rows["idle.cpu"], 2, part, note) + _number(
        "dram", node.rows["idle.dram"], 2, part, note
    )
    lines += ["dram:", *_number("per_byte", node.rows["dram.per_byte"], 2)]
    lines.append("clocks:")
    for clock in node.clocks:
        lines.append(f"  - ghz: {clock.ghz:g}")
        if clock.base:
            lines.append("    base: true")
        for state in STATES:
            lines += _number(state, clock.watts[state], 4)
    return "\n".join(lines) + "\n"


def _number(key: str, row: dict[str, Any], indent: int, part: float = 1.0, note: str = "") -> list[str]:
    tag = str(row.get("tag"))
    if part != 1.0 and tag == "cited":
        tag = "derived"
    source, how = str(row.get("source") or ""), " ".join(filter(None, (note, str(row.get("how") or ""))))
    fields = {
        "value": repr(float(row["value"]) * part),
        "plus_minus": repr(float(row["plus_minus"]) * part),
        "unit": row["unit"],
        "tag": tag,
    }
    if source:
        fields["source"] = _quoted(source)
    if how:
        fields["how"] = _quoted(how)
    pad = " " * indent
    return [f"{pad}{key}:", *(f"{pad}  {name}: {value}" for name, value in fields.items())]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
