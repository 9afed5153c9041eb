"""POP factors of a run: how much of the processes' time was useful work, and why not more.

The definitions are those of the POP Centre of Excellence (https://co-design.pop-coe.eu/metrics/index.html). With the
computing time C of each process and the run time T, the longest time of a process:

    parallel efficiency       = mean(C) / T  = load balance x communication efficiency
    load balance              = mean(C) / max(C)
    communication efficiency  = max(C) / T   = serialisation efficiency x transfer efficiency
    serialisation efficiency  = max(C) / T0
    transfer efficiency       = T0 / T

T0 is the run time on a network that takes no time. POP finds it by a replay of a trace. Here it comes from the
synchronizations of all processes in a timeline: between two of them, the process that computes longest sets the pace.
Waits for single processes are not followed, so T0 may be longer. The serialisation efficiency is then an upper bound,
and the transfer efficiency a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from wattle.base import extras
from wattle.base.errors import WattleError
from wattle.figures import no_core
from wattle.record.pe import PE
from wattle.record.profile import RunProfile, folder_of
from wattle.text.provenance import significant

SOURCE = "https://co-design.pop-coe.eu/metrics/index.html"
# Of the time of calls that were not timed, which is estimated from timed ones: by how much it may be off. Computing is
# the rest of the time. Two ranks that only call, 200,000 times, differed by up to 8 % of their calls' time in it.
OFF_BY = 0.1
BOUNDS_FROM = 0.01  # share of the time that was waited for single processes, from which factors are called bounds
TIMELINES_MOST = 1 << 28  # bytes of timelines that are read for this


@dataclass(frozen=True)
class Factors:
    """The factors, each from 0 to 1. `serialisation` and `transfer` are None where no timeline tells them apart; `why`
    gives the reason. `bounds`: they are an upper and a lower bound.
    """

    parallel_efficiency: float
    load_balance: float
    communication_efficiency: float
    serialisation: float | None = None
    transfer: float | None = None
    bounds: bool = False
    why: str = ""

    @property
    def words(self) -> str:
        """`Parallel efficiency 71 % = load balance 80 % x communication efficiency 89 % (POP).`"""
        split = ""
        if self.serialisation is not None and self.transfer is not None:
            most, least = ("at most ", "at least ") if self.bounds else ("", "")
            split = f" = serialisation {most}{_percent(self.serialisation)} x transfer {least}{_percent(self.transfer)}"
        return (
            f"Parallel efficiency {_percent(self.parallel_efficiency)} = load balance {_percent(self.load_balance)} x "
            f"communication efficiency {_percent(self.communication_efficiency)}{split} (POP)."
        )

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"source": SOURCE}


def _percent(factor: float) -> str:
    return f"{significant(100 * factor, 3)} %"


def factors(profile: RunProfile) -> Factors | None:
    """The factors of a run. None for a single process and for a run with missing ones. None where computing times are
    not known, may contain time without a core, or are smaller than the error of the calls' estimated time.
    """
    if no_core.unknown(profile):
        return None
    computed = [pe.time_s["compute"] for pe in profile.pes]
    known = [c for c in computed if c is not None]
    wall, most = profile.wall_s, max(known, default=0.0)
    if not profile.complete or len(computed) < 2 or len(known) < len(computed) or not wall or not most:
        return None
    if most <= max(map(_off_by_s, profile.pes)):
        return None
    mean = sum(known) / len(known)
    first = (mean / wall, mean / most, most / wall)
    try:
        ideal, elsewhere = _ideal_s(profile, known)
    except _NoTimeline as reason:
        return Factors(*first, why=str(reason))
    ideal = min(max(ideal, most), wall)
    return Factors(*first, most / ideal, ideal / wall, elsewhere > BOUNDS_FROM)


def _off_by_s(pe: PE) -> float:
    """By how much the computing time of a process may be off, in seconds. All waits are timed."""
    own = [(site, (site.time_s or 0.0) - (site.waiting_s or 0.0)) for site in pe.sites if site.calls]
    return OFF_BY * sum(max(0.0, seconds) * (1 - site.timed_calls / site.calls) for site, seconds in own)


class _NoTimeline(Exception):
    """No timeline tells serialisation and transfer apart. The message gives the reason."""


def _ideal_s(profile: RunProfile, computed: Sequence[float]) -> tuple[float, float]:
    """The run time on a network that takes no time, and the share of the time that was waited for single processes.
    The time between two synchronizations also holds calls and time without a core. Each process's is scaled to its
    computing time.
    """
    folder = folder_of(Path(profile.directory))
    files = list(folder.glob("timeline-*.bin"))
    if not files:
        raise _NoTimeline("`wattle run --timeline` tells serialisation and transfer apart")
    if sum(file.stat().st_size for file in files) > TIMELINES_MOST:
        raise _NoTimeline(f"the timelines are larger than {TIMELINES_MOST >> 20} MiB")
    if not extras.has("numpy"):
        raise _NoTimeline("serialisation and transfer need the Python package numpy")
    from wattle.figures import intervals  # imported late, because it needs the extra `lab`

    try:
        found = intervals.read(profile)
    except (WattleError, intervals.Unfit) as error:
        raise _NoTimeline(str(error)) from None
    whole = found.computing_s.sum(axis=0)
    scale = [c / all_of_it if all_of_it > 0 else 0.0 for c, all_of_it in zip(computed, whole, strict=True)]
    return float((found.computing_s * scale).max(axis=1).sum()), found.elsewhere


def better_first(found: Factors, noun: str) -> str:
    """The larger loss in words, such as `mostly by uneven work (load balance 61 %)`."""
    if found.load_balance <= found.communication_efficiency:
        return f"mostly because the {noun}s' work is uneven (load balance {_percent(found.load_balance)})"
    return f"mostly because of communication (efficiency {_percent(found.communication_efficiency)})"
