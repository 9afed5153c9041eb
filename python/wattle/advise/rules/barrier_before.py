"""A barrier right before a collective operation of MPI that waits for all ranks itself."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence
from wattle.advise.finding import Advice, Effort, Finding, Sure, saved_of_calls
from wattle.advise.language import Snippet
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "barrier-before"
SHARE = 0.9
FEWEST_CALLS = 16

CHANGE = Snippet(
    c="/* remove MPI_Barrier(comm): no rank leaves the next call before all have entered it */",
    cxx="// remove MPI_Barrier(comm): no rank leaves the next call before all have entered it",
    fortran="! remove MPI_Barrier(comm, ierr): no rank leaves the next call before all have entered it",
)


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        barrier, meeting = link.origin, link.to
        if barrier.call != "MPI_Barrier" or not calls.MEETING.match(meeting.call):
            continue
        if barrier.most_calls < FEWEST_CALLS or evidence.share_out(link) < SHARE:
            continue
        price = evidence.price(barrier)
        if price is None:
            continue
        title = f"{count(barrier.calls)} barriers, each right before {meeting.call}: leave them out"
        seen = [
            f"{barrier.words}: {count(barrier.calls)} calls",
            f"{meeting.words}: the next call after {of_all(evidence.share_out(link))} of the noted barriers",
        ]
        rests = "The time of a barrier once all ranks have come to it. The lateness of ranks stays, in the next call."
        advice = Advice(title, seen, CHANGE.at(barrier.place), rests, Effort.LINE, Sure.HIGH)
        yield Finding(NAME, [barrier, meeting], advice, saved_of_calls(evidence, barrier, price))
