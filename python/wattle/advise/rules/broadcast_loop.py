"""The same bytes put to one PE after the other: a broadcast sends them along a tree."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "broadcast-loop"
SHARE = 0.8
OTHER_PES = 0.7  # of the noted puts that go to another PE than the last
FEWEST_PES = 4

CHANGE = "shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, root);  /* all PEs call it */"
CHANGE_ARMCI = "armci_msg_bcast(buffer, bytes, root);  /* all processes call it */"


def find(evidence: Evidence) -> Iterator[Finding]:
    n = evidence.profile.n_pes
    if evidence.is_crowded:  # a broadcast needs all PEs at a time: 4 PEs on 2 cores took 2.7 times as long
        return
    for link in evidence.links:
        put = link.to
        if link.origin is not put or not calls.PUT.match(put.call) or n < FEWEST_PES:
            continue
        if 1 - link.share("same_pe") < OTHER_PES or min(link.share("same_there"), link.share("same_here")) < SHARE:
            continue
        # At best all receivers copy at once, instead of n - 1 puts. They must also be in the call, which may wait.
        most = 1 - 1 / (n - 1)
        rounds = put.most_calls / max(1, n - 1)
        title = f"{count(put.calls)} puts send the same bytes to one PE after the other: broadcast them"
        seen = [
            f"{put.words}: {count(put.calls)} calls of {put.mean_bytes:.0f} bytes from {len(put.of)} of {n} PEs, "
            f"about {count(rounds)} rounds",
            f"{of_all(1 - link.share('same_pe'))} of the noted calls go to another PE than the last, "
            f"{of_all(link.share('same_there'))} to the same address",
        ]
        change = CHANGE_ARMCI if calls.api_of(put.call) == "armci" else CHANGE
        rests = f"The price of a put in this run, and one at a time instead of {n - 1}. All PEs must be in the call."
        advice = Advice(title, seen, change, rests, Effort.LINES, Sure.LOW)
        yield Finding(NAME, [put], advice, saved_by(evidence, [Part(put, Interval(0.0, most))]))
