"""A run's PEs by node, and joules of nodes.

Each node has one reader, the PE whose profile holds the node's joules. A node whose reader left no profile has unknown
joules, and so has one that two PEs say they read: its joules would count twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wattle.pe import PE, find
from wattle.provenance import Joules, Provenance, total, unavailable


@dataclass(frozen=True)
class Node:
    """One node with those of its PEs that left a profile, in order."""

    host: str
    boot_id: str
    pes: list[PE]

    @property
    def numbers(self) -> list[int]:
        return [pe.pe for pe in self.pes]

    @property
    def readers(self) -> list[int]:
        """The PEs that say they read the node's meter: one, where all is well."""
        return [pe.pe for pe in self.pes if pe.reads_node]

    @property
    def reader(self) -> PE | None:
        return next(pe for pe in self.pes if pe.reads_node) if len(self.readers) == 1 else None

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(j.domain for pe in self.pes for j in pe.node))

    def joules(self, domain: str) -> Joules:
        """Joules of the whole node."""
        return find(self.reader.node, domain) if self.reader else unavailable(domain)

    def idle(self, domain: str) -> Joules:
        """Joules that no PE caused."""
        return find(self.reader.idle, domain) if self.reader else unavailable(domain)

    def share(self, domain: str) -> Joules:
        """Joules of those of the node's PEs that left a profile."""
        return total((find(pe.joules, domain) for pe in self.pes), domain=domain)

    @property
    def meter(self) -> dict[str, str]:
        return self.reader.meter if self.reader else {"name": "", "why": ""}

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "host": self.host,
            "boot_id": self.boot_id or None,
            "pes": self.numbers,
            "reader": self.reader.pe if self.reader else None,
            "meter": self.meter["name"] or None,
            "joules": [self.joules(d).as_dict() for d in self.domains],
            "idle": [self.idle(d).as_dict() for d in self.domains],
        }


def group(pes: Iterable[PE]) -> list[Node]:
    """The nodes in order of their first PEs. Hosts of one name that are different machines are different nodes."""
    found: dict[tuple[str, str], list[PE]] = {}
    for pe in pes:
        found.setdefault((pe.host, pe.boot_id), []).append(pe)
    return [Node(host, boot_id, members) for (host, boot_id), members in found.items()]


def on_one_machine(nodes: Sequence[Node]) -> list[Node]:
    """Those that share their machine with another: network namespaces or containers."""
    machines = Counter(node.boot_id for node in nodes if node.boot_id)
    return [node for node in nodes if machines[node.boot_id] > 1]


def counted_twice(nodes: Sequence[Node]) -> bool:
    """Whether two readers read one machine's sensor, so that adding up what they read would count its joules twice.
    (The model's joules add up: it takes each node for a machine.)"""
    shared = [*on_one_machine(nodes), *(node for node in nodes if len(node.readers) > 1)]
    return any(j.provenance is Provenance.MEASURED for node in shared for pe in node.pes for j in pe.node)
