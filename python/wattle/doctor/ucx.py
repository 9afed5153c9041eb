"""Asks UCX, which carries data between nodes, for its version and its transports."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wattle.doctor import probe

INFINIBAND = ("ib", "rdmacm")  # components of UCX
# Transports within a node or a process. All others lead to other nodes.
WITHIN = ("self", "sysv", "posix", "cma", "knem", "xpmem", "cuda_copy", "cuda_ipc", "rocm_copy", "rocm_ipc", "gdr_copy")


@dataclass(frozen=True)
class Ucx:
    """The answer of UCX. `transports`: transports between nodes by name, with their devices. `components`: components
    that UCX could load, with or without hardware. `why`: the reason where something is not known.
    """

    version: str = ""
    transports: dict[str, list[str]] = field(default_factory=dict)
    components: list[str] = field(default_factory=list)
    why: str = ""

    @property
    def words(self) -> str:
        """The transports as text, such as `tcp (eth0, lo)`."""
        return ", ".join(f"{name} ({', '.join(devices)})" for name, devices in self.transports.items())

    @property
    def only_loopback(self) -> bool:
        return {device for devices in self.transports.values() for device in devices} <= {"lo"}


def ask(library: str) -> Ucx:
    """Loads the library in another process and asks it."""
    text, why = probe.ask("ucx_probe.py", library, UCX_LOG_LEVEL="fatal", UCX_WARN_UNUSED_ENV_VARS="n")
    found = parse(text)
    return Ucx(found.version, why=why) if why else found


def parse(text: str) -> Ucx:
    """Parses the probe's output: the version, then UCX's description of a context."""
    version = text.partition("\n")[0].strip()
    components = re.findall(r"^#\s+component \d+\s+:\s+(\S+)", text, re.MULTILINE)
    transports: dict[str, list[str]] = {}
    for name, device in re.findall(r"^#\s+resource \d+\s+:.*--\s+([^/\s]+)/(\S+)", text, re.MULTILINE):
        if name not in WITHIN:
            transports.setdefault(name, []).append(device)
    return Ucx(version, {name: sorted(set(devices)) for name, devices in transports.items()}, components)
