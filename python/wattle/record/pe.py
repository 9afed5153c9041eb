"""The counts of one PE of a run, between init and finalize.

Any number that the runtime could not determine is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple, TypedDict

import msgspec

from wattle.base import limits
from wattle.text.provenance import Joules, unavailable

STATES = ("active", "spin", "yield", "asleep")  # in which a process draws power
NO_CORE = "no_core"  # ready to run and without a core, outside waits; None in files of earlier versions
SPENT = (*STATES, NO_CORE)  # the keys of state_s, which add up to wall_s
TIMES = ("compute", "transfer", "wait", NO_CORE)  # those of time_s, which also add up to wall_s
STAGES = ("spin", "yield", "asleep")
MOVES = ("put", "get", "amo")
KINDS = ("transfer", "wait", "other")
DROPS = ("foreign", "malformed")
WAYS = ("sent", "received")
SINGLE = ("messages", "seconds", "least_s")  # of Network.single
INTERFACES = ("net", "infiniband")

Numbers = dict[str, float | None]

# Types with limits. msgspec checks them while it reads the lists of which a large job has a million entries.
Count = Annotated[int, msgspec.Meta(ge=0, le=limits.WHOLE[1])]
Index = Annotated[int, msgspec.Meta(ge=-1, le=limits.WHOLE[1])]  # -1: none
Whole = Annotated[int, msgspec.Meta(ge=limits.WHOLE[0], le=limits.WHOLE[1])]
Amount = Annotated[float, msgspec.Meta(ge=0, le=limits.NUMBER)]
Number = Annotated[float, msgspec.Meta(ge=-limits.NUMBER, le=limits.NUMBER)]
StageSeconds = TypedDict("StageSeconds", dict.fromkeys(STAGES, Amount | None))


class Address(int):
    """An address or offset. The file has it in hexadecimal, such as "0x1f3"."""

    __slots__ = ()


class Module(msgspec.Struct, frozen=True):
    """One ELF file that was mapped into a PE."""

    path: str
    base: int
    build_id: str


class Site(msgspec.Struct, frozen=True, gc=False):
    """A call site: a place in the program that called the library. `offset` is an offset in the module's file for
    addr2line.
    """

    addr: Address
    module: Index  # index into the PE's modules; -1 where no module holds the address
    offset: Address
    call: str
    kind: str
    calls: Count
    bytes: Count
    timed_calls: Count
    time_s: Amount | None
    wait_s: StageSeconds
    waits: Count
    joules: dict[str, Number | None]  # by domain; shares of the PE's joules, so always modelled
    path: Index = -1  # index of the node above the call; -1: it has no caller, or the paths are not known
    mark: Count = 0  # by which other PEs count what they do for it; 0: none, as in files of earlier versions
    waited: Annotated[list[Count], msgspec.Meta(max_length=limits.CLASSES)] = []


CUT, OTHER, SIGNAL, PYTHON, REGION = -2, -3, -4, -5, -6  # values of PathNode.module, for nodes that are no address


class PythonPlace(msgspec.Struct, frozen=True):
    """The place of a Python frame. `line` 0: not known."""

    file: str
    function: str
    line: int


class UserRegion(msgspec.Struct, frozen=True):
    """A region that the program marks, by its name and the region around it. `times`: how often it began. `time_s`: the
    time in it and in no inner region, of the thread that initialized the library. None of killed processes.
    """

    name: str
    outer: int  # its index, which is smaller; -1: none
    times: int | None
    time_s: float | None


class PathNode(NamedTuple):
    """A caller in a call path. `module` is CUT where the callers above are not known or deeper than asked for, OTHER
    for paths beyond the number that the runtime tells apart, and SIGNAL where a signal interrupted the thread. A
    frame of PYTHON has the index of its place in `offset`, and a region that of the innermost region. A region is the
    outermost node of a path.
    """

    parent: Index  # index of the caller's node; -1: it has no caller
    module: Whole  # index into the PE's modules; -1: in no module
    offset: Count


class Network(msgspec.Struct, frozen=True):
    """The traffic between this PE and PEs of other nodes. `dropped` counts messages that were not from a PE of this job
    or had no valid contents; none of them was written to memory. `bytes` counts bytes in messages with their
    headers, and `hardware` payload that a network card moved by RMA, without a message. `merged` counts operations that
    left in a message which an earlier one began. `single` has the number of short messages with one operation, the
    seconds to send all of them, and those of the quickest (`least_s`). Both are None in files of earlier versions.
    """

    name: str
    dropped: Numbers
    messages: Numbers
    bytes: Numbers  # sent, received, hardware
    merged: float | None = None
    single: Numbers | None = None  # messages, seconds, least_s


class Region(msgspec.Struct, frozen=True):
    """The program between a barrier and the next one, as the governor saw it. `addr`: where that barrier returns.
    `follows`: the share of its computing time that follows the clock, at most; None where it is not known.
    """

    addr: int
    instances: int
    seen: int
    acted: int
    compute_s: float | None
    slack_s: float | None
    lost_s: float | None
    follows: float | None = None


class Clocks(msgspec.Struct, frozen=True):
    """The governor's changes to this PE's clock. `changes` and later fields are None where nothing was governed.
    `memory_bound_s`: seconds computed at a lower clock because memory set the pace. `counters`: why that is not found.
    """

    mode: str
    scaling: str
    knob: str
    why: str
    changes: int | None = None
    slack_s: float | None = None
    slow_s: float | None = None  # seconds of the slack at the lowest clock
    lost_s: float | None = None
    price_s: float | None = None
    failed: str = ""
    hints: bool = False  # the knob only suggests clocks, so the real ones are not known
    memory_bound_s: float | None = None
    counters: str = ""
    regions: tuple[Region, ...] = ()


class Recorded(msgspec.Struct, frozen=True):
    """The result of a dry run for one PE, by the model: its CPU joules at the recorded clocks, and the joules saved
    against the normal clock. `why`: the reason where they are not known.
    """

    joules: Joules
    saved: Joules
    why: str = ""


class Operations(msgspec.Struct, frozen=True):
    """Counts of the processor's counters in user mode. The cache is that of the last level. None where a count is not
    known; `why` gives the reasons.
    """

    instructions: float | None
    branches: float | None
    loads: float | None
    stores: float | None
    cycles: float | None = None
    cache_references: float | None = None
    cache_misses: float | None = None
    why: str = ""


COUNTED = tuple(name for name in Operations.__struct_fields__ if name != "why")


class Interface(msgspec.Struct, frozen=True):
    """Packets and bytes of a network interface (`kind` net) or of a port of an InfiniBand device (infiniband) during
    the job, those of other programs included. None where a count is not known.
    """

    name: str
    kind: str
    packets: Numbers  # sent, received
    bytes: Numbers


class Interfaces(msgspec.Struct, frozen=True):
    """The interfaces of a node. `why`: the reason where some or all are missing."""

    list: list[Interface]
    why: str = ""


class Cores(msgspec.Struct, frozen=True):
    """The cores of a process, and its time without one. `source` of the time without a core: schedstat, cpu time (then
    it includes time in which the kernel blocked the process), simulation, or empty. `in_waits_s` is part of the waits.
    `throttled_s`: for all processes of its control groups, added up over cores. `quota`: in cores; None: unlimited.
    `threads_cores` are those of its other busy threads. `until_s`: of a killed process, the time since the start up to
    which these figures are known; None for any other. Of a killed one the other threads and control groups are not
    known.
    """

    source: str
    in_waits_s: float | None
    other_threads_s: float | None
    other_busy_threads: int
    throttled_s: float | None
    quota: float | None
    cores: frozenset[int]
    threads_cores: frozenset[int]
    until_s: float | None = None


class Partners(msgspec.Struct, frozen=True):
    """The calls of a process that name one partner, as lists of equal length: numbers of partners, calls, bytes that
    were moved to or from them, and seconds of waiting for them, as far as a call names the process that it waits for.
    """

    pe: list[int]
    calls: list[int]
    bytes: list[float]
    wait_s: list[float]


STEP_COUNTS = (
    "times",
    "transfers",
    "same_pe",
    "next_there",
    "same_there",
    "stride_there",
    "next_here",
    "same_here",
    "stride_here",
    "private_here",
    "compared",
    "unchanged",
    "bursts",
    "burst_calls",
)


class Step(NamedTuple):
    """A pair of call sites, of which `to` was the thread's next call after `origin`, with counts of noted calls. See
    docs/profile.md for their meaning. A tuple, because a large job has a million.
    """

    origin: Count  # index of a site
    to: Count
    times: Count
    transfers: Count
    same_pe: Count
    next_there: Count
    same_there: Count
    stride_there: Count
    next_here: Count
    same_here: Count
    stride_here: Count
    private_here: Count
    compared: Count
    unchanged: Count
    bursts: Count
    burst_calls: Count
    time_s: Amount
    bytes: Count
    area: Whole
    low: Whole
    high: Whole


class Sequence(msgspec.Struct, frozen=True):
    """The order of a process's calls, from samples. `timer_s`: the time that reading the clock adds to a timed call.
    The sites' times are without it.
    """

    noted: int
    lost: int
    timer_s: float | None
    steps: list[Step]


class Served(msgspec.Struct, frozen=True):
    """The requests of one PE from the call sites of one mark, as the PE that served them counted. `pe` -1: those that
    found no row. Its own row has the answers to its own requests. `agents_s`: CPU time of the library's own threads,
    `handlers_s` time of handlers in the program's threads, `waits_s` time in waits. Joules, cpu and dram: of the first
    two.
    """

    pe: int
    mark: int
    requests: int
    bytes: int
    agents_s: float | None
    handlers_s: float | None
    waits_s: float | None
    cpu: float | None
    dram: float | None


class Wait(msgspec.Struct, frozen=True):
    """The wait in which a process was at its end. `module`, `offset`: as in Site."""

    module: int
    offset: int
    call: str
    for_s: float | None


class Ended(msgspec.Struct, frozen=True):
    """The end of a process that could not write its profile itself. `time`: how the end is known: `seen`, `job` (the
    end of the job), `record` (the last record of the process). `partial`: some call sites are missing.
    """

    signal: int | None
    exit_code: int | None
    time: str
    realtime_s: float | None  # seconds since 1970
    partial: bool
    wait: Wait | None


ENDS = ("seen", "job", "record")


class PE(msgspec.Struct, frozen=True):
    """The activity of one PE between init and finalize, or until it was ended."""

    pe: int
    n_pes: int
    host: str
    boot_id: str  # the kernel's boot id, equal on nodes that share a machine; empty where it is not known
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
    idle: list[Joules]  # of the idle node
    others: list[Joules]  # of other programs on the node, where a sensor saw them; else empty
    reads_node: bool  # whether it is the node's reader, even where there was nothing to read
    meter: dict[str, str]  # name of the meter and why no better one was used; empty except in the reader's profile
    modules: list[Module]
    sites: list[Site]
    network: Network | None  # None where all PEs were on one node
    clocks: Clocks | None = None  # None without a governor
    thresholds: dict[str, int] | None = None  # bytes by kind of transfer, if WATTLE_TRANSFERS was set
    trials: int = 0  # transfers that used the other way than the thresholds say, to learn them
    recorded: Recorded | None = None  # if the knob only recorded
    wake_s: float | None = None  # seconds that sockets were awake for this PE; None in older profiles
    second_s: float | None = None  # the part of its busy seconds on a core whose other thread was busy
    operations: Operations | None = None  # if WATTLE_COUNTERS asked for them
    interfaces: Interfaces | None = None  # of the node; only in its reader's profile, if WATTLE_COUNTERS was set
    passed: dict[str, int] = {}  # calls of MPI that the module does not know, by name
    nested: list[Joules] = []  # of the node, in no sum: others contain them or lie in them
    wait_joules: Numbers = {}  # cpu and dram while it waited, by the model; empty in old files
    cores: Cores | None = None  # None in files of earlier versions
    partners: Partners | None = None  # None in files of earlier versions, and in jobs of more than 4096 processes
    sizes: dict[str, list[int]] = {}  # by call: its calls of 2^(k-1) to 2^k - 1 bytes, for k >= 0
    paths: list[PathNode] = []  # each follows its parent; empty in files of schema 1
    python: list[PythonPlace] = []  # those of Python frames
    user_regions: list[UserRegion] = []  # that the program marks; each follows its outer one
    ended: Ended | None = None  # None where the process wrote its profile itself
    sequence: Sequence | None = None  # None in files of earlier versions, and of killed processes
    served: list[Served] = []  # for each PE that asked; empty in files of earlier versions
    waited_from_s: float | None = None  # seconds up to which the first class of Site.waited reaches
    shows_idle: bool | None = None  # whether the MPI shows where it is idle; None: no MPI, or not known
    api: str = ""  # `shmem`, `mpi` and others: the front end; empty in files of version 0.1

    def module_of(self, site: Site) -> Module | None:
        return self.modules[site.module] if 0 <= site.module < len(self.modules) else None


def find(figures: Iterable[Joules], domain: str) -> Joules:
    """The figure of a domain; unavailable where there is none."""
    return next((j for j in figures if j.domain == domain), unavailable(domain))


def noun(pes: Iterable[PE]) -> str:
    """The word for a process of a job: `rank` if all of these are MPI programs, and otherwise `PE`."""
    apis = {pe.api for pe in pes}
    return "rank" if apis == {"mpi"} else "PE"


def add(values: Iterable[float | None]) -> float | None:
    """The sum; None where one value is None."""
    result = 0.0
    for value in values:
        if value is None:
            return None
        result += value
    return result
