"""Calls of one site by the time that each waited, for each process: at which calls a process was late, and by how much.

A process that is late at a collective call waits little in it, and the others wait for it. Sums do not show whether the
same process is late each time. The classes do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wattle.base.documents import fields
from wattle.record.pe import PE, STAGES, Site
from wattle.text import units

CLASSES = 22  # of the runtime, src/profile/profile.h; the last one has all longer waits
SHORT = 0.5  # of the mean wait of all calls at the site, up to which a process was late


@dataclass(frozen=True)
class Waits:
    """The calls of one process by the time that each waited. Class 0: less than `from_s` seconds, also not at all.
    Class k: from 2^(k-1) to 2^k of that. `mean_s`: exact.
    """

    from_s: float
    counts: tuple[int, ...]
    seconds: float

    @property
    def calls(self) -> int:
        return sum(self.counts)

    def ends(self, k: int) -> tuple[float, float]:
        """The shortest and the longest wait of a class in s. The last class of the runtime has no longest one."""
        lo = self.from_s * 2.0 ** (k - 1) if k else 0.0
        return lo, self.from_s * 2.0**k if k + 1 < CLASSES else float("inf")

    def at(self, share: float) -> int:
        """The class that has the wait which this share of the calls does not exceed."""
        left = share * self.calls
        for k, n in enumerate(self.counts):
            left -= n
            if left <= 0:
                return k
        return len(self.counts) - 1

    def below(self, seconds: float) -> int:
        """The calls of the classes whose waits are all shorter; those of class 0 always."""
        return sum(n for k, n in enumerate(self.counts) if k == 0 or self.ends(k)[1] <= seconds)

    def as_dict(self) -> dict[str, object]:
        return fields(self, "from_s counts")

    def words(self, share: float = 0.5) -> str:
        """The class of a share of the calls: `4.19 to 8.39 ms`, `below 1 µs`."""
        lo, hi = self.ends(self.at(share))
        if not lo:
            return f"below {units.seconds(hi)}"
        return f"{units.seconds(lo)} to {units.seconds(hi)}" if hi < float("inf") else f"above {units.seconds(lo)}"


@dataclass(frozen=True)
class Late:
    """The process that was late most often at a site, with the share of its calls. `others`: the others' calls."""

    pe: int
    share: float
    others: Waits


def of_site(pe: PE, site: Site) -> Waits | None:
    """None in files of earlier versions. A site without waits has no classes in the file."""
    if pe.waited_from_s is None:
        return None
    return Waits(pe.waited_from_s, tuple(site.waited) or (site.calls,), sum(site.wait_s[s] or 0.0 for s in STAGES))


def sum_of(all_waits: Iterable[Waits]) -> Waits:
    """The sum. Processes of several nodes may have slightly different classes. The sum has those of the first."""
    found = list(all_waits)
    counts = [sum(w.counts[k] for w in found if k < len(w.counts)) for k in range(max(len(w.counts) for w in found))]
    return Waits(found[0].from_s, tuple(counts), sum(w.seconds for w in found))


def late(of: dict[int, Waits]) -> Late | None:
    """The process that was late most often. None where fewer than two waited, or where no wait was long enough."""
    if len(of) < 2:
        return None
    whole = sum_of(of.values())
    short_s = SHORT * whole.seconds / whole.calls if whole.calls else 0.0
    if short_s < whole.from_s:
        return None
    shares = {pe: waits.below(short_s) / waits.calls for pe, waits in of.items() if waits.calls}
    pe = max(shares, key=lambda pe: shares[pe])
    return Late(pe, shares[pe], sum_of(waits for other, waits in of.items() if other != pe))
