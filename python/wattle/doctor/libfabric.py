"""Asks libfabric, which carries data between nodes over the networks that UCX does not serve, for its providers."""

from __future__ import annotations

from dataclasses import dataclass, field

from wattle.doctor import probe

WITHIN = ("shm", "sm2")  # providers within a node


@dataclass(frozen=True)
class Libfabric:
    """The answer of libfabric: its version and the providers between nodes that work here, in its own order. `why`: the
    reason where something is not known.
    """

    version: str = ""
    providers: list[str] = field(default_factory=list)
    why: str = ""


def ask(library: str) -> Libfabric:
    """Loads the library in another process and asks it."""
    text, why = probe.ask("libfabric_probe.py", library, FI_LOG_LEVEL="none")
    version, *providers = text.splitlines() or [""]
    return Libfabric(version, [name for name in providers if name not in WITHIN], why)
