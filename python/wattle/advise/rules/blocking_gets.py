"""Blocking gets and fetching atomic operations one after the other, each of which waits for its answer: start them
all, then wait once.
"""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.text.units import count, seconds
from wattle.text.units import share as of_all

NAME = "blocking-gets"  # to other nodes: nothing overlaps a copy within the node
SHARE = 0.8
FEWEST_CALLS = 32
LARGEST = 65536
SAVED = Interval(0.5, 1.0)

CHANGES = {
    "shmem": "for (...) shmem_get_nbi(&dest[i], source, n, pe);\nshmem_quiet();  /* then use dest[] */",
    "fetch": """\
for (...) shmem_long_atomic_fetch_add_nbi(&old[i], counter, amount, pe);
shmem_quiet();  /* then use old[]; shmem_long_atomic_add, if it is not used */""",
    "armci": "for (...) ARMCI_NbGet(source, &dest[i], bytes, proc, NULL);\nARMCI_WaitAll();  /* then use dest[] */",
}


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        get = link.to
        is_fetch = bool(calls.FETCH.match(get.call))
        if link.origin is not get or not (is_fetch or calls.GET.match(get.call)) or not calls.blocks(get.call):
            continue
        share = evidence.share_in(link)
        if not get.is_far or get.mean_bytes > LARGEST or get.most_calls < FEWEST_CALLS or share < SHARE:
            continue
        what = "fetching atomic operations" if is_fetch else "blocking gets"
        title = f"{count(get.calls)} {what} in a row, {seconds(get.mean_s)} each: start them together"
        seen = [
            f"{get.words}: {count(get.calls)} calls of {get.mean_bytes:.0f} bytes, {of_all(share)} right after another"
        ]
        rests = "The time of a get in this run. A get must not need the value of the one before."
        advice = Advice(
            title, seen, CHANGES["fetch" if is_fetch else calls.api_of(get.call)], rests, Effort.LINES, Sure.MEDIUM
        )
        yield Finding(NAME, [get], advice, saved_by(evidence, [Part(get, SAVED.scaled(share))]))
