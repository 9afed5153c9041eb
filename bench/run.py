"""Compares this OpenSHMEM with Debian's: one source, pinned, the two alternating in one run, and paired ratios.

usage: run.py [--pairs N] [--wait-pairs N] [--wait-seconds S] [--out FILE]

A small machine can change its speed from one second to the next, so only runs that follow each other are compared: they
are a pair, and what is reported is the median of the pairs' ratios with its quartiles.
One-sided operations have two rows: PE 1, their target, computes, or it waits in a barrier.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "bench"
FLAGS = ["-O3", "-g", "-std=gnu17"]
MPIRUN = ["mpirun", "-q", "--bind-to", "core", "--map-by", "core", "-n", "2"]
# Debian's OpenSHMEM 4.1.4 crashes in shmem_finalize with its osc/rdma part.
COMMON_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_osc": "^rdma"}
PEER_OSHCC = Path("/usr/bin/oshcc")

Figures = dict[str, float]  # row -> seconds (or CPU seconds), from one run


class BenchError(Exception):
    """Something that stops the benchmark, in words for the user."""


@dataclass
class Side:
    """One of two things that are compared: a program and the settings it runs under."""

    name: str
    program: Path
    env: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Figures:
        """One run on two pinned PEs; its figures by row."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("WATTLE_PROFILE_DIR")} | COMMON_ENV | self.env
        exports = [word for name in self.env for word in ("-x", name)]
        started = time.monotonic()
        done = subprocess.run(
            [*MPIRUN, *exports, str(self.program), *arguments],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        wall = time.monotonic() - started
        if done.returncode:
            words = (done.stderr or done.stdout).strip()
            raise BenchError(f"{self.name}: {self.program.name} ended with exit code {done.returncode}\n{words}")
        figures: Figures = {"job": wall}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                figures.update(figures_of(json.loads(line)))
        return figures


def figures_of(row: dict) -> Figures:
    """The figures in one line of micro's output, by row."""
    if row["test"].startswith("wait_"):
        return {row["test"]: row["cpu_s"]}
    if row["test"] == "start_finish":
        return {"init": row["init_s"], "finalize": row["finalize_s"]}
    return {f"{row['test']}/{row['bytes']}/{row['target']}": row["median_s"]}


@dataclass(frozen=True)
class Row:
    """One line of the comparison. `bar` is what the project promises: the most the ratio of times may be."""

    key: str
    label: str
    bytes: int = 0  # shown as bandwidth where not zero
    bar: float | None = None


def one_sided(test: str, label: str, size: int = 8, *, bandwidth: bool = False, bar: float | None = None) -> list[Row]:
    """Two rows: the target computes, the target waits."""
    shown = size if bandwidth else 0
    return [Row(f"{test}/{size}/{target}", f"{label}, {target}", shown, bar) for target in ("computing", "waiting")]


ROWS = [
    *one_sided("put_quiet", "put + quiet 8 B", bar=1.0),
    *one_sided("put_quiet", "put + quiet 64 B", 64),
    *one_sided("put_quiet", "put + quiet 512 B", 512),
    *one_sided("put_quiet", "put + quiet 4 KiB", 4096, bandwidth=True),
    *one_sided("put_quiet", "put + quiet 32 KiB", 32768, bandwidth=True),
    *one_sided("put_quiet", "put + quiet 256 KiB", 262144, bandwidth=True),
    *one_sided("put_quiet", "put + quiet 1 MiB", 1 << 20, bandwidth=True, bar=1.0),
    *one_sided("get", "get 8 B"),
    *one_sided("get", "get 1 MiB", 1 << 20, bandwidth=True),
    *one_sided("p", "p 8 B"),
    *one_sided("g", "g 8 B"),
    *one_sided("put_nbi", "put_nbi 8 B, 64 abreast"),
    *one_sided("fetch_add_heap", "fetch-add, heap"),
    Row("fetch_add_static/8/waiting", "fetch-add, static variable"),
    Row("barrier/0/both", "barrier, 2 PEs", bar=1.0),
    Row("ping_pong/8/both", "p / wait_until, one way"),
    Row("broadcast/8/both", "broadcast 8 B"),
    Row("sum/8/both", "sum of 8 B"),
    Row("init", "shmem_init"),
    Row("finalize", "shmem_finalize"),
    Row("job", "whole job, mpirun included"),
]
PRICED = [
    *one_sided("put_quiet", "put + quiet 8 B")[:1],
    *one_sided("p", "p 8 B")[:1],
    *one_sided("g", "g 8 B")[:1],
    *one_sided("get", "get 8 B")[:1],
    *one_sided("put_nbi", "put_nbi 8 B")[:1],
    *one_sided("fetch_add_heap", "fetch-add, heap")[:1],
    Row("barrier/0/both", "barrier, 2 PEs"),
    Row("ping_pong/8/both", "p / wait_until, one way"),
]
WAIT_ROWS = [Row("wait_until", "wait_until"), Row("wait_barrier", "barrier")]
WAIT_BAR_S = 0.05  # CPU seconds in a wait of 3 s


@dataclass
class Comparison:
    """A row with both sides' medians and the ratios of its pairs (first over second)."""

    row: Row
    first: float
    second: float
    ratios: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)

    @property
    def quartiles(self) -> tuple[float, float]:
        if len(self.ratios) < 2:
            return self.median, self.median
        cuts = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return cuts[0], cuts[2]

    @property
    def verdict(self) -> str:
        if self.row.bar is None:
            return ""
        low, high = self.quartiles
        word = "met" if self.median <= self.row.bar else "not met"
        return f"{word} (close)" if low <= self.row.bar <= high else word


