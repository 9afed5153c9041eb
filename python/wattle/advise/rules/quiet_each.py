"""A quiet after each put: one quiet at the end completes them all."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "quiet-each"
SHARE = 0.5  # of the calls after the quiet that are the same put again
BURST = 1.5  # puts between two quiets, up to which there is one each
FEWEST_CALLS = 32  # of a PE
SAVED = Interval(0.5, 1.0)  # of the quiets that go away: the last one waits for all puts

CHANGES = {
    "shmem": "for (...) shmem_put_nbi(dest, source, n, pe);\nshmem_quiet();  /* once, before the data are needed */",
    "armci": "for (...) ARMCI_NbPut(source, dest, bytes, proc, NULL);\nARMCI_Fence(proc);  /* once */",
}


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        quiet, put = link.origin, link.to
        if not calls.QUIET.match(quiet.call) or not calls.PUT.match(put.call) or quiet.most_calls < FEWEST_CALLS:
            continue
        back = evidence.link(put, quiet)
        if back is None or back.mean_burst is None or back.mean_burst > BURST:
            continue
        share = evidence.share_out(link)
        if share < SHARE or evidence.share_out(back) < SHARE:
            continue
        title = f"{count(quiet.calls)} quiets, one after each put: complete the puts together"
        seen = [
            f"{put.words}: {count(put.calls)} calls of {put.mean_bytes:.0f} bytes",
            f"{quiet.words}: {count(quiet.calls)} calls, after {of_all(share)} of them came the same put",
        ]
        rests = "The price of a quiet in this run. No PE may need one of the puts before the last one."
        advice = Advice(title, seen, CHANGES[calls.api_of(put.call)], rests, Effort.LINE, Sure.HIGH)
        yield Finding(NAME, [quiet, put], advice, saved_by(evidence, [Part(quiet, SAVED.scaled(share))]))
