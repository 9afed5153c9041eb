"""The same bytes put to the same place again: they are there already."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.text.units import count

NAME = "unchanged"
SHARE = 0.9
FEWEST = 16  # compared puts
# Of the puts that go away: a test of the change remains. A call also costs the program its entry and the work that its
# results would have overlapped with, which no profile times. The example saved 52 % where the put alone took 38 %.
SAVED = Interval(0.75, 1.5)

CHANGE = "if (changed) shmem_putmem(dest, source, bytes, pe);  /* or once, before the loop */"
CHANGE_ARMCI = "if (changed) ARMCI_Put(source, dest, bytes, proc);  /* or once, before the loop */"


def find(evidence: Evidence) -> Iterator[Finding]:
    for put in evidence.spots:
        if not calls.PUT.match(put.call):
            continue
        compared, unchanged = (
            sum(link.counts[name] for link in evidence.into[id(put)]) for name in ("compared", "unchanged")
        )
        # Compared puts are those of the same place as the last noted one. All puts must be of that kind.
        noted = sum(link.times for link in evidence.into[id(put)])
        if compared >= FEWEST and unchanged >= SHARE * compared and compared >= noted / 2:
            yield _finding(evidence, put, compared, unchanged)


def _finding(evidence: Evidence, put: Spot, compared: int, unchanged: int) -> Finding:
    title = f"{count(put.calls)} puts, of which nearly all bring bytes that are there already: leave them out"
    seen = [
        f"{put.words}: {count(put.calls)} calls of {put.mean_bytes:.0f} bytes",
        f"{unchanged} of {compared} compared puts had the bytes of the put before to that place",
    ]
    change = CHANGE_ARMCI if calls.api_of(put.call) == "armci" else CHANGE
    rests = "The price of the put in this run. No other PE may have changed the place meanwhile."
    advice = Advice(title, seen, change, rests, Effort.LINES, Sure.MEDIUM)
    return Finding(NAME, [put], advice, saved_by(evidence, [Part(put, SAVED.scaled(unchanged / compared))]))