def compare(rows: Iterable[Row], pairs: list[tuple[Figures, Figures]]) -> list[Comparison]:
    """Every row that both sides have figures for."""
    found = []
    for row in rows:
        both = [(a[row.key], b[row.key]) for a, b in pairs if row.key in a and row.key in b]
        if both:
            first, second = (statistics.median(values) for values in zip(*both, strict=True))
            found.append(Comparison(row, first, second, [a / b for a, b in both]))
    return found


def duration(seconds: float) -> str:
    """Three figures and a unit."""
    for limit, unit, factor in ((1e-6, "ns", 1e9), (1e-3, "us", 1e6), (1, "ms", 1e3)):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def shown(row: Row, seconds: float) -> str:
    """A figure of a row: a time, or the bandwidth it means."""
    return f"{row.bytes / seconds / 1e9:.2f} GB/s" if row.bytes else duration(seconds)


def build(oshcc: Path, name: str) -> Path:
    """Compiles micro.c with one OpenSHMEM's compiler wrapper."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / f"micro-{name}"
    command = [str(oshcc), *FLAGS, str(ROOT / "bench" / "micro.c"), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
    return program


def own_oshcc() -> Path:
    """Our compiler wrapper: under WATTLE_HOME, else the repository's build."""
    home = Path(os.environ.get("WATTLE_HOME") or ROOT / "build" / "release")
    oshcc = home / "bin" / "oshcc"
    if not oshcc.exists():
        raise BenchError(f"{oshcc} is missing; run `make build`, or set WATTLE_HOME to an installation or a build tree")
    return oshcc


def peer_oshcc() -> tuple[Path | None, str]:
    """The peer's compiler wrapper and its version; or None and why it is missing."""
    path = Path(os.environ.get("PEER_OSHCC") or PEER_OSHCC)
    if not path.exists():
        return None, f"{path} is missing; install Debian's libopenmpi-dev, or set PEER_OSHCC"
    done = subprocess.run([str(path), "--showme:version"], capture_output=True, text=True, check=False)
    match = re.search(r"Open SHMEM\s+([\d.]+)", done.stdout + done.stderr)
    return path, f"Open MPI OSHMEM {match[1]}" if match else f"OpenSHMEM of {path}"


def cpu_name() -> str:
    """The CPU's name as the kernel gives it."""
    match = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else platform.machine()


def alternate(sides: list[Side], n: int, arguments: list[str], tick: Callable[[], None]) -> list[list[Figures]]:
    """Runs every side in turn, n times over; the side that begins changes from round to round."""
    rounds = []
    for i in range(n):
        order = sides if i % 2 == 0 else sides[::-1]
        done = {}
        for side in order:
            done[side.name] = side.run(*arguments)
            tick()
        rounds.append([done[side.name] for side in sides])
    return rounds


