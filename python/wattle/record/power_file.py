"""Reads the watts of the nodes' meters over time, profile/power-00000.json, which lie beside the timelines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from wattle.base.checked import read_json, require_schema
from wattle.record.power import Power, read

SCHEMA = 1
NAME = re.compile(r"power-([0-9]{5})\.json")


def load(folder: Path, hosts: Mapping[int, str]) -> list[Power]:
    """The watts in a run's profile folder, by node and domain. `hosts`: by PE. With several hosts a domain's name
    begins with its host. Empty without a sensor. Raises DamagedFile.
    """
    found = []
    several = len(set(hosts.values())) > 1
    for path in sorted(folder.glob("power-*.json")):
        if not (number := NAME.fullmatch(path.name)):
            continue
        host = f"{hosts.get(int(number[1]), '?')} " if several else ""
        found += [replace(power, scope=host + power.scope) for power in _read(path)]
    return found


def of_reader(folder: Path, pe: int) -> list[Power]:
    """The watts that one PE read of its node's meter. Empty where it left none. Raises DamagedFile."""
    path = folder / f"power-{pe:05d}.json"
    return _read(path) if path.is_file() else []


def _read(path: Path) -> list[Power]:
    document = read_json(path)
    require_schema(document, SCHEMA)
    return [read(entry) for entry in document.items("power")]
