"""A barrier right before a collective operation of MPI that waits for all ranks itself."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "barrier-before"
SHARE = 0.9
FEWEST_CALLS = 16
ALIKE = 0.25  # the least time of a rank in the barriers over the largest: the lateness is by chance

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
        times = [one.most_s for one in barrier.of.values()]
        own = min(times) / max(times) if max(times) else 0.0
        # The rank that waits least has the barrier's own price. Where all wait about as long, no rank is always late,
        # and they wait for each other once instead of twice.
        most = 1.0 if own >= ALIKE else own
        title = f"{count(barrier.calls)} barriers, each right before {meeting.call}: leave them out"
        seen = [
            f"{barrier.words}: {count(barrier.calls)} calls",
            f"{meeting.words}: the next call after {of_all(evidence.share_out(link))} of the noted barriers",
        ]
        rests = "The barrier's time in this run. The next call may take it over."
        advice = Advice(title, seen, CHANGE.at(barrier.place), rests, Effort.LINE, Sure.LOW)
        parts = [Part(barrier, Interval(0.0, most))]
        yield Finding(NAME, [barrier, meeting], advice, saved_by(evidence, parts))
