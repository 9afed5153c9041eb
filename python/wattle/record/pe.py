"""The fields of the file that a PE writes at its end, profile/pe-00000.json, with their types and limits.

docs/profile.md has their meaning. A test holds that page, the writer (src/record/profile_file.c) and this table to the
same fields. Any number that the runtime could not determine is None, never 0. A field with a default is not in every
file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple, TypedDict

import msgspec

from wattle.base import limits
from wattle.base.checked_types import Address, Amount, Count, Index, Number, Whole
from wattle.text.provenance import Figure, Joules, unavailable

SCHEMA = 4  # of the file
Stage = Literal["spin", "yield", "asleep"]
State = Literal["active", Stage]
Time = Literal["compute", "transfer", "wait", "no_core"]
CpuOrDram = Literal["cpu", "dram"]  # the domains of the model
STATES: tuple[State, ...] = ("active", "spin", "yield", "asleep")  # in which a process draws power
NO_CORE: Literal["no_core"] = "no_core"  # ready to run and without a core, outside waits
STAGES: tuple[Stage, ...] = ("spin", "yield", "asleep")
MOVES: tuple[Literal["put", "get", "amo"], ...] = ("put", "get", "amo")
WAYS: tuple[Literal["sent", "received"], ...] = ("sent", "received")

Numbers = dict[str, float | None]
Quantity = Amount | None  # None: not known
Seconds = Quantity

# Objects of numbers. The states add up to wall_s, and so do the times.
States = TypedDict(
    "States", {"active": Seconds, "spin": Seconds, "yield": Seconds, "asleep": Seconds, "no_core": Seconds}
)
Times = TypedDict("Times", {"compute": Seconds, "transfer": Seconds, "wait": Seconds, "no_core": Seconds})
Stages = TypedDict("Stages", {"spin": Seconds, "yield": Seconds, "asleep": Seconds})
Moves = TypedDict("Moves", {"put": Quantity, "get": Quantity, "amo": Quantity})
Modelled = TypedDict("Modelled", {"cpu": Quantity, "dram": Quantity})
Sent = TypedDict("Sent", {"sent": Quantity, "received": Quantity})
Messages = TypedDict("Messages", {"sent": Quantity, "received": Quantity, "merged": Quantity})
Moved = TypedDict("Moved", {"sent": Quantity, "received": Quantity, "hardware": Quantity})
Single = TypedDict("Single", {"messages": Quantity, "seconds": Quantity, "least_s": Quantity})
Dropped = TypedDict("Dropped", {"foreign": Quantity, "malformed": Quantity})
Meter = TypedDict("Meter", {"name": str, "why": str})
NO_METER: Meter = {"name": "", "why": ""}

# Texts of which one is allowed.
CallKind = Annotated[str, msgspec.Meta(pattern="^(transfer|wait|other)$")]
InterfaceKind = Annotated[str, msgspec.Meta(pattern="^(net|infiniband)$")]
Sets = Annotated[str, msgspec.Meta(pattern="^(clocks|hints)$")]
EndTime = Annotated[str, msgspec.Meta(pattern="^(seen|job|record)$")]


class Module(msgspec.Struct, frozen=True):
    """One ELF file that was mapped into a PE."""

    path: str
    base: Address
    build_id: str


class Site(msgspec.Struct, frozen=True, gc=False):
    """A call site: a place in the program that called the library. `offset` is an offset in the module's file for
    addr2line.
    """

    addr: Address
    module: Index  # index into the PE's modules; -1 where no module holds the address
    offset: Address
    path: Index  # index of the node above the call; -1: it has no caller, or the paths are not known
    mark: Count  # the number under which other PEs count their work for this site; 0: none
    call: str
    kind: CallKind
    calls: Count
    bytes: Count
    timed_calls: Count
    time_s: Seconds
    waits: Count
    wait_s: Stages
    joules: dict[str, Number | None]  # by domain; shares of the PE's joules, so always modelled
    waited: Annotated[list[Count], msgspec.Meta(max_length=limits.CLASSES)] = []

    @property
    def waiting_s(self) -> float | None:
        return add(self.wait_s[stage] for stage in STAGES)


CUT, OTHER, SIGNAL, PYTHON, REGION = -2, -3, -4, -5, -6  # values of PathNode.module, for nodes that are no address


class PathNode(NamedTuple):
    """A caller in a call path. `module` is CUT where the callers above are not known or deeper than asked for, OTHER
    for paths beyond the number that the runtime tells apart, and SIGNAL where a signal interrupted the thread. A
    frame of PYTHON has the index of its place in `offset`, and a region that of the innermost region. A region is the
    outermost node of a path.
    """

    parent: Index  # index of the caller's node, which is smaller; -1: it has no caller
    module: Whole  # index into the PE's modules; -1: in no module
    offset: Count


class PythonPlace(msgspec.Struct, frozen=True):
    """The place of a Python frame. `line` 0: not known."""

    file: str
    function: str
    line: Count


class UserRegion(msgspec.Struct, frozen=True):
    """A region that the program marks, by its name and the region around it. `times`: how often it began. `time_s`: the
    time in it and in no inner region, of the thread that initialized the library. None of killed processes.
    """

    name: str
    outer: Index  # its index, which is smaller; -1: none
    times: Count | None
    time_s: Seconds


class Network(msgspec.Struct, frozen=True):
    """The traffic between this PE and PEs of other nodes."""

    name: str
    paths: str
    dropped: Dropped
    messages: Messages
    single: Single | None  # None in sums
    bytes: Moved


class Mpi(msgspec.Struct, frozen=True):
    library: str | None
    transport: str | None
    why: str
    paths: str
    shows_idle: bool


class Domain(msgspec.Struct, frozen=True):
    """A clock domain of this PE."""

    domain: Count
    normal_khz: Quantity
    planned_khz: Quantity = None


class Limit(msgspec.Struct, frozen=True):
    """A limit that was asked for, and set on so many packages."""

    unit: str
    asked: Amount
    set: Quantity
    packages: Count
    why: str


class Uncore(msgspec.Struct, frozen=True):
    packages: Count
    changes: Count
    why: str
    failed: str


class PowerBudget(msgspec.Struct, frozen=True):
    """The job's budget of watts, and what it drew by the model up to the last exchange. `highest_w`: of a second.
    `own_w`: of this PE, beside its equal part.
    """

    asked: str
    watts: Amount
    least_w: Amount
    most_w: Amount
    mean_w: Quantity
    highest_w: Quantity
    seconds: Seconds
    above_s: Quantity
    exchanges: Count
    own_w: Quantity
    equal_w: Amount


class Region(msgspec.Struct, frozen=True):
    """The program between a barrier and the next one, as the governor saw it. `addr`: where that barrier returns.
    `follows`: the share of its computing time that follows the clock, at most; None where it is not known.
    """

    addr: Address
    instances: Count
    seen: Count
    acted: Count
    compute_s: Seconds
    slack_s: Seconds
    lost_s: Number | None
    follows: Quantity


class Clocks(msgspec.Struct, frozen=True):
    """The governor's changes to this PE's clock. `sets` and later fields are missing where nothing was governed."""

    mode: str
    scaling: str
    knob: str
    why: str
    uncore_limit: Limit | None = None
    package_limit: Limit | None = None
    uncore: Uncore | None = None
    domains: Count | None = None
    mine: list[Domain] = []
    sets: Sets = "clocks"
    price_s: Seconds = None
    changes: Count | None = None
    slack_s: Seconds = None
    slow_s: Seconds = None
    lost_s: Seconds = None
    memory_bound_s: Seconds = None
    failed: str = ""
    counters: str = ""
    power_budget: PowerBudget | None = None
    regions: list[Region] = []

    @property
    def hints(self) -> bool:
        """Whether the knob only suggests clocks, so that the real ones are not known."""
        return self.sets == "hints"


class Recorded(msgspec.Struct, frozen=True):
    """The result of a dry run for one PE, by the model: its CPU joules at the recorded clocks, and the joules saved
    against the normal clock, each of one domain. `why`: the reason where they are not known.
    """

    joules: Annotated[list[Figure], msgspec.Meta(min_length=1, max_length=1)]
    saved: Annotated[list[Figure], msgspec.Meta(min_length=1, max_length=1)]
    why: str


class Operations(msgspec.Struct, frozen=True):
    """Counts of the processor's counters in user mode. The cache is that of the last level. None where a count is not
    known; `why` gives the reasons.
    """

    instructions: Quantity
    branches: Quantity
    loads: Quantity
    stores: Quantity
    cycles: Quantity
    cache_references: Quantity
    cache_misses: Quantity
    why: str


COUNTED = tuple(name for name in Operations.__struct_fields__ if name != "why")


class Interface(msgspec.Struct, frozen=True):
    """Packets and bytes of a network interface (`kind` net) or of a port of an InfiniBand device (infiniband) during
    the job, those of other programs included. None where a count is not known.
    """

    name: str
    kind: InterfaceKind
    packets: Sent
    bytes: Sent


class Interfaces(msgspec.Struct, frozen=True):
    """The interfaces of a node. `why`: the reason where some or all are missing."""

    found: list[Interface] = msgspec.field(name="list")
    why: str


class Transfers(msgspec.Struct, frozen=True):
    """ARMCI's governed transfers, with thresholds in bytes."""

    mode: str
    learns: bool
    put: Count
    get: Count
    acc: Count
    strided: Count
    polled: Count
    slept: Count
    scaled: Count
    trials: Count

    @property
    def thresholds(self) -> dict[str, int]:
        """The thresholds by kind of transfer."""
        return {kind: getattr(self, kind) for kind in ("put", "get", "acc", "strided")}


