"""Reads and writes the file of a plan: YAML of a fixed form that is easy to edit by hand.

schema: 1
n_pes: 4
machine: sandybridge-e5-2670
clusters:
  - clock_ghz: 1.2
    pes: 0-1,3
  - clock_ghz: 2.6
    pes: 2
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.checked import shown
from wattle.base.errors import DamagedFile
from wattle.text import units
from wattle.text.visible import visible

SCHEMA = 1


@dataclass(frozen=True)
class Cluster:
    clock_ghz: float
    pes: list[int]  # in rising order


@dataclass(frozen=True)
class Plan:
    n_pes: int
    machine: str
    clusters: list[Cluster]

    def setting(self) -> str:
        """The plan as a value of WATTLE_CLOCKS."""
        return ",".join(f"{part}={c.clock_ghz:g}" for c in self.clusters for part in ranges(c.pes).split(","))


def ranges(pes: list[int]) -> str:
    """PEs as text: [0, 1, 3] becomes `0-1,3`."""
    return units.ranges(sorted(pes)).replace(" ", "")


def text(plan: Plan, about: list[str]) -> str:
    """The text of the file. `about`: comment lines at its beginning."""
    lines = [f"# {visible(line)}" for line in about]
    lines += [f"schema: {SCHEMA}", f"n_pes: {plan.n_pes}", f"machine: {visible(plan.machine)}", "clusters:"]
    for c in plan.clusters:
        lines += [f"  - clock_ghz: {c.clock_ghz:g}", f"    pes: {ranges(c.pes)}"]
    return "\n".join(lines) + "\n"


def read(path: Path) -> Plan:
    """Reads a plan. Raises DamagedFile with the line where the form is wrong."""
    lines = input_files.read_text(path, limits.TEXT_BYTES).splitlines()
    head: dict[str, str] = {}
    clusters: list[dict[str, str]] = []
    for number, raw in enumerate(lines, 1):
        line = raw.split("#", 1)[0].rstrip()
        if not line:
            continue
        match = re.fullmatch(
            r"(?P<new>  - |    )?(?P<key>schema|n_pes|machine|clusters|clock_ghz|pes):(?P<value>.*)", line
        )
        if not match or bool(match["new"]) != (match["key"] in ("clock_ghz", "pes")):
            raise DamagedFile(path, f"line {number}: {shown(line.strip())} is not a line of a plan")
        if match["new"] == "  - ":
            clusters.append({})
        if match["new"] and not clusters:
            raise DamagedFile(path, f"line {number}: a cluster begins with '  - '")
        (clusters[-1] if match["new"] else head)[match["key"]] = match["value"].strip()
    return _checked(path, head, clusters)


def _checked(path: Path, head: dict[str, str], clusters: list[dict[str, str]]) -> Plan:
    if head.get("schema") != str(SCHEMA):
        raise DamagedFile(path, f"schema: {shown(head.get('schema'))}; this version reads {SCHEMA}")
    n_pes = _whole(path, "n_pes", head.get("n_pes", ""))
    seen: set[int] = set()
    found = [Cluster(_clock(path, c.get("clock_ghz", "")), _pes(path, c.get("pes", ""), n_pes, seen)) for c in clusters]
    missing = sorted(set(range(n_pes)) - seen)
    if missing:
        raise DamagedFile(path, f"PE {missing[0]} is in no cluster")
    return Plan(n_pes, head.get("machine", ""), found)


def _whole(path: Path, key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", value) or not 1 <= int(value) <= limits.PES:
        raise DamagedFile(path, f"{key}: {shown(value)}; expected a whole number from 1 to {limits.PES}")
    return int(value)


def _clock(path: Path, value: str) -> float:
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", value) or not 0 < float(value) < 100:
        raise DamagedFile(path, f"clock_ghz: {shown(value)}; expected GHz, above 0 and below 100")
    return float(value)


def _pes(path: Path, value: str, n_pes: int, seen: set[int]) -> list[int]:
    """PEs of one cluster. `seen` holds the PEs of earlier clusters; these are added to it."""
    found: list[int] = []
    for part in value.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})(?:-([0-9]{1,6}))?\s*", part)
        last = int(match[2] or match[1]) if match else -1
        if not match or last < int(match[1]) or last >= n_pes:
            raise DamagedFile(path, f"pes: {shown(value)}; expected PEs 0 to {n_pes - 1}, as in 0-1,3")
        these = range(int(match[1]), last + 1)
        if (twice := next((pe for pe in these if pe in seen), None)) is not None:
            raise DamagedFile(path, f"PE {twice} is in two clusters")
        seen.update(these)
        found += these
    return found
