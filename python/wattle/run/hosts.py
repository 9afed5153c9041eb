"""The hosts of a job, as `--hosts` or `--hostfile` give them: checked, counted, and handed to oshrun as they are."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from wattle.errors import WattleError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
RANGES = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*)\[([0-9,-]+)\]")  # Slurm's: node[1-3,07]
SLOTS_MOST = 65536


@dataclass(frozen=True)
class Host:
    """`slots`: how many PEs it takes; None where nobody said."""

    name: str
    slots: int | None


@dataclass(frozen=True)
class Hosts:
    """`options`: for oshrun."""

    hosts: list[Host] = field(default_factory=list)
    options: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(host.name for host in self.hosts))

    def as_list(self) -> list[dict[str, object]]:
        """For the manifest."""
        return [{"name": host.name, "slots": host.slots} for host in self.hosts]

    def pes(self) -> int:
        """How many PEs fill them: what the job has where nobody says how many. Without hosts, as many as an allocation
        of Slurm's has tasks, else one."""
        if not self.hosts:
            return _of_slurm("SLURM_NTASKS") or 1
        unknown = [host.name for host in self.hosts if host.slots is None]
        if unknown:
            raise WattleError(f"-n is needed: the host file does not say how many PEs {unknown[0]} takes")
        return sum(host.slots or 0 for host in self.hosts)

    def n_hosts(self, n_pes: int) -> int | None:
        """How many hosts a job of so many PEs may use at most; None where nobody knows."""
        if self.hosts:
            return min(n_pes, len(self.names))
        allocated = _of_slurm("SLURM_JOB_NUM_NODES")
        return min(n_pes, allocated) if allocated else None


def _of_slurm(name: str) -> int:
    """A number of the allocation we are in; 0 where we are in none."""
    value = os.environ.get(name, "") if "SLURM_JOB_ID" in os.environ else ""
    return int(value) if value.isascii() and value.isdecimal() else 0


def given(listed: str | None, file: Path | None) -> Hosts:
    """What `--hosts` or `--hostfile` say; no hosts where neither is given."""
    if listed is not None and file is not None:
        raise WattleError("--hosts and --hostfile: give one of the two")
    if listed is not None:
        entries = re.split(r",(?![^\[\]]*\])", listed)  # a comma within brackets belongs to the name
        return Hosts([host for entry in entries for host in _of_list(listed, entry)], ["--host", listed])
    if file is not None:
        return Hosts(_of_file(file), ["--hostfile", str(file)])
    return Hosts()


def _of_list(listed: str, entry: str) -> list[Host]:
    """`a`, `a:2`, `a[1-3]:2`."""
    where = f"--hosts {listed}"
    if not entry:
        raise WattleError(f"{where}: a host's name is empty; write them as a,b or, with numbers of PEs, a:2,b:2")
    name, colon, slots = _parts(entry)
    taken = _slots(where, name, slots) if colon else 1
    return [Host(each, taken) for each in _names(where, name)]


def _parts(entry: str) -> tuple[str, str, str]:
    """Name, colon and number of PEs. What has several colons is an address."""
    try:
        ipaddress.IPv6Address(entry)
    except ValueError:
        return entry.partition(":")
    return entry, "", ""


def _of_file(file: Path) -> list[Host]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise WattleError(f"--hostfile {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WattleError(f"--hostfile {file}: is not text") from None
    rows = [(i, line.partition("#")[0].split()) for i, line in enumerate(lines, 1)]
    hosts = [host for i, words in rows if words for host in _of_line(f"--hostfile {file}, line {i}", words)]
    if not hosts:
        raise WattleError(f"--hostfile {file}: names no host; write one a line, as in `node1 slots=2`")
    return hosts


def _of_line(where: str, words: list[str]) -> list[Host]:
    """`a`, `a slots=2` (Open MPI's way) or `a:2` (MPICH's); other words are the launcher's business."""
    name, colon, slots = _parts(words[0].rpartition("@")[2])
    found = next((word.removeprefix("slots=") for word in words[1:] if word.startswith("slots=")), None)
    if found is None and colon:
        found = slots
    taken = None if found is None else _slots(where, name, found)
    return [Host(each, taken) for each in _names(where, name)]


def _names(where: str, name: str) -> list[str]:
    """The name, or each that `a[1-3]` stands for."""
    if found := RANGES.fullmatch(name):
        return [found[1] + number for part in found[2].split(",") for number in _range(where, name, part)]
    if not NAME.fullmatch(name) and ":" not in name:
        raise WattleError(f"{where}: {name!r} is no host's name; expected letters, digits, dots and dashes")
    return [name]


def _range(where: str, name: str, part: str) -> list[str]:
    """`08-10` as 08, 09, 10."""
    first, dash, last = part.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) < int(first):
        raise WattleError(f"{where}: {part!r} in {name} is no range; write it as [1-3] or [1,3-5]")
    if int(last or first) - int(first) >= SLOTS_MOST:
        raise WattleError(f"{where}: {part!r} in {name} are more than {SLOTS_MOST} hosts")
    return [str(i).zfill(len(first)) for i in range(int(first), int(last or first) + 1)]


def _slots(where: str, name: str, text: str) -> int:
    value = int(text) if text.isascii() and text.isdecimal() else 0
    if not 1 <= value <= SLOTS_MOST:
        raise WattleError(f"{where}: {text!r} PEs on {name}: expected 1 to {SLOTS_MOST}")
    return value