class Cores(msgspec.Struct, frozen=True):
    """The cores of a process, and its time without one. Of a killed one the other threads and control groups are not
    known.
    """

    source: str  # of the time without a core: schedstat, cpu time, simulation, or empty
    in_waits_s: Seconds
    other_threads_s: Seconds
    other_busy_threads: Count | None
    throttled_s: Seconds
    quota_cores: Quantity  # None: unlimited
    cores: frozenset[Count]
    cores_of_threads: frozenset[Count]
    until_s: Seconds = None


class Partners(msgspec.Struct, frozen=True):
    """The calls of a process that name one partner, as lists of equal length."""

    pe: list[Count]
    calls: list[Count]
    bytes: list[Amount]
    wait_s: list[Amount]


class Sizes(msgspec.Struct, frozen=True):
    """The calls of 2^(k-1) to 2^k - 1 bytes, for k >= 0."""

    call: str
    counts: Annotated[list[Count], msgspec.Meta(max_length=limits.CLASSES)]


class Passed(msgspec.Struct, frozen=True):
    """Calls of MPI that the module does not know."""

    call: str
    calls: Count


class Step(NamedTuple):
    """A pair of call sites, of which `to` was the thread's next call after `origin`, with counts of noted calls. A
    tuple, because a large job has a million.
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
    reductions: Count = 0  # from here on, files of earlier versions have no columns
    alike: Count = 0
    inputs: Count = 0
    ready: Count = 0
    any_source: Count = 0
    gaps: Count = 0
    gap_s: Amount = 0.0


STEP_COLUMNS = ["from", *Step._fields[1:]]
STEP_COLUMNS_AT_LEAST = STEP_COLUMNS[: -len(Step._field_defaults)]
NO_COUNTS = ("origin", "to", "time_s", "bytes", "area", "low", "high", "gap_s")
STEP_COUNTS = tuple(name for name in Step._fields if name not in NO_COUNTS)


class Sequence(msgspec.Struct, frozen=True):
    """The order of a process's calls, from samples. `timer_s`: the time that reading the clock adds to a timed call.
    The sites' times are without it.
    """

    noted: Count
    lost: Count
    timer_s: Seconds
    columns: list[str]
    steps: list[Step]


class Served(NamedTuple):
    """The requests of one PE from the call sites of one mark, as the PE that served them counted. `pe` -1: requests for
    which the table had no space. Its own row has the answers to its own requests. Joules, cpu and dram: of agents and
    handlers.
    """

    pe: Index
    mark: Count
    requests: Count
    bytes: Count
    agents_s: Seconds
    handlers_s: Seconds
    waits_s: Seconds
    cpu: Quantity
    dram: Quantity


class ServedRows(msgspec.Struct, frozen=True):
    agents_s: Seconds
    columns: list[str]
    rows: list[Served]


class Wait(msgspec.Struct, frozen=True):
    """The wait in which a process was at its end. `module`, `offset`: as in Site."""

    addr: Address
    module: Index
    offset: Address
    call: str
    for_s: Seconds


class Ended(msgspec.Struct, frozen=True):
    """The end of a process that could not write its profile itself. `time`: how the end is known: `seen`, `job` (the
    end of the job), `record` (the last record of the process). `partial`: some call sites are missing.
    """

    signal: Count | None
    exit_code: Count | None
    time: EndTime
    realtime_s: Seconds  # since 1970
    partial: bool
    wait: Wait | None


class NodeJoules(msgspec.Struct, frozen=True):
    """The joules of a whole node; those of the idle node; those that are in no sum, because others contain them or lie
    in them; and those of other programs, where a sensor saw some.
    """

    joules: list[Figure]
    idle: list[Figure]
    nested: list[Figure]
    others: list[Figure]
    others_cpu_s: Seconds


class PE(msgspec.Struct, frozen=True):
    """The activity of one PE between init and finalize, or until it was ended."""

    pe: Count
    n_pes: Annotated[int, msgspec.Meta(ge=1, le=limits.PES)]
    pid: Count
    host: str
    boot_id: str  # the kernel's boot id, equal on nodes that share a machine; empty where it is not known
    node_number: Count | None
    program: str
    build_id: str
    wattle_version: str
    api: str  # the front end: `shmem`, `mpi` and others
    wall_s: Seconds
    cpu_s: Seconds
    cpu_init_s: Seconds
    wake_s: Seconds  # in which sockets were awake for this PE
    second_s: Seconds  # the part of its busy seconds on a core whose other thread was busy
    state_s: States
    time_s: Times
    bytes: Moves
    sleeps: Count | None
    rings: Count | None
    rescues: Count | None
    handled: Count | None
    wake_price_s: Seconds
    cores: Cores = msgspec.field(name="no_core")
    joules: list[Figure]
    wait_joules: Modelled  # while it waited, by the model
    node: NodeJoules | None  # only in the profile of the node's reader
    network: Network | None  # None where all PEs were on one node
    partners: Partners | None  # None in jobs of more than 4096 processes
    sizes: list[Sizes]
    clocks: Clocks | None  # None without a governor
    waited_from_s: Seconds  # up to which the first class of Site.waited reaches
    sites: list[Site]
    paths: list[PathNode]  # each follows its parent
    modules: list[Module]
    python: list[PythonPlace] = []  # those of Python frames
    user_regions: list[UserRegion] = msgspec.field(name="regions", default=[])  # each follows its outer one
    ended: Ended | None = None  # None where the process wrote its profile itself
    meter: Meter | None = None  # only in the profile of the node's reader
    mpi: Mpi | None = None
    sequence: Sequence | None = None
    served: ServedRows | None = None
    passed: list[Passed] = []
    recorded: Recorded | None = None  # if the knob only recorded
    operations: Operations | None = None  # if WATTLE_COUNTERS asked for them
    interfaces: Interfaces | None = None  # of the node; only in its reader's profile, if WATTLE_COUNTERS was set
    transfers: Transfers | None = None

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
