"""Blocking sends of MPI that wait for their receivers: a send that does not block computes meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wattle.advise.evidence import Evidence, Interval, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_of_pes
from wattle.advise.language import Snippet
from wattle.text.units import count, seconds, size

NAME = "late-receiver"
CALLS = ("MPI_Send", "MPI_Ssend")
SMALLEST = 1024  # bytes of a message: smaller ones are sent at once by all MPIs, and wait for space
FEWEST_CALLS = 16
FEWEST_NOTED = 8  # calls after these sends
COMPUTES_S = 1e-5  # from the end of a send to the next call, from which on its rank computes there
WAITING = 0.5  # of the sends' time
# While the bytes move, the receiver waits, too. So the waits in these calls are no lateness of receivers.
RECEIVES = re.compile(r"MPI_(?:M?[Rr]ecv|Sendrecv\w*|Wait\w*)$")
# Of what can be saved: in each call the wait, or the computing after it, if that is less. And in all no more than the
# rank that waits least waits: it sets the pace.
SAVED = Interval(0.5, 1.0)

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
    "The waits of these sends, the computing after them, and that no rank computes all the time. A message above the "
    "eager limit of the MPI waits for its receive. For messages of up to some 100 KiB a higher limit may do the same "
    "without a change of the program: docs/advise.md."
)


def sends(evidence: Evidence) -> list[Spot]:
    """Sends that wait, the longest first."""
    return sorted((spot for spot in evidence.spots if _waits(spot)), key=lambda spot: -_seconds(spot, "wait_s"))


def find(evidence: Evidence) -> Iterator[Finding]:
    if evidence.is_starved:  # then the machine makes receivers late
        return
    found = [spot for spot in sends(evidence) if _overlap_s(evidence, spot) > 0]
    pace_s = min(evidence.waited_s(pe) for pe in evidence.profile.pes)
    if not found or pace_s <= 0:
        return
    waited_s = sum(_seconds(spot, "wait_s") for spot in found)
    moved_s = sum(_seconds(spot, "wait_s") for spot in evidence.spots if RECEIVES.match(spot.call))
    late = 1 - moved_s / waited_s
    if late < WAITING:
        return
    saved_s = min(late * sum(_overlap_s(evidence, spot) for spot in found), pace_s)
    calls = sum(spot.calls for spot in found)
    title = f"{count(calls)} blocking sends of {size(found[0].mean_bytes)} wait for their receivers: begin them earlier"
    seen = [
        f"{spot.words}: {count(spot.calls)} calls of {size(spot.mean_bytes)}, "
        f"{seconds(_seconds(spot, 'wait_s'))} of {seconds(_seconds(spot, 'most_s'))} waited"
        for spot in found
    ]
    seen += [
        f"the senders compute for {seconds(saved_s)} right after them; each rank waits for {seconds(pace_s)} in all"
    ]
    of_pe = {pe.pe: SAVED.scaled(saved_s) for pe in evidence.profile.pes}
    whole = sum(_seconds(spot, "most_s") for spot in found)
    parts = [Part(spot, SAVED.scaled(min(1.0, saved_s / whole))) for spot in found]
    advice = Advice(title, seen, CHANGE.at(found[0].place), RESTS, Effort.LINES, Sure.MEDIUM)
    yield Finding(NAME, found, advice, saved_of_pes(evidence, of_pe, parts))


def _overlap_s(evidence: Evidence, send: Spot) -> float:
    """The seconds of its waits, in the rank with most of them, that computing right after them can fill."""
    out = evidence.out[id(send)]
    times = sum(link.times for link in out)
    if times < FEWEST_NOTED:
        return 0.0
    gaps = [(link.gap_s or 0.0) * link.times for link in out]
    if sum(gaps) < COMPUTES_S * times:  # another call follows at once
        return 0.0
    mean = _seconds(send, "most_s") / send.calls
    after = max(0.0, sum(link.time_s for link in out) / times - mean)
    return max(one.calls * min(one.wait_s / one.calls, after) for one in send.of.values() if one.calls)


def _waits(spot: Spot) -> bool:
    if spot.call not in CALLS or spot.mean_bytes < SMALLEST or spot.most_calls < FEWEST_CALLS:
        return False
    return _seconds(spot, "wait_s") >= WAITING * _seconds(spot, "most_s") > 0


def _seconds(spot: Spot, name: str) -> float:
    return float(sum(getattr(one, name) for one in spot.of.values()))
