"""Reads the counts of running PEs, and what they did between two readings.

Each PE keeps its counts in a file that it has open (src/profile/kept.h). The tool wattle-profiles prints them as the
profile that the PE would write now, with joules by the model.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from wattle.base import limits
from wattle.base.errors import DamagedFile, WattleError
from wattle.figures.sites import Callers
from wattle.machine import paths
from wattle.machine.commands import without_preload
from wattle.record.kept_counts import KEPT, PREFIX
from wattle.record.pe import NO_CORE, PE, Numbers, Site, add, find
from wattle.record.pe_file import pe_of
from wattle.record.profile import RunProfile
from wattle.text.provenance import Joules, Provenance
from wattle.top.page import Live

WITHOUT_A_NAME = "/memfd:wattle-profile (deleted)"
TICKS = os.sysconf("SC_CLK_TCK")
AT_ONCE = 500  # processes for one call of the tool


@dataclass(frozen=True)
class Reading:
    """The counts of a PE so far. They have time without a core as computing, calls and waits. `no_core_s`: the seconds
    in which its first thread was ready to run and had no core. `ran_s`: those in which it ran. None: not counted by the
    kernel.
    """

    pe: PE
    no_core_s: float | None
    ran_s: float | None

    @property
    def split(self) -> PE:
        """The PE with the time without a core as a state of its own, and computing as the time that ran.

        The kernel does not tell in which state a core was missing. It is taken to have been missing for the same part
        of each state in which the PE was ready to run. The parts of calls and waits stay with them.
        """
        pe, computed, active = self.pe, self.pe.time_s["compute"], self.pe.state_s["active"]
        ready = add([self.no_core_s, self.ran_s])
        if (
            self.no_core_s is None
            or ready is None
            or computed is None
            or active is None
            or pe.time_s[NO_CORE] is not None
        ):
            return pe
        lacked = min(self.no_core_s, min(computed, active) * self.no_core_s / ready) if ready else 0.0
        return msgspec.structs.replace(
            pe,
            time_s=pe.time_s | {"compute": computed - lacked, NO_CORE: lacked},
            state_s=pe.state_s | {"active": active - lacked, NO_CORE: lacked},
        )


@dataclass(frozen=True)
class Job:
    """The PEs of a job on this node, with their counts in an interval, or since their start."""

    parent: int
    profile: RunProfile


def read(found: Iterable[Live]) -> dict[int, Reading]:
    """The present profile of each PE, by process. Without those of other users, and those that keep no counts."""
    words = [word for live in found if live.uid == os.geteuid() and (word := _word(live.pid)) is not None]
    tool = paths.find_home().root / "bin" / "wattle-profiles"
    if not words or not tool.exists():
        return {}
    pes: dict[int, Reading] = {}
    for first in range(0, len(words), AT_ONCE):
        command = [str(tool), "live", *words[first : first + AT_ONCE]]
        done = subprocess.run(command, env=without_preload(), capture_output=True, check=False)
        if done.returncode != 0:
            raise WattleError(f"wattle-profiles: {done.stderr.decode(errors='replace').strip() or 'failed'}")
        for entry in _documents(done.stdout):
            pe = pe_of("wattle-profiles", entry)
            pes[pe.pid] = Reading(pe, *_first_thread(pe.pid))
    return pes


def _first_thread(pid: int) -> tuple[float | None, float | None]:
    """The run-queue wait of the first thread of a process, and its time on a core: two numbers of its schedstat."""
    try:
        ran, waited, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
        return int(waited) * 1e-9, int(ran) * 1e-9
    except (OSError, ValueError):
        return None, None


def _documents(text: bytes) -> list[str]:
    if len(text) > limits.JSON_BYTES:
        raise WattleError("the PEs keep more counts than can be read at once; choose a job by its PID")
    try:
        return [bytes(entry).decode() for entry in msgspec.json.decode(text, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise DamagedFile("wattle-profiles", "printed no list of profiles") from None


def _word(pid: int) -> str | None:
    """A process and its file, as wattle-profiles reads it. None where it has no such file, or has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        cpu_s = (int(fields[11]) + int(fields[12])) / TICKS
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            name = str(descriptor.readlink())
            if name == WITHOUT_A_NAME or name.startswith(f"{KEPT}/{PREFIX}"):
                return f"{pid}={cpu_s:.6f}:{descriptor}"
    except (OSError, ValueError, IndexError):
        pass
    return None


