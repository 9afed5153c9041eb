"""The columns of all tables, with their types and meanings. The reference and the frames' schemas are made from them.

Names of numbers end in their unit: `_s` seconds, `_bytes`, `_percent`; `joules...` and `watts...` are in J and W. A
number that is not known is null, never 0. `repeat` counts from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column. `kind`: `int`, `float` or `text`."""

    name: str
    kind: str
    words: str


def _columns(kind: str, words_of: Mapping[str, str]) -> list[Column]:
    return [Column(name, kind, words) for name, words in words_of.items()]


def provenance_of(figure: str, what: str) -> list[Column]:
    """The columns of a figure that has a range: value, ends of the range, provenance and source."""
    return [
        Column(figure, "float", what),
        Column(f"{figure}_low", "float", f"least of `{figure}`, with about 95 % confidence"),
        Column(f"{figure}_high", "float", f"most of `{figure}`, with about 95 % confidence"),
        Column("provenance", "text", f"of `{figure}`: `measured`, `modelled` or `unavailable`"),
        Column("source", "text", "the sensor, or the machine profile"),
    ]


REPEAT = Column("repeat", "int", "the repeat of `--repeat`")
PROCESS = Column("process", "int", "number of the PE or rank")
HOST = Column("host", "text", "name of the node")
WAITS = {
    "wait_s": "waiting",
    "spin_s": "part of `wait_s` in which it spun",
    "yield_s": "part of `wait_s` in which it yielded its core",
    "asleep_s": "part of `wait_s` in which it slept",
}
CALLS = [
    *_columns("int", {"calls": "number of calls", "bytes": "bytes moved"}),
    *_columns("float", {"time_s": "in the calls, with their waits", **WAITS}),
]
PLACE = [
    *_columns("text", {"function": "name of the function", "file": "source file"}),
    Column("line", "int", "line of the source file"),
    Column("module", "text", "program or library"),
]
JOULES = provenance_of("joules", "of all domains together")

SINCE = "since the entry before; null where the change is not beyond noise"


def _side(name: str) -> list[Column]:
    """The columns of one side of a comparison."""
    return [
        Column(name, "float", "median of the repeats"),
        Column(f"{name}_least", "float", "least of the repeats"),
        Column(f"{name}_most", "float", "most of the repeats"),
        Column(f"{name}_uncertainty", "float", "of joules: half-width of the meter"),
        Column(f"{name}_provenance", "text", "of joules: `measured`, `modelled` or `unavailable`"),
        Column(f"{name}_source", "text", "of joules: the sensor, or the machine profile"),
    ]


