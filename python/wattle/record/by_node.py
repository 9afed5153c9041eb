"""Groups the PEs of a run by node and adds up the joules of nodes.

On each node one PE, the reader, reads the node's meter. Its profile holds the node's joules. The joules of a node
are unknown where the reader left no profile. They are also unknown where two PEs claim to be the reader, because the
joules would count twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from wattle.record.pe import NO_METER, PE, Interfaces, Meter, NodeJoules, find
from wattle.text.provenance import Joules, Provenance, total, unavailable


@dataclass(frozen=True)
class Node:
    """One node with its PEs that left a profile, in order."""

    host: str
    boot_id: str
    pes: list[PE]

    @property
    def numbers(self) -> list[int]:
        return [pe.pe for pe in self.pes]

    @property
    def readers(self) -> list[int]:
        """The PEs that claim to read the node's meter. A correct run has one."""
        return [pe.pe for pe in self.pes if pe.node is not None]

    @property
    def reader(self) -> PE | None:
        return next(pe for pe in self.pes if pe.node is not None) if len(self.readers) == 1 else None

    @property
    def _of_reader(self) -> NodeJoules | None:
        return self.reader.node if self.reader else None

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(j.domain for pe in self.pes if pe.node for j in pe.node.joules))

    def joules(self, domain: str) -> Joules:
        """The joules of the whole node in a domain."""
        return find(found.joules, domain) if (found := self._of_reader) else unavailable(domain)

    def idle(self, domain: str) -> Joules:
        """The node's joules in a domain that are not attributed to any PE."""
        return find(found.idle, domain) if (found := self._of_reader) else unavailable(domain)

    def others(self, domain: str) -> Joules | None:
        """The joules of other programs on the node. None where no sensor saw any."""
        return find(found.others, domain) if (found := self._of_reader) and found.others else None

    def share(self, domain: str) -> Joules:
        """The joules of the PEs of the node that left a profile."""
        return total((find(pe.joules, domain) for pe in self.pes), domain=domain)

    @property
    def meter(self) -> Meter:
        return (self.reader and self.reader.meter) or NO_METER

    @property
    def nested(self) -> Sequence[Joules]:
        """Figures that are in no sum, because they overlap with another, such as a node's supply and its packages."""
        return found.nested if (found := self._of_reader) else []

    @property
    def interfaces(self) -> Interfaces | None:
        """The counts of its network interfaces, if WATTLE_COUNTERS was set."""
        return self.reader.interfaces if self.reader else None

    def as_dict(self) -> dict[str, object]:
        """The node as a dictionary for JSON."""
        return {
            "host": self.host,
            "boot_id": self.boot_id or None,
            "pes": self.numbers,
            "reader": self.reader.pe if self.reader else None,
            "meter": self.meter["name"] or None,
            "joules": [self.joules(d).as_dict() for d in self.domains],
            "idle": [self.idle(d).as_dict() for d in self.domains],
            "nested": [figure.as_dict() for figure in self.nested],
            "others": [found.as_dict() for d in self.domains if (found := self.others(d)) is not None],
            "interfaces": msgspec.to_builtins(self.interfaces) if self.interfaces else None,
        }


def group(pes: Iterable[PE]) -> list[Node]:
    """The nodes in the order of their first PEs. Two machines with the same host name are two nodes."""
    found: dict[tuple[str, str], list[PE]] = {}
    for pe in pes:
        found.setdefault((pe.host, pe.boot_id), []).append(pe)
    return [Node(host, boot_id, members) for (host, boot_id), members in found.items()]


def on_one_machine(nodes: Sequence[Node]) -> list[Node]:
    """The nodes that share a machine with another node, as network namespaces and containers do."""
    machines = Counter(node.boot_id for node in nodes if node.boot_id)
    return [node for node in nodes if machines[node.boot_id] > 1]


def counted_twice(nodes: Sequence[Node]) -> bool:
    """Whether two readers read the same sensor, so that a sum over nodes would count its joules twice. Modelled joules
    add up correctly, because the model takes each node for a machine.
    """
    shared = [*on_one_machine(nodes), *(node for node in nodes if len(node.readers) > 1)]
    figures = (j for node in shared for pe in node.pes if pe.node for j in pe.node.joules)
    return any(j.provenance is Provenance.MEASURED for j in figures)
