"""Many nodes: start-up, connections and memory by the number of nodes over UCX and libfabric, and messages of calls.

The nodes are network namespaces on this machine, so times show only that jobs of this size run. Memory and connections
are those of a job on as many machines. Counts of messages come from profiles: of jobs on these nodes, and of simulated
jobs with more PEs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wattle.machine.nodes import Nodes
from wattle.text.console import note, progress
from wattle.text.tables import Table

from bench.held import Footprint, Held
from bench.jobs import OUT, ROOT, BenchError, Side, Toolchain, across, build
from bench.memory import CONTROL, FITTED, fit
from bench.part import Part
from bench.show import columns, duration, section

NETWORKS = ("ucx", "ofi")
PHASES = ("barrier", "collectives", "pairs")
CALLS = ("barrier", "broadcast", "sum", "collect", "alltoall")
COUNTED_CALLS = 4
NO_SILENCE = {"WATTLE_SILENCE": "0"}  # 64 nodes on two cores may be silent for long; and heartbeats are not counted
ESTABLISHED = "01"  # the state of a connection in /proc/PID/net/tcp


@dataclass(frozen=True)
class Plan:
    """The jobs of the section."""

    shapes: tuple[tuple[int, int], ...]  # nodes, PEs a node
    counted: tuple[int, ...]  # nodes of one PE whose messages are counted
    simulated: tuple[int, ...]  # PEs
    most_square: int  # calls whose messages grow with the square are simulated up to here


FULL = Plan(
    shapes=((1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (64, 1), (16, 4)),
    counted=(4, 16),
    simulated=(4, 16, 64, 256, 1024),
    most_square=256,
)
QUICK = Plan(shapes=((1, 1), (2, 1), (4, 1), (2, 2)), counted=(4,), simulated=(4, 16), most_square=16)


def run(part: Part) -> None:
    """Runs the section."""
    if not part.has_nodes("Many nodes"):
        return
    plan = QUICK if part.options.quick else FULL
    program = part.tools.ours("scale.c")
    samples = held_jobs(plan, program)
    section("Many nodes: connections and memory of a PE after each phase", size_table(samples))
    section("Many nodes: times on this machine's cores, put and quiet of 8 bytes (medians)", time_table(samples))
    found = grown(samples)
    section("Many nodes: memory of a connection, and of a pair of PEs", grown_table(found))
    counts = counted_jobs(plan, program) + simulated_jobs(plan, part.tools)
    section("Messages of one call, all PEs together, one PE a node", messages_table(counts))
    part.found = {"samples": samples, "grown": found, "messages": counts}


# --- memory and connections --------------------------------------------------------------------------------------- #


def connections(pid: int) -> int:
    """The TCP connections of a process to other addresses than those of loopback."""
    proc = Path(f"/proc/{pid}")
    own = {str(fd.readlink()) for fd in (proc / "fd").iterdir()}
    return sum(1 for row in _rows(proc / "net/tcp") if f"socket:[{row[9]}]" in own and _leads_elsewhere(row))


def _rows(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text(encoding="ascii").splitlines()[1:]]


def _leads_elsewhere(row: list[str]) -> bool:
    """An address is hexadecimal in the processor's order of bytes: of 127.0.0.1 it is 0100007F here."""
    other = bytes.fromhex(row[2].split(":")[0])
    if sys.byteorder == "little":
        other = other[::-1]
    return row[3] == ESTABLISHED and other[0] != 127


def held_jobs(plan: Plan, program: Path) -> list[dict[str, Any]]:
    """A job for each network, shape and phase."""
    samples: list[dict[str, Any]] = []
    with progress("many nodes", len(plan.shapes) * len(NETWORKS) * len(PHASES)) as steps:
        for nodes, each in plan.shapes:
            with Nodes(nodes) as made:
                for network in NETWORKS if nodes > 1 else NETWORKS[:1]:
                    side = Side(network, program, across(made, each), {"WATTLE_NETWORK": network} | NO_SILENCE)
                    for phase in PHASES:
                        samples.append(one_job(side, nodes, each, phase))
                        steps.advance()
    return samples


def one_job(side: Side, nodes: int, each: int, phase: str) -> dict[str, Any]:
    """Starts a job, measures its memory and connections after the phase, and releases it."""
    pes = nodes * each
    with Held(side, pes, more=(phase,)) as held:
        total = sum(held.memory(), Footprint())
        opened = [connections(pid) for pid in held.pids]
    return {
        "network": side.name,
        "nodes": nodes,
        "pes": pes,
        "phase": phase,
        "memory": vars(total),
        "connections": opened,
        "start_s": held.start_s,
        "finish_s": held.finish_s,
        "first_s": statistics.median(line["first_s"] for line in held.figures),
        "again_s": statistics.median(line["again_s"] for line in held.figures),
    }


def _of(samples: list[dict[str, Any]], **wanted: object) -> list[dict[str, Any]]:
    return [s for s in samples if all(s[key] == value for key, value in wanted.items())]


def own_memory(sample: dict[str, Any]) -> int:
    """Bytes that no other program shares: private pages, the arena and page tables."""
    return sum(sample["memory"][kind] for kind in FITTED[CONTROL])


def _by_shape(samples: list[dict[str, Any]]) -> list[tuple[tuple[str, int, int], dict[str, dict[str, Any]]]]:
    """The samples of each network and shape, by phase."""
    shapes = dict.fromkeys((s["network"], s["nodes"], s["pes"]) for s in samples)
    return [(k, {s["phase"]: s for s in _of(samples, network=k[0], nodes=k[1], pes=k[2])}) for k in shapes]


