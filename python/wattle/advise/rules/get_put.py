"""A get, a change here and a put back to the same place: one atomic operation or one accumulate does it there."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence
from wattle.advise.finding import Advice, Effort, Finding, Interval, Part, Sure, saved_by
from wattle.units import count
from wattle.units import share as of_all

NAME = "get-put"
SHARE = 0.8  # of the noted calls that must fit
WORD = 8  # bytes of an atomic operation of OpenSHMEM
# The get and its wait are saved. The atomic operation replaces the put and may cost more than it.
SAVED = Interval(0.4, 1.0)

CHANGES = {
    "shmem": "shmem_long_atomic_add(counter, amount, pe);  /* instead of shmem_long_g and shmem_long_p */",
    "armci": "ARMCI_Acc(ARMCI_ACC_DBL, &one, amounts, there, bytes, proc);  /* instead of ARMCI_Get and ARMCI_Put */",
}


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        get, put = link.origin, link.to
        api = calls.api_of(get.call)
        if not (calls.GET.match(get.call) and calls.PUT.match(put.call) and api in CHANGES):
            continue
        if link.share("same_pe") < SHARE or link.share("same_there") < SHARE or evidence.share_out(link) < SHARE:
            continue
        if api == "shmem" and max(get.mean_bytes, put.mean_bytes) > WORD:
            continue
        if api == "armci" and not get.is_far:  # an accumulate took 1.27 of a get and a put within a node
            continue
        title = f"{count(get.calls)} gets, each followed by a put to the same place: change the value there"
        seen = [
            f"{get.words}: {count(get.calls)} calls of {get.mean_bytes:.0f} bytes",
            f"{put.words}: follows, {of_all(link.share('same_there'))} of the noted calls to the same PE and address",
        ]
        rests = "The price of the get in this run. The call must have the operation by which the value changes."
        advice = Advice(title, seen, CHANGES[api], rests, Effort.LINE, Sure.HIGH)
        yield Finding(NAME, [get, put], advice, saved_by(evidence, [Part(get, SAVED)]))
