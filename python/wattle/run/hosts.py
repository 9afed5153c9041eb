"""The hosts of a job from `--hosts` or `--hostfile`: checked, counted, and passed to oshrun unchanged. Only IPv6
addresses of `--hosts` are replaced by the hosts' names, because no launcher takes them there.
"""

from __future__ import annotations

import ipaddress
import itertools
import os
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.checked import SHOWN, shown
from wattle.base.errors import DamagedFile, WattleError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
RANGES = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*)\[([0-9,-]+)\]")  # Slurm's form: node[1-3,07]


@dataclass(frozen=True)
class Host:
    """A host. `slots`: its number of PEs; None where it is not given."""

    name: str
    slots: int | None


@dataclass(frozen=True)
class Hosts:
    """The hosts of a job. `options`: for oshrun."""

    hosts: list[Host] = field(default_factory=list)
    options: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(host.name for host in self.hosts))

    def as_list(self) -> list[dict[str, object]]:
        """The hosts as a list for the manifest."""
        return [{"name": host.name, "slots": host.slots} for host in self.hosts]

    def pes(self) -> int:
        """The number of PEs that fill the hosts, the default of -n. Without hosts it is the number of tasks of a Slurm
        allocation, else 1. Raises WattleError where a host has no slots.
        """
        if not self.hosts:
            return _of_slurm("SLURM_NTASKS") or 1
        unknown = [host.name for host in self.hosts if host.slots is None]
        if unknown:
            raise WattleError(f"-n is needed: the host file does not say how many PEs {unknown[0]} takes")
        return sum(host.slots or 0 for host in self.hosts)

    def n_hosts(self, n_pes: int) -> int | None:
        """The largest number of hosts that a job of `n_pes` PEs may use; None where it is not known."""
        if self.hosts:
            return min(n_pes, len(self.names))
        allocated = _of_slurm("SLURM_JOB_NUM_NODES")
        return min(n_pes, allocated) if allocated else None


def _of_slurm(name: str) -> int:
    """A number of the Slurm allocation of this process; 0 outside an allocation."""
    value = os.environ.get(name, "") if "SLURM_JOB_ID" in os.environ else ""
    return _whole(value) or 0


def _whole(text: str) -> int | None:
    """A whole number. None where the text is none, or has more digits than a count of hosts or PEs can have."""
    return int(text) if re.fullmatch(rf"[0-9]{{1,{limits.DIGITS}}}", text) else None


def given(listed: str | None, file: Path | None) -> Hosts:
    """The hosts of `--hosts` or `--hostfile`; no hosts where neither is given."""
    if listed is not None and file is not None:
        raise WattleError("--hosts and --hostfile: give one of the two")
    if listed is not None:
        hosts = _few("--hosts", (host for entry in entries(listed) for host in _of_list(listed, entry)))
        has_address = any(_is_ipv6(parts(entry)[0]) for entry in entries(listed))
        return Hosts(hosts, ["--host", ",".join(f"{h.name}:{h.slots}" for h in hosts) if has_address else listed])
    if file is not None:
        return Hosts(_of_file(file), ["--hostfile", str(file)])
    return Hosts()


def entries(listed: str) -> Iterator[str]:
    """The entries between commas. A comma in brackets belongs to the name."""
    entry: list[str] = []
    for part in listed.split(","):
        entry.append(part)
        if part.rfind("[") <= part.rfind("]") and ("]" in part or len(entry) == 1):
            yield ",".join(entry)
            entry = []
    if entry:
        yield ",".join(entry)


def _few(where: str, hosts: Iterable[Host]) -> list[Host]:
    """The hosts as a list. Raises WattleError where there are more than a job can have."""
    found = list(itertools.islice(hosts, limits.HOSTS + 1))
    if len(found) > limits.HOSTS:
        raise WattleError(f"{where}: names more than {limits.HOSTS} hosts")
    return found


