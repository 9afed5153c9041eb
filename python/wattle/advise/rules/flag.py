"""Data, a fence or quiet, and a flag to the same PE: one put with a signal does it without the fence."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Link, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.text.units import count
from wattle.text.units import share as of_all

NAME = "flag"
SHARE = 0.8
WORD = 8  # bytes of a flag
SAVED_ORDER = Interval(0.4, 0.8)  # of the fence or quiet, which goes away
SAVED_FLAG = Interval(0.2, 0.4)  # of the flag's own put: the signal is stored behind the data, and takes time, too

CHANGE = """\
shmem_putmem_signal(dest, source, bytes, &signal, 1, SHMEM_SIGNAL_ADD, pe);  /* signal: uint64_t */
shmem_signal_wait_until(&signal, SHMEM_CMP_GE, expected);                   /* at the receiver */"""
CHANGE_ARMCI = "ARMCI_Put_flag(source, dest, bytes, flag, 1, proc);"


def find(evidence: Evidence) -> Iterator[Finding]:
    for to_flag in evidence.links:
        order, flag = to_flag.origin, to_flag.to
        is_order = calls.QUIET.match(order.call) or calls.FENCE.match(order.call)
        if not is_order or not calls.PUT.match(flag.call) or flag.mean_bytes > WORD:
            continue
        if to_flag.share("same_pe") < SHARE or evidence.share_out(to_flag) < SHARE:
            continue
        data = _data(evidence, order, flag)
        waits = _waits(evidence, to_flag)
        if data is None or (not waits and calls.api_of(flag.call) == "shmem"):
            continue
        yield _finding(evidence, data, to_flag, waits)


def _data(evidence: Evidence, order: Spot, flag: Spot) -> Spot | None:
    """The put before the fence, if it is another one than the flag's."""
    for link in evidence.into[id(order)]:
        if calls.PUT.match(link.origin.call) and link.origin is not flag and evidence.share_in(link) >= SHARE:
            return link.origin
    return None


def _waits(evidence: Evidence, to_flag: Link) -> list[Spot]:
    """The waits for the variable that the flag's put writes."""
    found: dict[int, Spot] = {}
    for link in evidence.links:
        if calls.WAIT_FOR.match(link.to.call) and any(
            area == other and low < high2 and low2 < high
            for area, low, high in link.areas
            for other, low2, high2 in to_flag.areas
        ):
            found[id(link.to)] = link.to
    return list(found.values())


def _finding(evidence: Evidence, data: Spot, to_flag: Link, waits: list[Spot]) -> Finding:
    order, flag = to_flag.origin, to_flag.to
    share = evidence.share_out(to_flag)
    title = f"{count(flag.calls)} flags, each put after data and a {order.call.rsplit('_')[-1]}: signal with the data"
    seen = [
        f"{data.words}: {count(data.calls)} calls of {data.mean_bytes:.0f} bytes",
        f"{order.words}: {count(order.calls)} calls between the two",
        f"{flag.words}: {count(flag.calls)} calls, {of_all(to_flag.share('same_pe'))} of the noted to the data's PE",
        *(f"{wait.words}: waits for that flag" for wait in waits),
    ]
    change = CHANGE_ARMCI if calls.api_of(flag.call) == "armci" else CHANGE
    rests = "The price of the fence and of the flag's put in this run."
    advice = Advice(title, seen, change, rests, Effort.LINES, Sure.HIGH if waits else Sure.MEDIUM)
    parts = [Part(order, SAVED_ORDER.scaled(share)), Part(flag, SAVED_FLAG.scaled(share))]
    return Finding(NAME, [flag, order, data, *waits], advice, saved_by(evidence, parts))
