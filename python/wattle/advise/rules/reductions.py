"""Small reductions right after each other: one reduction of a longer vector."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Link, Spot
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count, size
from wattle.text.units import share as of_all

NAME = "reductions"
SHARE = 0.8
FEWEST_CALLS = 16
LARGEST = 1024
# The most time between the two: more computing may need the first result. The library itself takes 0.2 to 0.4 us
# between two noted calls, as long as a reduction within a node.
GAP = 0.5  # of the reduction's time
GAP_S = 1e-6
# One of the two goes away: at least a part of the second one, whose ranks have met already, at most the longer of the
# two. Which of them has the waits for a rank that is late by chance is chance, too.
LEAST_SAVED, MOST_SAVED = 0.4, 1.0

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
        if _fits(evidence, link) and not is_second_half:
            yield _finding(evidence, link)


def _fits(evidence: Evidence, link: Link) -> bool:
    first, second = link.origin, link.to
    return (
        bool(calls.ALLREDUCE.search(first.call))
        and second.call == first.call
        and first is not second
        and max(first.mean_bytes, second.mean_bytes) <= LARGEST
        and second.most_calls >= FEWEST_CALLS
        and evidence.share_out(link) >= SHARE
        and _is_close(evidence, link)
    )


def _finding(evidence: Evidence, link: Link) -> Finding:
    first, second = link.origin, link.to
    title = f"{count(second.calls)} pairs of small reductions right after each other: reduce both at once"
    seen = [
        f"{first.words}: {count(first.calls)} calls of {size(first.mean_bytes)}",
        f"{second.words}: the next call after {of_all(evidence.share_out(link))} of the noted ones",
    ]
    change = CHANGE.at(second.place) if calls.api_of(first.call) == "mpi" else CHANGE_SHMEM
    rests = "The time of the second reduction in this run. It must not need the first one's result."
    advice = Advice(title, seen, change, rests, Effort.LINES, Sure.MEDIUM)
    return Finding(NAME, [first, second], advice, saved_by(evidence, [Part(second, _saved(first, second))]))


def _saved(first: Spot, second: Spot) -> Interval:
    longest = [max((one.most_s for one in spot.of.values()), default=0.0) for spot in (first, second)]
    return Interval(LEAST_SAVED, MOST_SAVED * max(longest) / longest[1] if longest[1] else MOST_SAVED)


def _is_close(evidence: Evidence, link: Link) -> bool:
    """Whether little time passes between the end of the first and the beginning of the second. It is at most the time
    between their beginnings less that of a call, and at most the whole computing time by calls.
    """
    own = link.origin.mean_s
    between = link.time_s / max(1, link.times) - own
    computing = [pe.time_s["compute"] or 0.0 for pe in evidence.profile.pes]
    return min(between, max(computing) / max(1, link.to.most_calls)) <= max(GAP * own, GAP_S)