def _of_list(listed: str, entry: str) -> Iterator[Host]:
    """The hosts of an entry `a`, `a:2` or `a[1-3]:2`."""
    where = f"--hosts {listed if len(listed) <= SHOWN else listed[:SHOWN] + '...'}"
    if not entry:
        raise WattleError(f"{where}: a host's name is empty; write them as a,b or, with numbers of PEs, a:2,b:2")
    name, colon, slots = parts(entry)
    taken = _slots(where, name, slots) if colon else 1
    name = _name_of(where, name) if _is_ipv6(name) else name
    yield from (Host(each, taken) for each in _names(where, name))


def parts(entry: str) -> tuple[str, str, str]:
    """Name, colon and number of PEs. An IPv6 address with a number is written in brackets: `[fd00::2]:4`."""
    if (found := re.fullmatch(r"\[(.*)\](?:(:)(.*))?", entry)) and _is_ipv6(found[1]):
        return found[1], found[2] or "", found[3] or ""
    return (entry, "", "") if _is_ipv6(entry) else entry.partition(":")


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _of_file(file: Path) -> list[Host]:
    try:
        lines = input_files.read_text(file, limits.TEXT_BYTES).splitlines()
    except DamagedFile as error:
        raise WattleError(f"--hostfile {error}") from None
    rows = [(i, line.partition("#")[0].split()) for i, line in enumerate(lines, 1)]
    where = f"--hostfile {file}"
    hosts = _few(where, (host for i, words in rows if words for host in _of_line(f"{where}, line {i}", words)))
    if not hosts:
        raise WattleError(f"--hostfile {file}: names no host; write one a line, as in `node1 slots=2`")
    return hosts


def _of_line(where: str, words: list[str]) -> Iterator[Host]:
    """The hosts of a line `a`, `a slots=2` (Open MPI) or `a:2` (MPICH). Other words are for the launcher."""
    name, colon, slots = parts(words[0].rpartition("@")[2])
    found = next((word.removeprefix("slots=") for word in words[1:] if word.startswith("slots=")), None)
    if found is None and colon:
        found = slots
    taken = None if found is None else _slots(where, name, found)
    yield from (Host(each, taken) for each in _names(where, name))


def _names(where: str, name: str) -> Iterator[str]:
    """The name, or each name that `a[1-3]` represents."""
    if found := RANGES.fullmatch(name):
        for part in found[2].split(","):
            yield from (found[1] + number for number in _range(f"{where}: {shown(part)} in {shown(name)[1:-1]}", part))
        return
    if len(name) > limits.NAME or (not NAME.fullmatch(name) and ":" not in name):
        raise WattleError(f"{where}: {shown(name)} is no host's name; expected letters, digits, dots and dashes")
    yield name


def _name_of(where: str, address: str) -> str:
    try:
        return socket.getnameinfo((address, 0), socket.NI_NAMEREQD)[0]
    except OSError:
        raise WattleError(
            f"{where}: no name of {address} is known, and launchers take no IPv6 address; give the host's name, or add "
            "one to /etc/hosts"
        ) from None


def _range(where: str, part: str) -> Iterator[str]:
    """The numbers of a range: `08-10` gives 08, 09, 10."""
    first, dash, last = part.partition("-")
    low, high = _whole(first), _whole(last if dash else first)
    if low is None or high is None or high < low:
        raise WattleError(f"{where} is no range; write it as [1-3] or [1,3-5]")
    if high - low >= limits.HOSTS:
        raise WattleError(f"{where} are more than {limits.HOSTS} hosts")
    yield from (str(i).zfill(len(first)) for i in range(low, high + 1))


def _slots(where: str, name: str, text: str) -> int:
    value = _whole(text) or 0
    if not 1 <= value <= limits.HOSTS:
        raise WattleError(f"{where}: {shown(text)} PEs on {shown(name)[1:-1]}: expected 1 to {limits.HOSTS}")
    return value
