"""The limits of the machine, its network and UCX alone, with which the figures of libraries are compared."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from wattle.machine.nodes import SUBNET, Nodes
from wattle.text.console import progress
from wattle.text.tables import Table

from bench.jobs import BenchError, Side, build, end
from bench.pairs import Row
from bench.part import Limit, Part
from bench.show import columns, say_skipped, shown

PORT = 17417
PATIENCE_S = 60
PERFTEST = "ucx_perftest"  # Debian: ucx-utils
UCX_TESTS = {"ucp_am_lat": "active message", "ucp_put_lat": "put", "ucp_fadd": "fetch-add"}
NEAR, FAR = "one node", "two nodes"
ITERATIONS = {NEAR: 20000, FAR: 2000}
TRANSPORTS = {NEAR: {}, FAR: {"UCX_TLS": "tcp,self"}}

Place = Callable[[int, list[str]], list[str]]  # a command on core or node 0 or 1


def run(part: Part) -> None:
    """Runs the section."""
    rounds = 1 if part.options.quick else 5
    part.limits += measure(NEAR, here, "127.0.0.1", rounds)
    if part.has_nodes("Limits between nodes"):
        with Nodes(2) as nodes:
            part.limits += measure(FAR, lambda i, words: nodes.inside(i, *words), f"{SUBNET}.1", rounds)
    if not shutil.which(PERFTEST):
        say_skipped(f"{PERFTEST}: skipped, not found (Debian: apt install ucx-utils)")


def here(i: int, words: list[str]) -> list[str]:
    """A command on this machine, bound to one of two cores."""
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[i % len(cores)]), *words]


def measure(where: str, place: Place, address: str, rounds: int) -> list[Limit]:
    """All limits between two cores or two nodes."""
    samples: dict[str, list[float]] = {}
    with progress(f"limits, {where}", rounds) as steps:
        for _ in range(rounds):
            for label, seconds in [*hops(where, place, address), *perftests(where, place, address)]:
                samples.setdefault(label, []).append(seconds)
            steps.advance()
    return [(label, 0, values) for label, values in samples.items()]


def hops(where: str, place: Place, address: str) -> list[tuple[str, float]]:
    """A TCP hop by plain sockets."""
    program = build("cc", "hops.c", "plain")
    caller = Side("hops", program, lambda words: place(1, words))
    with Server(place(0, [str(program), "listen", str(PORT)]), {}) as server:
        figures = caller.run("call", address, str(PORT))
        server.wait(PATIENCE_S)
    link = "loopback" if where == NEAR else where
    return [(f"TCP hop, {link}, {how}", figures[f"tcp_{how}"]) for how in ("polling", "sleeping")]


def plain_puts(nodes: Nodes, sizes: dict[str, int], rounds: int) -> list[Limit]:
    """Puts by plain sockets that sleep, from one node to another: seconds each, and CPU seconds of both sides each."""
    program = build("cc", "hops.c", "plain")
    caller = Side("hops", program, lambda words: nodes.inside(1, *words))
    runs = []
    for _ in range(rounds):
        with Server(nodes.inside(0, str(program), "listen", str(PORT)), {}) as server:
            runs.append(caller.run("puts", f"{SUBNET}.1", str(PORT), *map(str, sizes.values())))
            server.wait(PATIENCE_S)
    return [
        limit
        for label, size in sizes.items()
        for limit in (
            (f"plain TCP, sleeping, {label}", size, [r[f"puts/{size}"] for r in runs]),
            (f"plain TCP, sleeping, {label}: CPU", 0, [r[f"puts_cpu/{size}"] for r in runs]),
        )
    ]


class Server:
    """A server in the background for the duration of the block."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.job = subprocess.Popen(
            command,
            env=os.environ | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self.job

    def __exit__(self, *_: object) -> None:
        end(self.job)


def perftests(where: str, place: Place, address: str) -> list[tuple[str, float]]:
    """UCX alone with 8 bytes; empty where its tool is missing."""
    if not shutil.which(PERFTEST):
        return []
    return [(f"UCX {what}, {where}", perftest(test, where, place, address) * 1e-6) for test, what in UCX_TESTS.items()]


def perftest(test: str, where: str, place: Place, address: str) -> float:
    """Median latency in microseconds, as the tool prints it."""
    return of_perftest("50.0_percentile_lat", test, where, place, address, ITERATIONS[where])


def of_perftest(column: str, test: str, where: str, place: Place, address: str, iterations: int) -> float:
    """A column of the table that the tool prints at its end, for 8 bytes."""
    env = TRANSPORTS[where]
    port = ["-p", str(PORT + 1)]
    words = [PERFTEST, *port, "-t", test, "-s", "8", "-n", str(iterations), "-w", "100", "-f", "-v"]
    with Server(place(0, [PERFTEST, *port]), env) as server:
        done = connected(place(1, [*words, address]), env, server)
    return value_of(column, done.stdout, f"{' '.join(words)}: {done.stderr.strip()}")


def connected(
    command: list[str], env: dict[str, str], server: subprocess.Popen[bytes]
) -> subprocess.CompletedProcess[str]:
    """Runs a client. It is restarted while the server does not listen yet, because the server does not report when it
    does.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        time.sleep(0.05)
        done = subprocess.run(
            command, env=os.environ | env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        if done.returncode == 0 or server.poll() is not None or time.monotonic() > deadline:
            return done


def value_of(column: str, text: str, command: str) -> float:
    """The value of a column in the tool's comma-separated table: a heading, then one line of numbers."""
    lines = [line.split(",") for line in text.splitlines() if "," in line]
    for head, values in pairwise(lines):
        if column in head:
            return float(values[head.index(column)])
    raise BenchError(f"{command}\nprinted no {column}: {text.strip()}")


def as_data(label: str, size: int, values: list[float]) -> dict[str, Any]:
    """A limit as a dictionary for the JSON file."""
    return {"label": label, "bytes": size, "s": values, "median_s": statistics.median(values)}


def table_of(found: list[dict[str, Any]]) -> Table:
    table = columns("limit", "median")
    for limit in found:
        table.add_row(limit["label"], shown(Row("", limit["label"], limit["bytes"]), limit["median_s"]))
    return table