def jobs(found: Iterable[Live], now: dict[int, Reading], before: dict[int, Reading] | None = None) -> list[Job]:
    """The jobs of the PEs. `before`: an earlier reading, from which on their counts are; None: since their start."""
    groups: dict[int, list[Reading]] = {}
    for live in found:
        reading = now.get(live.pid)
        if reading is not None:
            groups.setdefault(live.parent, []).append(_since((before or {}).get(live.pid), reading))
    return [Job(parent, _profile([r.split for r in readings])) for parent, readings in groups.items()]


def _since(before: Reading | None, now: Reading) -> Reading:
    if before is None:
        return now
    lacked, ran = _less(now.no_core_s, before.no_core_s), _less(now.ran_s, before.ran_s)
    return Reading(between(before.pe, now.pe), lacked, ran)


def _profile(pes: list[PE]) -> RunProfile:
    """PEs of other nodes are missing. They are not counted here, because the job's size is not asked for."""
    return RunProfile(Path(), len(pes), sorted(pes, key=lambda pe: pe.pe))


def between(before: PE | None, now: PE) -> PE:
    """The activity of a PE from one reading to the next."""
    if before is None:
        return now
    earlier = dict(zip(_keys(before), before.sites, strict=True))
    sites = [_site(earlier.get(key), site) for key, site in zip(_keys(now), now.sites, strict=True)]
    return msgspec.structs.replace(
        now,
        wall_s=_less(now.wall_s, before.wall_s),
        cpu_s=_less(now.cpu_s, before.cpu_s),
        state_s=_all_less("state_s", now, before),
        time_s=_all_less("time_s", now, before),
        bytes=_all_less("bytes", now, before),
        sleeps=(now.sleeps or 0) - (before.sleeps or 0),
        joules=[_joules(find(before.joules, figure.domain), figure) for figure in now.joules],
        sites=[site for site in sites if site.calls or any(site.wait_s.values())],
    )


def _keys(pe: PE) -> list[tuple[object, ...]]:
    """The call, the address and the path of each site. They are the same in each reading."""
    callers = Callers(pe)
    return [(site.addr, site.call, callers.above(site.path)) for site in pe.sites]


def _less(now: float | None, before: float | None) -> float | None:
    """Never below 0: estimates of two readings may cross."""
    return None if now is None or before is None else max(0.0, now - before)


def _all_less(group: str, now: PE | Site, before: PE | Site) -> Numbers:
    earlier: Numbers = getattr(before, group)
    return {key: _less(value, earlier.get(key)) for key, value in getattr(now, group).items()}


def _joules(before: Joules, now: Joules) -> Joules:
    """The model is linear, so the uncertainty of a difference has the same share as that of the whole."""
    if before.joules is None or now.joules is None or not now.joules:
        return now
    part = max(0.0, now.joules - before.joules)
    uncertainty = None if now.uncertainty is None else now.uncertainty * part / now.joules
    return replace(now, joules=part, uncertainty=uncertainty, provenance=Provenance.MODELLED)


def _site(before: Site | None, now: Site) -> Site:
    if before is None:
        return now
    return msgspec.structs.replace(
        now,
        calls=now.calls - before.calls,
        bytes=now.bytes - before.bytes,
        timed_calls=now.timed_calls - before.timed_calls,
        waits=now.waits - before.waits,
        time_s=_less(now.time_s, before.time_s),
        wait_s=_all_less("wait_s", now, before),
        joules=_all_less("joules", now, before),
    )