TABLES: dict[str, list[Column]] = {
    "processes": [
        REPEAT,
        PROCESS,
        HOST,
        Column("pid", "int", "process id"),
        *_columns(
            "float",
            {
                "wall_s": "from init to finalize",
                "cpu_s": "CPU time",
                "compute_s": "outside calls",
                "transfer_s": "in calls that move data, without waiting",
                "no_core_s": "ready to run, and without a core",
                **WAITS,
                "put_bytes": "bytes that it put",
                "get_bytes": "bytes that it got",
                "amo_bytes": "bytes of atomic operations",
                "sent_messages": "to other nodes; null on one node",
                "received_messages": "from other nodes",
                "sent_bytes": "to other nodes",
                "received_bytes": "from other nodes",
            },
        ),
        *_columns("int", {"sleeps": "number of sleeps", "rescues": "number of sleeps that a timeout ended"}),
        *JOULES,
    ],
    "sites": [
        REPEAT,
        Column("site", "int", "number of the call site, from 0, the costliest first"),
        Column("call", "text", "the routine"),
        Column("kind", "text", "`transfer`, `wait` or `other`"),
        *PLACE,
        Column("path", "text", "the callers, from the outermost to the nearest"),
        Column("region", "text", "the regions that the program marks, from the outermost"),
        Column("processes", "int", "number of processes that called it"),
        Column("timed_calls", "int", "number of calls that were timed"),
        Column("waits", "int", "number of waits"),
        *CALLS,
        *JOULES,
    ],
    "paths": [
        REPEAT,
        Column("node", "int", "number of the node of the call tree, from 0; larger than that of `parent`"),
        Column("parent", "int", "node of the caller; null for an outermost one"),
        Column("name", "text", "region, function or call"),
        Column("kind", "text", "`region`, `frame`, `call`; `cut`: the callers above are not known"),
        *PLACE,
        *CALLS,
        *JOULES,
    ],
    "regions": [
        REPEAT,
        Column("region", "text", "its name, with the regions around it; empty: outside all"),
        Column("processes", "int", "number of processes that were in it"),
        Column("times", "int", "number of begins"),
        *_columns(
            "float",
            {
                "time_s": "of all processes, without inner regions",
                "calls_s": "part of `time_s` in calls",
                "wait_s": "part of `calls_s` in waits",
            },
        ),
        *JOULES,
    ],
    "traffic": [
        REPEAT,
        PROCESS,
        Column("partner", "int", "the process that its calls name"),
        Column("calls", "int", "number of calls"),
        *_columns("float", {"bytes": "moved to or from it", "wait_s": "waiting for it"}),
    ],
    "power": [
        REPEAT,
        Column("part", "text", "`process` or `node`"),
        PROCESS,
        HOST,
        Column("domain", "text", "such as `cpu`, `package-0` or `gpu-0`"),
        Column("statistic", "text", "`mean`; `peak`: highest mean over 0.1 s; `reading` of a sensor"),
        Column("at_s", "float", "middle of a reading, in seconds since 1970"),
        *provenance_of("watts", "mean, peak or reading"),
    ],
    "timeline": [
        REPEAT,
        PROCESS,
        HOST,
        Column("thread", "int", "of the process, from 0"),
        Column("begin_s", "float", "since the start of the first process"),
        Column("end_s", "float", "since the start of the first process"),
        Column("kind", "text", "`region`, `compute`, `call`, `spin`, `yield` or `asleep`"),
        Column("name", "text", "of the call or region"),
        Column("site", "text", "the line of the program"),
        Column("path", "text", "the callers, from the outermost"),
        Column("depth", "int", "number of spans around it"),
    ],
    "by_domain": [
        REPEAT,
        Column("part", "text", "`process`; of a node: `node` as a whole, `idle`, `others`, `nested` (in no sum)"),
        PROCESS,
        HOST,
        Column("domain", "text", "such as `cpu`, `dram`, `package-0` or `gpu-0`"),
        Column("scope", "text", "`process`, `core`, `package`, `dram`, `node` or `device`"),
        *provenance_of("joules", "of this domain"),
    ],
    "machine": [
        REPEAT,
        HOST,
        Column("boot_id", "text", "equal on nodes that share a machine"),
        Column("processes", "int", "number of processes on it"),
        Column("meter", "text", "name of the meter in use"),
        Column("meter_why", "text", "why no better meter was used"),
        Column("machine_profile", "text", "that modelled joules are computed by"),
        Column("cpu", "text", "name of the processor; null where the node is not the command's own host"),
        Column("cores", "int", "cores that the command could use; null as `cpu`"),
        Column("memory_bytes", "int", "memory; null as `cpu`"),
        Column("kernel", "text", "version of Linux; null as `cpu`"),
    ],
    "repeats": [
        REPEAT,
        Column("directory", "text", "of this repeat"),
        Column("started", "text", "in UTC"),
        Column("exit_code", "int", "of the program"),
        Column("n_processes", "int", "number of PEs or ranks"),
        Column("wall_s", "float", "from the first init to the last finalize"),
        Column("cpu_s", "float", "of all processes"),
        *provenance_of("joules", "of the nodes; of the processes, where those are not known"),
    ],
    "findings": [
        Column("finding", "int", "number of the finding, from 1, the most joules first"),
        Column("rule", "text", "name of the rule"),
        Column("title", "text", "the pattern"),
        Column("call", "text", "the routine of the first call site"),
        *PLACE,
        Column("change", "text", "lines of code"),
        Column("effort", "text", "of the change"),
        Column("sure", "text", "`high`, `medium` or `low`"),
        Column("rests_on", "text", "the basis of the saving"),
        *_columns(
            "float",
            {
                "saved_s_low": "least seconds that the change saves",
                "saved_s_high": "most seconds that the change saves",
                "saved_percent_low": "least share of the run's time",
                "saved_percent_high": "most share of the run's time",
            },
        ),
        *provenance_of("saved_joules", "of the nodes, middle of the range"),
    ],
    "comparison": [
        Column("metric", "text", "name of the figure, with its unit at the end: `wall_s`; `joules...` are in J"),
        *_side("before"),
        *_side("after"),
        Column("saving_percent", "float", "(before - after) / before x 100: positive is a saving"),
        Column("verdict", "text", "`beyond uncertainty`, `within uncertainty`, `not tested` or `unknown`"),
        Column("why", "text", "the reason of the verdict"),
    ],
    "history": [
        Column("program", "text", "with its arguments, number of processes and changed settings"),
        HOST,
        Column("commit", "text", "of the repository in which it ran"),
        Column("dirty", "int", "1: files differed from the commit"),
        Column("label", "text", "of `--label`"),
        Column("started", "text", "in UTC"),
        Column("repeats", "int", "number of runs"),
        Column("exit_code", "int", "of the program"),
        *_columns("float", {"wall_s": "median", "wall_saving_percent": SINCE, "joules_saving_percent": SINCE}),
        *provenance_of("joules", "of the nodes, median"),
    ],
    "energy": [
        Column("name", "text", "of the block or function"),
        HOST,
        Column("rank", "int", "in the communicator; null for one process"),
        Column("blocks", "int", "number of blocks or calls"),
        Column("wall_s", "float", "time in them"),
        Column("cpu_s", "float", "CPU time of this process and its children in that time"),
        Column("part", "text", "`program`, `others`, `idle`, `node` (the sum), or `nested` (in no sum)"),
        Column("domain", "text", "such as `cpu`, `dram`, `package-0` or `gpu-0`"),
        Column("scope", "text", "`process`, `core`, `package`, `dram`, `node` or `device`"),
        *provenance_of("joules", "of this part and domain"),
    ],
}
