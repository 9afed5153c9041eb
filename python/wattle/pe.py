"""What one PE of a run counted between init and finalize.

Any number the runtime could not determine is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wattle.provenance import Joules, unavailable

STATES = ("active", "spin", "yield", "asleep")
TIMES = ("compute", "transfer", "wait")
STAGES = ("spin", "yield", "asleep")
MOVES = ("put", "get", "amo")
KINDS = ("transfer", "wait", "other")
DROPS = ("foreign", "malformed")
WAYS = ("sent", "received")

Numbers = dict[str, float | None]


@dataclass(frozen=True)
class Module:
    """One ELF file that was mapped into a PE."""

    path: str
    base: int
    build_id: str


@dataclass(frozen=True)
class Site:
    """One place in the program that called the library. `offset` is inside the module's file, ready for addr2line."""

    addr: int
    module: int  # index into the PE's modules; -1 where the address lies in none
    offset: int
    call: str
    kind: str
    calls: int
    bytes: int
    timed_calls: int
    time_s: float | None
    wait_s: Numbers
    waits: int
    joules: Numbers  # by domain; shares, so always modelled


@dataclass(frozen=True)
class Network:
    """What went between this PE and those of other nodes. `dropped`: messages that no PE of the job can have sent
    (of another job, of nobody's), and such as made no sense; none of them was written to memory. `bytes` are those in
    messages, their headers included, and `hardware`: payload that a network card moved by itself, in no message."""

    name: str
    dropped: Numbers
    messages: Numbers
    bytes: Numbers  # sent, received, hardware


@dataclass(frozen=True)
class Clocks:
    """What the governor did to this PE's clock. `changes` and what follows are None where nothing was governed."""

    mode: str
    scaling: str
    knob: str
    why: str
    changes: int | None = None
    slack_s: float | None = None
    slow_s: float | None = None  # of that at the lowest clock
    lost_s: float | None = None
    price_s: float | None = None
    failed: str = ""
    hints: bool = False  # the knob only suggests clocks: nobody knows those that came of it


@dataclass(frozen=True)
class Recorded:
    """What the clocks that were noted in a dry run would have made of this PE's CPU joules, by the model: the joules,
    and how many fewer than at the normal clock. `why` they are not known."""

    joules: Joules
    saved: Joules
    why: str = ""


@dataclass(frozen=True)
class Operations:
    """What the processor's counters counted. None where `why` says why not."""

    instructions: float | None
    branches: float | None
    loads: float | None
    stores: float | None
    why: str = ""


@dataclass(frozen=True)
class PE:
    """What one PE did between init and finalize."""

    pe: int
    n_pes: int
    host: str
    boot_id: str  # the kernel's, alike on all nodes that are one machine; empty where it is not known
    pid: int
    program: str
    build_id: str
    wall_s: float | None
    cpu_s: float | None
    cpu_init_s: float | None
    state_s: Numbers
    time_s: Numbers
    bytes: Numbers
    rescues: int | None
    sleeps: int | None
    joules: list[Joules]
    node: list[Joules]  # of the whole node; only in its reader's profile, else empty
    idle: list[Joules]  # what nobody on the node caused
    reads_node: bool  # it is the node's reader, whether or not there was anything to read
    meter: dict[str, str]  # name and why no better one was taken; empty but in the node's reader's profile
    modules: list[Module]
    sites: list[Site]
    network: Network | None  # where the job had PEs on other nodes
    clocks: Clocks | None = None  # where the governor was asked for
    thresholds: dict[str, int] | None = None  # bytes by kind of transfer, where WATTLE_TRANSFERS was
    trials: int = 0  # transfers that went the other way than these say, to learn them
    recorded: Recorded | None = None  # where the knob only recorded
    operations: Operations | None = None  # where WATTLE_COUNTERS asked for them

    def module_of(self, site: Site) -> Module | None:
        return self.modules[site.module] if 0 <= site.module < len(self.modules) else None


def find(figures: Iterable[Joules], domain: str) -> Joules:
    """The figure of a domain; unavailable where there is none."""
    return next((j for j in figures if j.domain == domain), unavailable(domain))


def add(values: Iterable[float | None]) -> float | None:
    """Sum; None as soon as one value is not known."""
    result = 0.0
    for value in values:
        if value is None:
            return None
        result += value
    return result
