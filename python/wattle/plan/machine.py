"""Reads the clocks of a machine profile: the watts of a PE by state at each clock, from wattle-info's answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from wattle.base.errors import WattleError
from wattle.record.pe import STATES


@dataclass(frozen=True)
class Watts:
    """Watts or joules, with the half-width of the range of about 95 % confidence."""

    value: float
    plus_minus: float


@dataclass(frozen=True)
class Clock:
    ghz: float
    by_state: dict[str, Watts]


@dataclass(frozen=True)
class Clocks:
    """The clocks of a profile, slowest first. `idle`: watts of a node that does nothing."""

    profile: str
    clocks: list[Clock]
    base: Clock
    idle: Watts

    def at_least(self, ghz: float) -> Clock:
        """The slowest clock of at least `ghz`; the fastest where none is."""
        return next((c for c in self.clocks if c.ghz >= ghz * (1 - 1e-9)), self.clocks[-1])


def read(machine: dict[str, Any]) -> Clocks:
    """Reads the `machine` of wattle-info's answer. Raises WattleError where the profile has only one clock."""
    name = str(machine.get("name") or "?")
    numbers = {str(row.get("key")): row for row in machine.get("numbers") or []}
    found: dict[int, dict[str, Any]] = {}
    for key, row in numbers.items():
        match = re.fullmatch(r"clocks\[(\d+)\]\.(\w+)", key)
        if match:
            found.setdefault(int(match[1]), {"ghz": row.get("ghz"), "watts": {}})["watts"][match[2]] = _watts(row)
    clocks = [Clock(float(c["ghz"]), c["watts"]) for c in found.values() if set(c["watts"]) >= set(STATES)]
    if len(clocks) < 2:
        raise WattleError(
            f"machine profile {name} knows {len(clocks)} clock(s): a plan needs two and more; name a profile that has "
            "them with --machine, as sandybridge-e5-2670 has"
        )
    base = machine.get("base_ghz")
    ordered = sorted(clocks, key=lambda c: c.ghz)
    chosen = next((c for c in ordered if base is not None and abs(c.ghz - float(base)) < 1e-9), ordered[-1])
    sockets = float(machine.get("sockets") or 1)
    idle = numbers.get("idle.cpu", {"value": 0.0, "plus_minus": 0.0})
    return Clocks(name, ordered, chosen, Watts(sockets * float(idle["value"]), sockets * float(idle["plus_minus"])))


def _watts(row: dict[str, Any]) -> Watts:
    return Watts(float(row.get("value") or 0.0), float(row.get("plus_minus") or 0.0))
