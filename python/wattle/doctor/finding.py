"""Findings of the doctor: facts in sections, each with a state, a reason and, if there is one, a safe remedy."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from wattle import input_files, limits
from wattle.errors import DamagedFile


class State(StrEnum):
    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """One finding. `says`: the finding in short. `why`: the reason where something is missing. `grant`: commands that
    make it available to some users only. `risk`: possible abuse by those users.
    """

    name: str
    state: State
    says: str
    why: str = ""
    grant: tuple[str, ...] = ()
    risk: str = ""

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "state": str(self.state), "grant": list(self.grant)}


@dataclass(frozen=True)
class Section:
    title: str
    findings: list[Finding]

    def as_dict(self) -> dict[str, object]:
        return {"title": self.title, "findings": [f.as_dict() for f in self.findings]}


@dataclass(frozen=True)
class Roots:
    """The folders of the kernel's trees; tests replace them. WATTLE_SYSFS replaces /sys, as in the runtime."""

    sys: Path = field(default_factory=lambda: Path(os.environ.get("WATTLE_SYSFS") or "/sys"))
    proc: Path = Path("/proc")


def read(path: Path) -> str | None:
    """The text of a kernel file. None where it is missing or not readable."""
    try:
        return input_files.read_bytes(path, limits.JSON_BYTES).decode("utf-8", errors="replace").strip()
    except DamagedFile:
        return None


def is_virtual(roots: Roots) -> bool:
    """Whether this is a virtual machine, which usually cannot use sensors and clocks of its host."""
    flags = read(roots.proc / "cpuinfo") or ""
    return " hypervisor" in flags or (read(roots.sys / "hypervisor" / "type") is not None)


def virtual_why(roots: Roots) -> str:
    return "; this is a virtual machine whose host does not share them" if is_virtual(roots) else ""
