"""Barriers between exchanges with a few neighbours: a signal from each neighbour is enough."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Spot
from wattle.advise.finding import Advice, Effort, Finding, Sure, saved_of_calls
from wattle.advise.language import Snippet
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "neighbours"
FEWEST_PES = 4
MOST_PARTNERS = 6  # a PE of a three-dimensional grid has so many neighbours
FEW = 2 / 3  # of the other PEs
FEWEST_CALLS = 32
ALWAYS = 0.8  # of the barriers at which one PE is late: the others wait for it, through their neighbours, in any case
BESIDE = 0.9  # of the calls beside the barrier, that are exchanges
# Of a barrier's price: waits for neighbours take time, too. Of MPI nothing takes its place.
SAVED, SAVED_MPI = 0.8, 1.0

CHANGES = {
    "shmem": """\
shmem_putmem_signal(dest, source, bytes, &arrived[side], 1, SHMEM_SIGNAL_ADD, neighbour);  /* instead of the put */
shmem_signal_wait_until(&arrived[side], SHMEM_CMP_GE, round);  /* instead of the barrier, for each neighbour */""",
    "armci": """\
armci_notify(neighbour);               /* after the puts to it */
armci_notify_wait(neighbour, &times);  /* instead of the barrier, for each neighbour */""",
}
CHANGE_MPI = Snippet(
    c="/* remove MPI_Barrier(comm): each receive waits for its sender */",
    cxx="// remove MPI_Barrier(comm): each receive waits for its sender",
    fortran="! remove MPI_Barrier(comm, ierr): each receive waits for its sender",
)
WHEN_MPI = "The time of a barrier once all ranks have come to it. Each receive names its sender, and waits for it."
WHEN = (
    "The time of a barrier once all PEs have come to it. A PE may overwrite what a neighbour still reads, so use two "
    "buffers alternately. No PE may need those that are no neighbours."
)


def find(evidence: Evidence) -> Iterator[Finding]:
    most = _most_partners(evidence)
    if most is None:
        return
    for barrier in evidence.spots:
        if not calls.BARRIER.match(barrier.call) or not _is_between_exchanges(evidence, barrier):
            continue
        late, price = barrier.late, evidence.price(barrier)
        if price is None or (late is not None and late.share >= ALWAYS):
            continue
        yield _finding(evidence, barrier, most, price)


def _most_partners(evidence: Evidence) -> int | None:
    """The most partners of a PE. None where they are not few, or not known."""
    n, found = evidence.profile.n_pes, []
    for pe in evidence.profile.pes:
        if pe.partners is None:
            return None
        found.append(sum(n > 0 and other != pe.pe for other, n in zip(pe.partners.pe, pe.partners.calls, strict=True)))
    most = max(found, default=0)
    return most if n >= FEWEST_PES and 0 < most <= min(MOST_PARTNERS, FEW * (n - 1)) and min(found) > 0 else None


def _is_between_exchanges(evidence: Evidence, barrier: Spot) -> bool:
    """Whether each PE called it, and its partners at least as often."""
    if len(barrier.of) < evidence.profile.n_pes or barrier.most_calls < FEWEST_CALLS:
        return False
    if not all(pe.partners and sum(pe.partners.calls) >= barrier.of[pe.pe].calls for pe in evidence.profile.pes):
        return False
    return calls.api_of(barrier.call) != "mpi" or _orders_only_messages(evidence, barrier)


def _orders_only_messages(evidence: Evidence, barrier: Spot) -> bool:
    """Whether nothing but messages is beside the barrier, whose receives name their senders. A barrier may order files,
    windows and messages to receives from any source.
    """
    into, out = evidence.into[id(barrier)], evidence.out[id(barrier)]
    messages = [link for link in into if calls.MESSAGE.match(link.origin.call)]
    messages += [link for link in out if calls.MESSAGE.match(link.to.call)]
    whole = sum(link.times for link in (*into, *out))
    if whole < FEWEST_CALLS or sum(link.times for link in messages) < BESIDE * whole:
        return False
    others = any(calls.ORDERED.match(spot.call) for spot in evidence.spots)
    return not others and not any(link.counts["any_source"] for link in evidence.links)


def _finding(evidence: Evidence, barrier: Spot, most: int, price: Interval) -> Finding:
    noun, late = evidence.profile.noun, barrier.late
    title = f"{count(barrier.calls)} barriers of {noun}s that exchange with {most} others at most: wait for these alone"
    seen = [
        f"{barrier.words}: {count(barrier.calls)} calls",
        f"{noun}s put to, get from or send to {most} of {evidence.profile.n_pes - 1} others at most",
        *(
            [f"no {noun} is always late: {noun} {late.pe} most often, at {of_all(late.share)} of its calls"]
            if late
            else []
        ),
    ]
    api = calls.api_of(barrier.call)
    change = CHANGE_MPI.at(barrier.place) if api == "mpi" else CHANGES[api]
    advice = Advice(title, seen, change, WHEN_MPI if api == "mpi" else WHEN, Effort.LINES, Sure.MEDIUM)
    a_call = price.scaled(SAVED_MPI if api == "mpi" else SAVED)
    return Finding(NAME, [barrier], advice, saved_of_calls(evidence, barrier, a_call))
