"""Time in which processes of a run had no core: how much, and its likely cause.

A process without a core cannot compute and arrives late, so the others wait for it. Its own computing time does not
contain that time, but the waits of the others do. Slack, CR and EC then describe the machine rather than the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from wattle.record.pe import NO_CORE, PE, Cores
from wattle.record.profile import RunProfile
from wattle.text import units

NAMED = 0.02  # share of a process's time from which it is named
TOO_MUCH = 0.05  # share from which the waits of the run say little about the program
IN_WAITS = 5  # times as much is needed in waits: a process that yields its core while it waits has lost nothing
THROTTLED = 0.01  # share of the time for which a quota must have stopped the processes to be named as the cause
BY_CPU_TIME = "cpu time"


@dataclass(frozen=True)
class Shortage:
    """Processes without a core. `share`: of the time of the process that lacked one most, outside waits; `in_waits`:
    the same within waits. `seconds`, `in_waits_s`: of these processes together. `causes`: each a sentence without a
    full stop. `by_cpu_time`: the kernel does not count the time, so it includes blocked time.
    """

    processes: list[int]
    share: float
    in_waits: float
    seconds: float
    in_waits_s: float
    causes: list[str]
    by_cpu_time: bool
    noun: str

    @property
    def weighed(self) -> float:
        """The share that decides: of time outside waits, or of more time within them."""
        return max(self.share, self.in_waits / IN_WAITS)

    @property
    def is_too_much(self) -> bool:
        return self.weighed >= TOO_MUCH

    @property
    def words(self) -> str:
        """`Ranks 0-1 had no core for up to 48.1 % of their time, and for up to 3.2 % more in waits: ranks 0-1 ...`"""
        several = len(self.processes) > 1
        who = f"{self.noun}{'s' if several else ''} {units.ranges(self.processes)}"
        who = who[0].upper() + who[1:]
        up_to, whose = ("up to ", "their") if several else ("", "its")
        had = "did not run outside waits" if self.by_cpu_time else "had no core"
        share, in_waits = units.share(self.share), units.share(self.in_waits)
        waits = f", and for {up_to}{in_waits} more in waits" if self.in_waits >= NAMED else ""
        if waits and share == units.share(0.0):
            share, waits = in_waits, ", all of it in waits"
        doubt = " (by CPU time, time blocked in the kernel included)" if self.by_cpu_time else ""
        return f"{who} {had} for {up_to}{share} of {whose} time{waits}{doubt}: {'; '.join(self.causes)}."

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"too_much": self.is_too_much}


def shortage(profile: RunProfile) -> Shortage | None:
    """The processes without a core for a noticeable part of their time; None without such, and for old profiles."""
    lacking = [pe for pe in profile.pes if max(_share(pe), _in_waits(pe) / IN_WAITS) >= NAMED]
    if not lacking:
        return None
    hosts = dict.fromkeys(pe.host for pe in lacking)
    causes = [cause for host in hosts for cause in _causes([pe for pe in profile.pes if pe.host == host], profile.noun)]
    return Shortage(
        sorted(pe.pe for pe in lacking),
        max(map(_share, lacking)),
        max(map(_in_waits, lacking)),
        sum(pe.state_s[NO_CORE] or 0.0 for pe in lacking),
        sum(pe.cores.in_waits_s or 0.0 for pe in lacking),
        list(dict.fromkeys(causes)),
        any(pe.cores.source == BY_CPU_TIME for pe in lacking),
        profile.noun,
    )


def lacked(pe: PE) -> float:
    """The share of a process's time for which it had no core, in waits and outside."""
    return _share(pe) + _in_waits(pe)


def _known_until(pe: PE) -> float:
    """The time since the start up to which the time without a core of a process is known."""
    if pe.ended is None:
        return pe.wall_s or 0.0
    return pe.cores.until_s or 0.0 if pe.state_s[NO_CORE] is not None else 0.0


