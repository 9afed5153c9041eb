"""Messages of MPI of one size to one rank after the other, from one rank: a collective call sends them along a tree."""

from __future__ import annotations

import math
from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Spot
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count, size
from wattle.text.units import share as of_all

NAME = "send-loop"
SHARE = 0.7  # of the noted sends that follow one of the same line, to another rank
FEWEST_RANKS = 4
FEWEST_ROUNDS = 16
REACHED = 0.9  # of the other ranks, to which the sender sends

CHANGE = Snippet(
    c="MPI_Bcast(data, count, type, root, comm);  /* all ranks; MPI_Scatter if each gets its own part */",
    cxx="MPI_Bcast(data.data(), count, type, root, comm);  // all ranks; MPI_Scatter if each gets its own part",
    fortran="call MPI_Bcast(data, count, type, root, comm, ierr)  ! all ranks; MPI_Scatter if each gets its own part",
)


def find(evidence: Evidence) -> Iterator[Finding]:
    n = evidence.profile.n_pes
    if n < FEWEST_RANKS or evidence.is_crowded:  # a collective call needs all ranks at a time
        return
    for link in evidence.links:
        send = link.to
        if link.origin is not send or not calls.SEND.match(send.call) or len(send.of) != 1:
            continue
        other = evidence.share_in(link) * (1 - link.share("same_pe"))
        if other < SHARE or send.most_calls < FEWEST_ROUNDS * (n - 1) or not _reaches_all(evidence, send):
            continue
        levels = math.ceil(math.log2(n))
        title = (
            f"{count(send.calls)} messages of {size(send.mean_bytes)} to one rank after the other: one collective call"
        )
        rounds, (rank,) = count(send.calls / (n - 1)), send.of
        seen = [
            f"{send.words}: {count(send.calls)} calls by rank {rank}, about {rounds} rounds",
            f"{of_all(other)} of the noted ones went to another rank than the last",
        ]
        rests = f"The price of a send in this run, and {levels} levels of a tree instead of {n - 1} sends."
        advice = Advice(title, seen, CHANGE.at(send.place), rests, Effort.LINES, Sure.MEDIUM)
        # The receivers must be in the call, too, which may wait.
        yield Finding(NAME, [send], advice, saved_by(evidence, [Part(send, Interval(0.0, 1 - levels / (n - 1)))]))


def _reaches_all(evidence: Evidence, send: Spot) -> bool:
    """Whether its rank has nearly all others as partners."""
    (sender,) = (pe for pe in evidence.profile.pes if pe.pe in send.of)
    found = sum(1 for n in sender.partners.calls if n > 0) if sender.partners else 0
    return found >= REACHED * (evidence.profile.n_pes - 1)
