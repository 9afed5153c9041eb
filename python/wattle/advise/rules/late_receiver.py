"""Blocking sends of MPI that wait for their receivers: a send that does not block computes meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wattle.advise.evidence import Evidence, Spot
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count, seconds, size

NAME = "late-receiver"
CALLS = ("MPI_Send", "MPI_Ssend")
SMALLEST = 1024  # bytes of a message: smaller ones are sent at once by all MPIs, and wait for space
FEWEST_CALLS = 16
WAITING = 0.5  # of the sends' time
# While the bytes move, the receiver waits, too. So the waits in these calls are no lateness of receivers.
RECEIVES = re.compile(r"MPI_(?:M?[Rr]ecv|Sendrecv\w*|Wait\w*)$")
# Of the waits. A receiver that is late because it sets the pace of all saves nothing.
SAVED = Interval(0.0, 1.0)

CHANGE = Snippet(
    c="""\
MPI_Isend(data, count, type, dest, tag, comm, &request);  /* and compute */
MPI_Wait(&request, MPI_STATUS_IGNORE);                    /* before data changes */""",
    cxx="""\
MPI_Isend(data.data(), count, type, dest, tag, comm, &request);  // and compute
MPI_Wait(&request, MPI_STATUS_IGNORE);                           // before data changes""",
    fortran="""\
call MPI_Isend(data, count, type, dest, tag, comm, request, ierr)  ! and compute
call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)                    ! before data changes""",
)
RESTS = (
    "The waits of these sends. A message above the eager limit of the MPI waits for its receive. For messages of up to "
    "some 100 KiB a higher limit may do the same without a change of the program: docs/advise.md."
)


def find(evidence: Evidence) -> Iterator[Finding]:
    found = [spot for spot in evidence.spots if _waits(spot)]
    if not found:
        return
    found.sort(key=lambda spot: -_seconds(spot, "wait_s"))
    waited_s = sum(_seconds(spot, "wait_s") for spot in found)
    moved_s = sum(_seconds(spot, "wait_s") for spot in evidence.spots if RECEIVES.match(spot.call))
    late = 1 - moved_s / waited_s
    if late < WAITING:
        return
    sends = sum(spot.calls for spot in found)
    title = f"{count(sends)} blocking sends of {size(found[0].mean_bytes)} wait for their receivers: begin them earlier"
    seen = [
        f"{spot.words}: {count(spot.calls)} calls of {size(spot.mean_bytes)}, "
        f"{seconds(_seconds(spot, 'wait_s'))} of {seconds(_seconds(spot, 'most_s'))} waited"
        for spot in found
    ]
    seen.append(
        f"waits in receives: {seconds(moved_s)}, so the sends waited for late receivers, and not for their bytes"
    )
    parts = [Part(spot, SAVED.scaled(late * _seconds(spot, "wait_s") / _seconds(spot, "most_s"))) for spot in found]
    advice = Advice(title, seen, CHANGE.at(found[0].place), RESTS, Effort.LINES, Sure.LOW)
    yield Finding(NAME, found, advice, saved_by(evidence, parts))


def _waits(spot: Spot) -> bool:
    if spot.call not in CALLS or spot.mean_bytes < SMALLEST or spot.most_calls < FEWEST_CALLS:
        return False
    return _seconds(spot, "wait_s") >= WAITING * _seconds(spot, "most_s") > 0


def _seconds(spot: Spot, name: str) -> float:
    return float(sum(getattr(one, name) for one in spot.of.values()))
