"""Waiting by its kind: for a late sender or receiver, at collective calls, for requests and others.

The kind follows from the routine that waits. A receive waits for its sender, and for the transfer after it. So the
seconds are upper bounds of the lateness. A wait for requests (MPI_Wait) may be for senders or receivers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wattle.base.documents import fields
from wattle.figures import call_paths, waited
from wattle.figures.sites import MergedSite
from wattle.figures.waited import Late
from wattle.machine.symbols import Place
from wattle.record.pe import add

# (kind, meaning, pattern of the routine); the first that fits
KINDS = (
    ("barrier", "for all processes, at a barrier", r"[Bb]arrier|shmem_(team_)?sync|shmem_ctx_sync|AllFence|msg_sync"),
    (
        "all to all",
        "for all processes, at a collective call in which each needs data of all",
        r"[Aa]ll(to|gather|reduce)|Reduce_scatter|shmem_\w*(reduce|to_all|collect|alltoall)|\w*(gop|GOP)|[sS]can$|scan\b",
    ),
    ("one to all", "for the root of a collective call", r"[Bb](road)?cast|Scatter"),
    ("all to one", "at the root of a collective call, for the others", r"MPI_(Reduce|Gather)|armci_msg_\w*reduce"),
    (
        "late sender",
        "in a receive, for data that another process sends or stores",
        r"MPI_(I?M?[Rr]ecv|M?[Pp]robe)|_rcv|shmem_\w*(wait_until|signal_wait|_test)|notify_wait",
    ),
    ("exchange", "in a send and receive in one, and in exchanges with neighbours", r"Sendrecv|Neighbor"),
    ("late receiver", "in a send, for the receiver", r"MPI_[SRB]?send|MPI_Send|Buffer_detach|_snd"),
    ("requests", "for operations that had begun before", r"MPI_(Wait|Test)|ARMCI_Wait"),
    (
        "memory of others",
        "for puts, gets and atomic operations on other processes' memory",
        r"quiet|fence|Fence|shmem_|ARMCI_|MPI_(Win|R?Put|R?Get|R?Acc|Fetch|Compare)",
    ),
    ("files", "for files", r"MPI_File"),
)
COLLECTIVE = ("barrier", "all to all", "one to all", "all to one")
OTHER = ("other", "in other calls")


@dataclass(frozen=True)
class Waiting:
    """Waiting of one kind, of all processes together, in s."""

    kind: str
    meaning: str
    seconds: float

    def as_dict(self) -> dict[str, object]:
        return fields(self, "kind seconds")


@dataclass(frozen=True)
class Imbalance:
    """The waits in a collective call at the nearest frame in the program: the mean, least and longest sum of a process,
    in s. `uneven_s`: how much longer the processes waited than the one that waited least, added up. It comes from
    arriving at different times. `late`: the process that was late most often; None where it is not known.
    """

    place: Place
    call: str
    mean_s: float
    least_s: float
    most_s: float
    uneven_s: float
    late: Late | None = None

    def as_dict(self) -> dict[str, object]:
        late = fields(self.late, "pe share others") if self.late else None
        return {**self.place.as_dict(), **fields(self, "call mean_s least_s most_s uneven_s"), "late": late}


def kind_of(call: str) -> tuple[str, str]:
    """The kind of waits in a routine, and its meaning."""
    return next(((kind, meaning) for kind, meaning, pattern in KINDS if re.search(pattern, call)), OTHER)


def by_kind(sites: Sequence[MergedSite]) -> list[Waiting]:
    """The waiting of a run by kind, the longest first."""
    sums: dict[tuple[str, str], float] = {}
    for site in sites:
        if waited := site.waiting_s:
            key = kind_of(site.call)
            sums[key] = sums.get(key, 0.0) + waited
    return sorted((Waiting(*key, s) for key, s in sums.items()), key=lambda found: -found.seconds)


def imbalances(sites: Sequence[MergedSite], n: int, program: str) -> list[Imbalance]:
    """The imbalance at the collective sites that all `n` processes of `program` reached, the largest first."""
    found = []
    for row in call_paths.rows(sites, program, depth=0):  # processes may reach a call by different paths
        site = row.site
        waits = list(site.waits_of.values())
        if len(waits) != n or n < 2 or kind_of(site.call)[0] not in COLLECTIVE:
            continue
        whole, least = add(waits), min(waits)
        if whole:
            lengths = site.lengths_of
            late = waited.late(lengths) if len(lengths) == n else None
            found.append(Imbalance(row.place, site.call, whole / n, least, max(waits), whole - n * least, late))
    return sorted(found, key=lambda one: -one.uneven_s)
