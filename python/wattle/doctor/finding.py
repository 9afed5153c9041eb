"""What the doctor finds: facts in sections, each with a state, a reason and, where there is one, a safe way out."""

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
    """`says`: what was found, short. `why`: where something is not there. `grant`: commands that make it available
    without giving it to everybody. `risk`: what those who get it could do with it."""

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
    """Where the kernel's trees are; tests point them at made-up ones. WATTLE_SYSFS moves /sys, as for the runtime."""

    sys: Path = field(default_factory=lambda: Path(os.environ.get("WATTLE_SYSFS") or "/sys"))
    proc: Path = Path("/proc")


def read(path: Path) -> str | None:
    """A kernel file's text; None where it is not there or may not be read."""
    try:
        return input_files.read_bytes(path, limits.JSON_BYTES).decode("utf-8", errors="replace").strip()
    except DamagedFile:
        return None


def is_virtual(roots: Roots) -> bool:
    """True in a virtual machine: sensors and clocks are usually the host's there."""
    flags = read(roots.proc / "cpuinfo") or ""
    return " hypervisor" in flags or (read(roots.sys / "hypervisor" / "type") is not None)


def virtual_why(roots: Roots) -> str:
    return "; this is a virtual machine, and its host keeps them to itself" if is_virtual(roots) else ""
