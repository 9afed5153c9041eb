"""Barriers between exchanges with a few neighbours: a signal from each neighbour is enough."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Spot
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "neighbours"
FEWEST_PES = 4
MOST_PARTNERS = 6  # a PE of a three-dimensional grid has so many neighbours
FEW = 2 / 3  # of the other PEs
FEWEST_CALLS = 32
ALWAYS = 0.8  # of the barriers at which one PE is late: the others wait for it, through their neighbours, in any case
SAVED = Interval(0.0, 0.9)  # of the barriers. Lateness may travel from neighbour to neighbour; signals take time, too

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
WHEN = (
    "The barriers' time in this run. A PE may overwrite what a neighbour still reads, so use two buffers alternately. "
    "No PE may need those that are no neighbours."
)


def find(evidence: Evidence) -> Iterator[Finding]:
    most = _most_partners(evidence)
    if most is None:
        return
    for barrier in evidence.spots:
        if not calls.BARRIER.match(barrier.call) or not _is_between_exchanges(evidence, barrier):
            continue
        late = barrier.late
        if late is not None and late.share >= ALWAYS:
            continue
        yield _finding(evidence, barrier, most)


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
    return all(pe.partners and sum(pe.partners.calls) >= barrier.of[pe.pe].calls for pe in evidence.profile.pes)


def _finding(evidence: Evidence, barrier: Spot, most: int) -> Finding:
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
    advice = Advice(title, seen, change, WHEN, Effort.LINES, Sure.LOW)
    return Finding(NAME, [barrier], advice, saved_by(evidence, [Part(barrier, SAVED)]))
