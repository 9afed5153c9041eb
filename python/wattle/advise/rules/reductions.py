"""Small reductions right after each other: one reduction of a longer vector."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Link
from wattle.advise.finding import Advice, Effort, Finding, Sure, saved_of_calls
from wattle.advise.language import Snippet
from wattle.text.units import count, size
from wattle.text.units import share as of_all

NAME = "reductions"
SHARE = 0.8
FEWEST_CALLS = 16
LARGEST = 1024
# Of the noted second ones: those of the first's type, operation and processes, and those of which the changed input was
# there when the first one began. One that needs the first's result has its input only later.
ALIKE = 0.95
FEWEST_INPUTS = 8

CHANGE = Snippet(
    c="MPI_Allreduce(MPI_IN_PLACE, both, 2 * count, type, op, comm);  /* both values in one vector */",
    cxx="MPI_Allreduce(MPI_IN_PLACE, both.data(), 2 * count, type, op, comm);  // both values in one vector",
    fortran="call MPI_Allreduce(MPI_IN_PLACE, both, 2 * count, type, op, comm, ierr)  ! both values in one array",
)
CHANGE_SHMEM = "shmem_double_sum_reduce(SHMEM_TEAM_WORLD, both, mine, 2 * n);  /* both values in one vector */"


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        back = evidence.link(link.to, link.origin)
        is_second_half = back is not None and _fits(evidence, back) and link.origin.place.line > link.to.place.line
        price = evidence.price(link.to)
        if _fits(evidence, link) and not is_second_half and price is not None:
            yield _finding(evidence, link, price)


def _fits(evidence: Evidence, link: Link) -> bool:
    first, second = link.origin, link.to
    return (
        bool(calls.ALLREDUCE.search(first.call))
        and second.call == first.call
        and first is not second
        and max(first.mean_bytes, second.mean_bytes) <= LARGEST
        and second.most_calls >= FEWEST_CALLS
        and evidence.share_out(link) >= SHARE
        and link.counts["alike"] >= ALIKE * link.times
        and link.counts["ready"] >= ALIKE * link.counts["inputs"]
        and link.counts["inputs"] >= FEWEST_INPUTS
    )


def _finding(evidence: Evidence, link: Link, price: Interval) -> Finding:
    first, second = link.origin, link.to
    title = f"{count(second.calls)} pairs of small reductions right after each other: reduce both at once"
    seen = [
        f"{first.words}: {count(first.calls)} calls of {size(first.mean_bytes)}",
        f"{second.words}: the next call after {of_all(evidence.share_out(link))} of the noted ones, of the same type "
        f"and operation; its input was there before {link.counts['ready']} of {link.counts['inputs']} first ones",
    ]
    change = CHANGE.at(second.place) if calls.api_of(first.call) == "mpi" else CHANGE_SHMEM
    rests = "The time of the second reduction in this run, once all have come to it."
    advice = Advice(title, seen, change, rests, Effort.LINES, Sure.HIGH)
    return Finding(NAME, [first, second], advice, saved_of_calls(evidence, second, price))