def size_table(samples: list[dict[str, Any]]) -> Table:
    """Connections and memory a PE after each phase: one line for each network and shape."""
    table = columns(
        "", "nodes", "PEs", *(f"{what}, {phase}" for what in ("conn.", "KiB") for phase in PHASES), wrap=True
    )
    for (network, nodes, pes), of in _by_shape(samples):
        connected = [f"{sum(of[phase]['connections']) / pes:.1f}" for phase in PHASES]
        memory = [f"{own_memory(of[phase]) / pes / 1024:.0f}" for phase in PHASES]
        table.add_row(network, str(nodes), str(pes), *connected, *memory)
    return table


def time_table(samples: list[dict[str, Any]]) -> Table:
    """Times: of the job's start and end, and of a put to each other PE."""
    table = columns("", "nodes", "PEs", "start", "finish", "first put", "next put")
    for (network, nodes, pes), of in _by_shape(samples):
        times = [of["barrier"]["start_s"], of["barrier"]["finish_s"], of["pairs"]["first_s"], of["pairs"]["again_s"]]
        table.add_row(network, str(nodes), str(pes), *(duration(t) if t else "" for t in times))
    return table


def grown(samples: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each network: bytes of a further connection, and what grows with each pair of PEs after a barrier alone."""
    found = {}
    for network in NETWORKS:
        far = [s for s in _of(samples, network=network) if s["nodes"] > 1 and s["nodes"] == s["pes"]]
        barrier, pairs = (_of(far, phase=phase) for phase in ("barrier", "pairs"))
        bytes_more = own_memory(pairs[-1]) - own_memory(barrier[-1])
        more = sum(pairs[-1]["connections"]) - sum(barrier[-1]["connections"])
        found[network] = {"pes": pairs[-1]["pes"], "connection": bytes_more / more if more else None}
        if len(barrier) > 2:
            sizes = [s["pes"] for s in barrier]
            found[network] |= vars(fit(sizes, [own_memory(s) for s in barrier]))
    return found


def grown_table(found: dict[str, dict[str, Any]]) -> Table:
    """One line for each network."""
    table = columns("", "PEs", "a connection", "after a barrier: a PE", "a pair of PEs", wrap=True)
    for network, f in found.items():
        fitted = [f"{f['per_pe'] / 1024:.0f} KiB", f"{f['per_pair']:.0f} B"] if "per_pair" in f else ["", ""]
        connection = "" if f["connection"] is None else f"{f['connection'] / 1024:.1f} KiB"
        table.add_row(network, str(f["pes"]), connection, *fitted)
    return table


# --- messages ------------------------------------------------------------------------------------------------------- #


def sent(folder: Path) -> int:
    """The messages of all PEs of a job, by their profiles."""
    profiles = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("pe-*.json"))]
    return sum(profile["network"]["messages"]["sent"] for profile in profiles)


def counted_jobs(plan: Plan, program: Path) -> list[dict[str, Any]]:
    """Messages of one call on made nodes of one PE, by UCX: the difference of two jobs."""
    found = []
    with progress("messages of made nodes", len(plan.counted) * len(CALLS)) as steps:
        for nodes in plan.counted:
            with Nodes(nodes) as made:
                for call in CALLS:
                    found.append(_counted("UCX", nodes, call, partial(by_job, program, made, call)))
                    steps.advance()
    return found


def _counted(where: str, pes: int, call: str, job: Callable[[int], int]) -> dict[str, Any]:
    few, many = job(COUNTED_CALLS), job(2 * COUNTED_CALLS)
    return {"where": where, "pes": pes, "call": call, "messages": (many - few) / COUNTED_CALLS}


def by_job(program: Path, nodes: Nodes, call: str, n: int) -> int:
    """Messages of a job with `n` calls."""
    with tempfile.TemporaryDirectory(prefix="wattle-bench-") as folder:
        settings = {"WATTLE_PROFILE_DIR": folder, "WATTLE_NETWORK": "ucx"} | NO_SILENCE
        Side("messages", program, across(nodes, 1), settings).lines("count", call, str(n))
        return sent(Path(folder))


def simulated_jobs(plan: Plan, tools: Toolchain) -> list[dict[str, Any]]:
    """Messages of one call of simulated PEs, each on a node of its own."""
    try:
        program = build(tools.own, "scale.c", "sim", ("--sim",))
    except BenchError as error:
        note(f"messages of simulated jobs are skipped: {error}")
        return []
    sizes = [(n, call) for n in plan.simulated for call in CALLS if n <= plan.most_square or call in CALLS[:3]]
    found = []
    with progress("simulated messages", len(sizes)) as steps:
        for pes, call in sizes:
            found.append(_counted("simulated", pes, call, partial(by_simulation, program, pes, call)))
            steps.advance()
    return found


def by_simulation(program: Path, pes: int, call: str, n: int) -> int:
    """Messages of a simulated job with `n` calls."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wattle-bench-", dir=OUT) as folder:
        words = [sys.executable, "-m", "wattle", "sim", "-n", str(pes), "--json", "--set", "WATTLE_RMA=off"]
        words += ["-o", f"{folder}/run", "--"]
        done = subprocess.run(
            [*words, str(program), "count", call, str(n)],
            env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BenchError(f"wattle sim -n {pes} ended with exit code {done.returncode}\n{done.stderr.strip()}")
        return sent(Path(folder, "run", "profile"))


def messages_table(counts: list[dict[str, Any]]) -> Table:
    """One line for each source and number of PEs."""
    table = columns("", "PEs", *CALLS)
    for where, pes in dict.fromkeys((c["where"], c["pes"]) for c in counts):
        of = {c["call"]: f"{c['messages']:,.0f}" for c in counts if (c["where"], c["pes"]) == (where, pes)}
        table.add_row(where, str(pes), *(of.get(call, "") for call in CALLS))
    return table
