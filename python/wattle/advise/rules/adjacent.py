"""Small transfers whose memory lies side by side, or at equal distances: one transfer moves them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Link, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.text.units import count, size
from wattle.text.units import share as of_all

NAME = "adjacent"
SHARE = 0.8
FEWEST_CALLS = 32  # of a PE
LARGEST = 256  # bytes of a call, up to which its own price is worth saving
# All calls but the first of each row go away. Their bytes still move, which costs the more the larger they are.
SAVED = Interval(0.6, 1.1)  # a call also costs the program its entry, which no profile times
SAVED_STRIDED = Interval(0.45, 0.9)  # a strided transfer moves each element by itself, at a fraction of a call's price


@dataclass(frozen=True)
class _Row:
    """A loop of transfers: the link that closes it, and a quiet in it."""

    link: Link
    quiet: Spot | None
    strided: bool


def find(evidence: Evidence) -> Iterator[Finding]:
    for link in evidence.links:
        row = _row(evidence, link)
        if row is not None:
            yield _finding(evidence, row)


def _row(evidence: Evidence, link: Link) -> _Row | None:
    move = link.to
    if not (calls.PUT.match(move.call) or calls.GET.match(move.call)):
        return None
    quiet = link.origin if calls.QUIET.match(link.origin.call) else None
    if link.origin is not move and quiet is None:
        return None
    if quiet is not None and not _is_after(evidence, quiet, move):
        return None
    if move.mean_bytes > LARGEST or move.most_calls < FEWEST_CALLS or evidence.share_in(link) < SHARE:
        return None
    if link.share("same_pe") < SHARE:
        return None
    by_value = not link.counts["next_here"] + link.counts["same_here"] + link.counts["stride_here"]
    there, here = link.share("next_there"), 1.0 if by_value else link.share("next_here")
    if min(there, here) >= SHARE:
        return _Row(link, quiet, strided=False)
    if evidence.is_between_nodes:  # a strided transfer to another node sends each element by itself
        return None
    steps = [max(link.share(f"next_{side}"), link.share(f"stride_{side}")) for side in ("there", "here")]
    return _Row(link, quiet, strided=True) if min(steps[0], 1.0 if by_value else steps[1]) >= SHARE else None


def _is_after(evidence: Evidence, quiet: Spot, move: Spot) -> bool:
    back = evidence.link(move, quiet)
    return back is not None and evidence.share_out(back) >= SHARE


def _finding(evidence: Evidence, row: _Row) -> Finding:
    move, link = row.link.to, row.link
    share = evidence.share_in(link) * link.share("same_pe")
    part = SAVED_STRIDED if row.strided else SAVED
    parts = [Part(move, part.scaled(share))]
    is_get = bool(calls.GET.match(move.call))
    what = "gets" if is_get else "puts"
    each = ", each with a quiet" if row.quiet else ""
    how = "at equal distances" if row.strided else "side by side"
    title = f"{count(move.calls)} {what} of {size(move.mean_bytes)} to the same PE{each}, {how}: send them together"
    seen = [
        f"{move.words}: {count(move.calls)} calls of {move.mean_bytes:.0f} bytes",
        f"{of_all(link.share('same_pe'))} of the noted calls to the same PE as the last, "
        f"{of_all(max(link.share('next_there'), link.share('stride_there')))} {how} there",
    ]
    if row.quiet:
        seen.append(f"{row.quiet.words}: {count(row.quiet.calls)} calls")
        parts.append(Part(row.quiet, SAVED.scaled(share)))
    rests = f"The price of a call of {size(move.mean_bytes)} in this run. The bytes move in any case."
    advice = Advice(title, seen, _change(move, row), rests, Effort.LINE, Sure.HIGH)
    spots = [move, *([row.quiet] if row.quiet else [])]
    return Finding(NAME, spots, advice, saved_by(evidence, parts))


def _change(move: Spot, row: _Row) -> str:
    is_get = bool(calls.GET.match(move.call))
    if calls.api_of(move.call) == "armci":
        name = "Get" if is_get else "Put"
        if row.strided:
            return f"ARMCI_{name}S(source, source_stride, dest, dest_stride, count, 1, proc);  /* after the loop */"
        return f"ARMCI_{name}(source, dest, n * bytes, proc);  /* once, after the loop */"
    name = "get" if is_get else "put"
    if row.strided:
        return f"shmem_long_i{name}(dest, source, dest_stride, source_stride, n, pe);  /* once, after the loop */"
    source = "" if is_get else "  /* once; the loop fills source[] */"
    return f"shmem_{name}mem(dest, source, n * bytes, pe);{source}"
