"""A get, a change here and a put back to the same place: an atomic operation, an accumulate or an active message does
it there. So does a fetch with a compare-and-swap, in a loop until it succeeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "get-put"
SHARE = 0.8  # of the noted calls that must fit
WORD = 8  # bytes of an atomic operation of OpenSHMEM
# The get and its wait are saved. The atomic operation replaces the put and may cost more than it.
SAVED = Interval(0.5, 1.0)
SAVED_PUT = Interval(0.3, 0.9)  # of a put to another node: the call that replaces it travels with others

CHANGES = {
    "shmem": "shmem_long_atomic_add(counter, amount, pe);  /* instead of shmem_long_g and shmem_long_p */",
    "words": """\
shmemx_am_request(pe, CHANGE, &change, sizeof change);  /* instead of both; the handler of CHANGE changes it there */
shmemx_am_quiet();                                      /* once, before the values are needed */""",
    "armci": "ARMCI_Acc(ARMCI_ACC_DBL, &one, amounts, there, bytes, proc);  /* instead of ARMCI_Get and ARMCI_Put */",
}


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        get, put = link.origin, link.to
        way = _way(get, put)
        if way is None:
            continue
        if link.share("same_pe") < SHARE or link.share("same_there") < SHARE or evidence.share_out(link) < SHARE:
            continue
        title = f"{count(get.calls)} gets, each followed by a put to the same place: change the value there"
        seen = [
            f"{get.words}: {count(get.calls)} calls of {get.mean_bytes:.0f} bytes",
            f"{put.words}: follows, {of_all(link.share('same_there'))} of the noted calls to the same PE and address",
        ]
        rests = "The price of the get in this run. The call must have the operation by which the value changes."
        effort = Effort.LINES if way == "words" else Effort.LINE
        advice = Advice(title, seen, CHANGES[way], rests, effort, Sure.HIGH)
        parts = [Part(get, SAVED), *([Part(put, SAVED_PUT)] if get.is_far else [])]
        yield Finding(NAME, [get, put], advice, saved_by(evidence, parts))


def _way(get: Spot, put: Spot) -> str | None:
    """The change that replaces the two calls; None where it would not be quicker, or they are no such calls."""
    fetches = calls.FETCH.match(get.call) and calls.SWAP_IF.match(put.call)
    if not fetches and not (calls.GET.match(get.call) and calls.PUT.match(put.call)):
        return None
    if calls.api_of(get.call) == "armci":
        return "armci" if get.is_far else None  # an accumulate took 1.27 of a get and a put within a node
    if fetches or max(get.mean_bytes, put.mean_bytes) > WORD:
        return "words" if get.is_far else None  # within a node a request takes longer than copies of some bytes
    return "shmem"
