"""A machine profile in the form of the simulation: each PE is one core with its share of the node's idle watts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from wattle.base import limits
from wattle.base.errors import WattleError
from wattle.record.pe import STATES

DRAM = ("idle.dram", "dram.per_byte")


@dataclass(frozen=True)
class Clock:
    ghz: float
    base: bool
    watts: dict[str, dict[str, Any]]  # by state: the row of the profile


@dataclass(frozen=True)
class Node:
    """A node. `cores`: of the whole node. `rows`: the profile's numbers by key. `per_node`: PEs that share it."""

    profile: str
    cores: int
    sockets: int
    clocks: list[Clock]  # in the profile's order
    rows: dict[str, dict[str, Any]]
    per_node: int = 1

    @property
    def base(self) -> int:
        return next(i for i, clock in enumerate(self.clocks) if clock.base)

    @property
    def share(self) -> float:
        """A core's part of the numbers by socket."""
        return self.sockets / self.cores

    @property
    def idle_w(self) -> float:
        """A core's share of the idle node's watts."""
        return float(self.rows["idle.cpu"]["value"]) * self.share


def read(machine: dict[str, Any]) -> Node:
    """Reads the `machine` of wattle-info's answer."""
    if error := machine.get("error"):
        raise WattleError(str(error))
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


def shared(node: Node, per_node: int, cores_each: int = 1) -> Node:
    """The node with `per_node` PEs, spread over its sockets, that share its idle watts. A single PE has the cores of
    one PE in a node that is full of others. `cores_each`: cores that a PE has with its agent.
    """
    most = node.cores // cores_each
    if not 1 <= per_node <= most:
        half = ", half of them for agents" if cores_each > 1 else ""
        raise WattleError(f"--per-node {per_node}: expected 1 to {most}, the cores of a node of {node.profile}{half}")
    return replace(node, cores=most if per_node == 1 else per_node, per_node=per_node)


def with_steps(node: Node, step_ghz: float) -> Node:
    """The node with clocks every `step_ghz` below the base clock, whose watts are interpolated as by the model."""
    ordered = sorted(node.clocks, key=lambda clock: clock.ghz)
    base = node.clocks[node.base]
    if step_ghz <= 0:
        return replace(node, clocks=ordered)
    found = {clock.ghz: clock for clock in ordered}
    if (base.ghz - ordered[0].ghz) / step_ghz > limits.STEPS:
        raise WattleError(f"step: {step_ghz * 1e9:g} Hz make more than {limits.STEPS} clocks of a core")
    for low, high in pairwise(c for c in ordered if c.ghz <= base.ghz):
        steps = range(1, int((base.ghz - low.ghz) / step_ghz + 1e-9) + 1)
        for ghz in (round(base.ghz - k * step_ghz, 6) for k in steps):
            if low.ghz + 1e-9 < ghz < high.ghz - 1e-9:
                found[ghz] = _between(low, high, ghz)
    return replace(node, clocks=[found[ghz] for ghz in sorted(found)])


def _between(low: Clock, high: Clock, ghz: float) -> Clock:
    part = (ghz - low.ghz) / (high.ghz - low.ghz)

    def row(state: str) -> dict[str, Any]:
        a, b = low.watts[state], high.watts[state]
        ends = f"{low.ghz:g} and {high.ghz:g} GHz"
        value, plus_minus = (float(a[key]) + part * (float(b[key]) - float(a[key])) for key in ("value", "plus_minus"))
        tag = "assumed" if "assumed" in (a["tag"], b["tag"]) else "derived"
        how = f"On a straight line between the profile's {ends}."
        source = {"source": str(a.get("source") or b.get("source") or "")} if tag == "derived" else {}
        return {"value": value, "plus_minus": plus_minus, "unit": "W", "tag": tag, "how": how, **source}

    return Clock(ghz, False, {state: row(state) for state in STATES})


def share(node: Node, name: str) -> str:
    """The profile of one core's share, for the meter in a simulated PE."""
    part = node.share
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