def is_unknown(pe: PE) -> bool:
    """Whether a process was ended too long after the time without a core was last read, in its last long wait. Its
    computing time may then contain time without a core.
    """
    return pe.ended is not None and _known_until(pe) <= (1 - NAMED) * (pe.wall_s or 0.0)


def unknown(profile: RunProfile) -> str:
    """A sentence or two on the processes whose time without a core is not known; empty where there are none."""
    ended = [pe for pe in profile.pes if is_unknown(pe)]
    known = [pe for pe in ended if _known_until(pe) > 0]
    never = [pe.pe for pe in ended if pe not in known]
    words = []
    if never:
        whose = "in a job" if len(never) == profile.n_pes else f"of {units.numbered(profile.noun, never)} in a job"
        words.append(f"Time without a core is not known {whose} that was ended: compute may contain it.")
    if known:
        whose, their = units.numbered(profile.noun, [pe.pe for pe in known]), "its" if len(known) == 1 else "their"
        until = [_known_until(pe) for pe in known]
        words.append(
            f"Time without a core of {whose} is known up to {their} last long wait, "
            f"{units.seconds_between(min(until), max(until))} after the start: compute may contain more."
        )
    return " ".join(words)


def _share(pe: PE) -> float:
    lacked = pe.state_s[NO_CORE]
    return 0.0 if lacked is None or not pe.wall_s else lacked / pe.wall_s


def _in_waits(pe: PE) -> float:
    """By CPU time, a sleep in a wait looks like time without a core, so it is not known."""
    if pe.cores.source == BY_CPU_TIME or not pe.wall_s:
        return 0.0
    return (pe.cores.in_waits_s or 0.0) / pe.wall_s


# ---- causes on one host ----


def _causes(pes: Sequence[PE], noun: str) -> list[str]:
    found = [*_bound(pes, noun), *_throttled(pes)] or list(_crowded([pe.cores for pe in pes], noun))
    return found or ["other programs had the cores; run it on idle ones"]


def _bound(pes: Sequence[PE], noun: str) -> Iterator[str]:
    """Processes that are bound to one core together."""
    by_core: dict[frozenset[int], list[int]] = {}
    for pe in pes:
        if len(pe.cores.cores) == 1:
            by_core.setdefault(pe.cores.cores, []).append(pe.pe)
    for core, together in by_core.items():
        if len(together) > 1:
            who = f"{noun}s {units.ranges(sorted(together))} are bound to core {min(core)} together"
            yield f"{who}; give each a core of its own (the launcher's options for binding, `taskset`, a cpuset)"


def _throttled(pes: Sequence[PE]) -> Iterator[str]:
    """A quota of a control group that stopped the processes."""
    stopped = max(pe.cores.throttled_s or 0.0 for pe in pes)
    wall = max(pe.wall_s or 0.0 for pe in pes)
    if stopped < THROTTLED * wall or not stopped:
        return
    quota = min((pe.cores.quota_cores for pe in pes if pe.cores.quota_cores is not None), default=None)
    of = f" of {quota:g} cores" if quota is not None else ""
    yield (
        f"the CPU quota{of} of their control group stopped them ({units.seconds(stopped)}, added up over cores); "
        "raise the quota, or start fewer"
    )


def _crowded(known: Sequence[Cores], noun: str) -> Iterator[str]:
    """More processes, or more busy threads, than cores that they may use."""
    for allowed in sorted({cores.cores | cores.cores_of_threads for cores in known}, key=len):
        inside = [cores for cores in known if cores.cores | cores.cores_of_threads <= allowed]
        threads = sum(1 + (cores.other_busy_threads or 0) for cores in inside)
        if not allowed or threads <= len(allowed):
            continue
        cores = units.several(len(allowed), "core")
        who = units.several(len(inside), noun)
        if len(inside) > len(allowed):
            yield f"{who} share {cores}; start fewer, or allow more cores"
        else:
            yield f"{who} with {threads} busy threads share {cores}; start fewer threads or {noun}s"
        return