def table_of(title: str, first: str, second: str, comparisons: list[Comparison]) -> Table:
    """A comparison for people."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("operation")
    for name in (first, second, "ratio of times", "quartiles"):
        table.add_column(name, justify="right")
    barred = any(c.row.bar is not None for c in comparisons)
    if barred:
        table.add_column("bar")
    for c in comparisons:
        low, high = c.quartiles
        cells = [c.row.label, shown(c.row, c.first), shown(c.row, c.second), f"{c.median:.2f}", f"{low:.2f}-{high:.2f}"]
        if barred:
            style = "green" if c.verdict.startswith("met") else "red"
            cells.append(f"[{style}]<= {c.row.bar:.2f}: {c.verdict}[/]" if c.verdict else "")
        table.add_row(*cells)
    return table


def own_table(figures: list[Figures]) -> Table:
    """Our own figures alone, where there is no peer."""
    table = Table(title="Wattle alone (no peer)", title_justify="left", title_style="bold")
    table.add_column("operation")
    table.add_column("median", justify="right")
    for row in ROWS:
        values = [f[row.key] for f in figures if row.key in f]
        if values:
            table.add_row(row.label, shown(row, statistics.median(values)))
    return table


def wait_table(seconds: float, sides: list[Side], rounds: list[list[Figures]]) -> tuple[Table, list[dict]]:
    """CPU seconds that waiting PEs used, and the same as data."""
    table = Table(title=f"CPU seconds used by a PE that waits {seconds:g} s", title_justify="left", title_style="bold")
    table.add_column("waiting in")
    for side in sides:
        table.add_column(side.name, justify="right")
    table.add_column("bar")
    data = []
    for row in WAIT_ROWS:
        values = {side.name: [r[i][row.key] for r in rounds] for i, side in enumerate(sides)}
        worst = max(values[sides[0].name])
        limit = WAIT_BAR_S * max(1.0, seconds / 3)
        verdict = "met" if worst <= limit else "not met"
        style = "green" if verdict == "met" else "red"
        medians = [f"{statistics.median(v):.4f} s" for v in values.values()]
        table.add_row(
            row.label, *medians, f"[{style}]{sides[0].name} <= {limit:g} s, at worst {worst:.4f}: {verdict}[/]"
        )
        data.append({"row": row.key, "cpu_s": values, "bar_s": limit, "verdict": verdict})
    return table, data


def as_data(comparisons: list[Comparison]) -> list[dict]:
    """Comparisons for the JSON file; times in seconds."""
    return [
        asdict(c) | {"median_ratio": c.median, "quartiles": list(c.quartiles), "verdict": c.verdict}
        for c in comparisons
    ]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=15, help="pairs of runs (default 15, at least 7)")
    parser.add_argument("--wait-pairs", type=int, default=3, help="pairs of runs of the waiting test (default 3)")
    parser.add_argument("--wait-seconds", type=float, default=3, help="how long the PE waits (default 3)")
    parser.add_argument("--out", type=Path, default=OUT / "bench.json", help="where the figures go")
    options = parser.parse_args(arguments)
    if options.pairs < 7:
        parser.error("--pairs must be at least 7, or the quartiles mean nothing")
    if options.wait_pairs < 1 or options.wait_seconds <= 0:
        parser.error("--wait-pairs must be at least 1 and --wait-seconds more than 0")
    return options


def measure(options: argparse.Namespace, console: Console) -> dict:
    """Runs everything, prints the tables and returns what goes into the file."""
    if not shutil.which("mpirun"):
        raise BenchError("mpirun is missing; run `make deps`")
    peer, peer_name = peer_oshcc()
    ours = Side("Wattle", build(own_oshcc(), "wattle"))
    sides = [ours] if peer is None else [ours, Side(peer_name, build(peer, "peer"))]
    priced = {
        "WATTLE_CHECK": [Side(f"{v}", ours.program, {"WATTLE_CHECK": v}) for v in ("on", "off")],
        "WATTLE_PROFILE": [Side(f"{v}", ours.program, {"WATTLE_PROFILE": v}) for v in ("on", "off")],
    }
    cores = len(os.sched_getaffinity(0))
    console.print(f"{cpu_name()}, {cores} cores; PEs bound to cores; {options.pairs} pairs, alternating; profile on")
    if peer is None:
        console.print(f"[yellow]No peer to compare with: {peer_name}[/]")

    total = options.pairs * (len(sides) + 4) + options.wait_pairs * len(sides)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("runs", total=total)

        def tick() -> None:
            progress.advance(task)

        rounds = alternate(sides, options.pairs, [], tick)
        waits = alternate(sides, options.wait_pairs, ["wait", str(options.wait_seconds)], tick)
        prices = {name: alternate(pair, options.pairs, [], tick) for name, pair in priced.items()}

    result: dict = {"rows": [], "prices": {}}
    if peer is None:
        console.print(own_table([r[0] for r in rounds]))
    else:
        rows = compare(ROWS, [(r[0], r[1]) for r in rounds])
        console.print(table_of("Wattle and its peer (below 1: Wattle is faster)", "Wattle", peer_name, rows))
        result["rows"] = as_data(rows)
    table, result["waits"] = wait_table(options.wait_seconds, sides, waits)
    console.print(table)
    for name, pairs in prices.items():
        rows = compare(PRICED, [(r[0], r[1]) for r in pairs])
        console.print(table_of(f"Price of {name}", "on", "off", rows))
        result["prices"][name] = as_data(rows)
    result["raw"] = {"rounds": rounds, "waits": waits, "prices": prices}
    result["about"] = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "cores": cores,
        "kernel": platform.release(),
        "peer": None if peer is None else peer_name,
        "flags": FLAGS,
        "launcher": MPIRUN,
        "settings": {k: v for k, v in os.environ.items() if k.startswith(("WATTLE_", "SHMEM_"))},
    }
    return result


def main(arguments: list[str] | None = None) -> int:
    """The exit code says whether figures were got, never whether they are good."""
    options = parse(arguments)
    console = Console(width=None if sys.stdout.isatty() else 132)
    try:
        result = measure(options, console)
    except (BenchError, subprocess.TimeoutExpired) as error:
        Console(stderr=True, highlight=False).print(f"bench: {error}", markup=False)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"schema": 1, **result}, indent=1), encoding="utf-8")
    console.print(f"figures: {options.out}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
