"""Small messages of MPI to the same rank, one after the other: one message carries them."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Link, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count, size
from wattle.text.units import share as of_all

NAME = "small-sends"
SHARE = 0.7
FEWEST_CALLS = 32
LARGEST = 1024  # bytes of a message
# The most time between two of them: a sender that computes between its messages has a receiver that waits for each.
# Merged, the messages of a wavefront all come when the last one does.
GAP = 0.5  # of the send's time without waiting
GAP_S = 5e-7
SAVED = Interval(0.55, 1.1)  # of the sends and of the receives that go away, with their entries
RECEIVES = ("MPI_Recv", "MPI_Irecv")

CHANGE = Snippet(
    c="MPI_Send(all, n * count, type, dest, tag, comm);  /* once: the loop fills all[] */",
    cxx="MPI_Send(all.data(), n * count, type, dest, tag, comm);  // once: the loop fills all",
    fortran="call MPI_Send(all, n * count, type, dest, tag, comm, ierr)  ! once: the loop fills all",
)


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        send = link.to
        if link.origin is not send or not calls.SEND.match(send.call) or send.most_calls < FEWEST_CALLS:
            continue
        share = evidence.share_in(link) * link.share("same_pe")
        if share < SHARE or send.mean_bytes > LARGEST or not _is_close(link):
            continue
        receives = [spot for spot in evidence.spots if _receives_in_a_row(evidence, spot)]
        title = f"{count(send.calls)} messages of {size(send.mean_bytes)} to the same rank in a row: send them together"
        seen = [
            f"{send.words}: {count(send.calls)} calls, {of_all(share)} of the noted ones after one to that rank",
            *(f"{spot.words}: {count(spot.calls)} calls in a row" for spot in receives),
        ]
        rests = "The price of a message in this run, at both ends. The sender computes nothing between two of them."
        advice = Advice(title, seen, CHANGE.at(send.place), rests, Effort.LINES, Sure.HIGH)
        parts = [Part(spot, SAVED.scaled(share)) for spot in (send, *receives)]
        yield Finding(NAME, [send, *receives], advice, saved_by(evidence, parts))


def _is_close(link: Link) -> bool:
    own = sum(one.most_s - one.wait_s for one in link.to.of.values()) / max(1, link.to.calls)
    return link.gap_s is not None and link.gap_s <= max(GAP * own, GAP_S)


def _receives_in_a_row(evidence: Evidence, spot: Spot) -> bool:
    link = evidence.link(spot, spot)
    return spot.call in RECEIVES and link is not None and evidence.share_in(link) >= SHARE
