"""The hosts of a job, as `--hosts` or `--hostfile` give them: checked, counted, and handed to oshrun as they are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from wattle.errors import WattleError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
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
        """How many PEs fill them: what the job has where nobody says how many. Without hosts, one."""
        if not self.hosts:
            return 1
        unknown = [host.name for host in self.hosts if host.slots is None]
        if unknown:
            raise WattleError(f"-n is needed: the host file does not say how many PEs {unknown[0]} takes")
        return sum(host.slots or 0 for host in self.hosts)

    def n_hosts(self, n_pes: int) -> int | None:
        """How many hosts a job of so many PEs may use at most; None where nobody knows."""
        if self.hosts:
            return min(n_pes, len(self.names))
        allocated = os.environ.get("SLURM_JOB_NUM_NODES", "")
        return min(n_pes, int(allocated)) if allocated.isdecimal() and int(allocated) > 0 else None


def given(listed: str | None, file: Path | None) -> Hosts:
    """What `--hosts` or `--hostfile` say; no hosts where neither is given."""
    if listed is not None and file is not None:
        raise WattleError("--hosts and --hostfile: give one of the two")
    if listed is not None:
        return Hosts([_of_list(listed, entry) for entry in listed.split(",")], ["--host", listed])
    if file is not None:
        return Hosts(_of_file(file), ["--hostfile", str(file)])
    return Hosts()


def _of_list(listed: str, entry: str) -> Host:
    """`a` or `a:2`."""
    where = f"--hosts {listed}"
    if not entry:
        raise WattleError(f"{where}: a host's name is empty; write them as a,b or, with numbers of PEs, a:2,b:2")
    name, colon, slots = entry.partition(":")
    return Host(_name(where, name), _slots(where, name, slots) if colon else 1)


def _of_file(file: Path) -> list[Host]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise WattleError(f"--hostfile {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WattleError(f"--hostfile {file}: is not text") from None
    rows = [(i, line.partition("#")[0].split()) for i, line in enumerate(lines, 1)]
    hosts = [_of_line(f"--hostfile {file}, line {i}", words) for i, words in rows if words]
    if not hosts:
        raise WattleError(f"--hostfile {file}: names no host; write one a line, as in `node1 slots=2`")
    return hosts


def _of_line(where: str, words: list[str]) -> Host:
    """`a`, `a slots=2` (Open MPI's way) or `a:2` (MPICH's); other words are the launcher's business."""
    name, colon, slots = words[0].rpartition("@")[2].partition(":")
    found = next((word.removeprefix("slots=") for word in words[1:] if word.startswith("slots=")), None)
    if colon:
        found = slots
    return Host(_name(where, name), None if found is None else _slots(where, name, found))


def _name(where: str, name: str) -> str:
    if not NAME.fullmatch(name):
        raise WattleError(f"{where}: {name!r} is no host's name; expected letters, digits, dots and dashes")
    return name


def _slots(where: str, name: str, text: str) -> int:
    value = int(text) if text.isascii() and text.isdecimal() else 0
    if not 1 <= value <= SLOTS_MOST:
        raise WattleError(f"{where}: {text!r} PEs on {name}: expected 1 to {SLOTS_MOST}")
    return value
