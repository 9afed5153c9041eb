"""Builds benchmark programs and runs their jobs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from wattle.base import files
from wattle.machine.nodes import Nodes

from bench.load import Watch

ROOT = Path(__file__).resolve().parent.parent
OUT = Path(os.environ.get("BENCH_OUT") or ROOT / "build" / "bench")  # programs, and by default figures
FLAGS = ["-O3", "-g", "-std=gnu17"]
PEER_OSHCC = Path("/usr/bin/oshcc")
# Debian's OpenSHMEM 4.1.4 crashes in shmem_finalize with its osc/rdma component.
COMMON_ENV = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^rdma",
}

BEST = "best:"  # prefix of a row's key: the best batch of the run instead of the median one
OTHERS = "others"  # the row of the share of the machine's CPU time that other processes used
Figures = dict[str, float]  # row -> seconds (or CPU seconds), from one run
Rounds = list[list[Figures]]  # the runs of alternating sides, by round
Launch = Callable[[list[str]], list[str]]  # options of mpirun, a program and its arguments -> the whole command line


class BenchError(Exception):
    """An error that ends a section, or the benchmark before its first one, with a message for the user."""


def here(pes: int, *options: str) -> Launch:
    """A launch on this machine."""
    return lambda words: ["mpirun", "-q", *options, "-n", str(pes), *words]


def pinned(pes: int) -> Launch:
    """A launch on this machine, with each PE on its own core."""
    return here(pes, "--bind-to", "core", "--map-by", "core")


def crowded(pes: int) -> Launch:
    """A launch on this machine with any number of PEs, which are not bound."""
    return here(pes, "--oversubscribe", "--bind-to", "none")


def stacked(pes: int) -> Launch:
    """A launch on this machine with any number of PEs, which are bound to its cores one after the other."""
    return here(pes, "--map-by", "core:OVERSUBSCRIBE", "--bind-to", "core:overload-allowed")


def one_apart(pes: int) -> Launch:
    """A launch on this machine, with PE 0 on the first core and all others together on the second."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    place = f'exec taskset -c $([ "$PMIX_RANK" = 0 ] && echo {first} || echo {second}) "$@"'
    return lambda words: crowded(pes)(split_options(words, ["sh", "-c", place, "place"]))


def split_options(words: list[str], between: list[str]) -> list[str]:
    """The command line with `between` inserted after the options of mpirun (pairs "-x NAME") and before the program."""
    n = 0
    while words[n] == "-x":
        n += 2
    return [*words[:n], *between, *words[n:]]


def across(nodes: Nodes, pes: int) -> Launch:
    """A launch with `pes` PEs on each of the nodes. Each node has its own core if there are enough."""
    return lambda words: nodes.command("mpirun", pes, "-q", *words)


def end(job: subprocess.Popen[Any]) -> None:
    """Ends a launcher that still runs. SIGTERM lets it end its PEs; SIGKILL would leave them running."""
    if job.poll() is not None:
        return
    job.terminate()
    try:
        job.wait(10)
    except subprocess.TimeoutExpired:
        job.kill()
        job.wait()


class Runs(Protocol):
    """One side of a comparison, with the figures of each run."""

    name: str

    def run(self, *arguments: str) -> Figures: ...


@dataclass
class Side:
    """One side of a comparison: a program, its launch and its settings."""

    name: str
    program: Path
    launch: Launch
    env: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: str) -> list[str]:
        """The whole command line. Settings reach other nodes by name (-x)."""
        exports = [word for name in self.env for word in ("-x", name)]
        return self.launch([*exports, str(self.program), *arguments])

    def environment(self) -> dict[str, str]:
        """The environment of the job, without a profile, whose writing would be measured too."""
        return {k: v for k, v in os.environ.items() if k != "WATTLE_PROFILE_DIR"} | COMMON_ENV | self.env

    def output(self, *arguments: str, timeout: float = 300, folder: str | Path | None = None) -> tuple[float, str]:
        """One run: seconds from the launcher's start to its end, and its output. `folder`: its working directory."""
        started = time.monotonic()
        with subprocess.Popen(
            self.command(*arguments),
            env=self.environment(),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as job:
            try:
                output, errors = job.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                raise BenchError(f"{self.name}: {self.program.name} did not end within {timeout:g} s") from None
            finally:
                end(job)
        wall = time.monotonic() - started
        if job.returncode:
            words = (errors or output).strip()
            raise BenchError(f"{self.name}: {self.program.name} ended with exit code {job.returncode}\n{words}")
        return wall, output

    def lines(self, *arguments: str) -> tuple[float, list[dict[str, Any]]]:
        """One run: its seconds, and the JSON lines that its PEs printed."""
        wall, output = self.output(*arguments)
        return wall, [json.loads(line) for line in output.splitlines() if line.startswith("{")]

    def run(self, *arguments: str) -> Figures:
        """One run of a program; its figures by row."""
        watch = Watch()
        wall, lines = self.lines(*arguments)
        figures: Figures = {"job": wall, OTHERS: watch.others()}
        for line in lines:
            for key, value in figures_of(line).items():
                figures[key] = max(value, figures.get(key, value))  # of several PEs, the slowest
        return figures


def figures_of(line: dict[str, Any]) -> Figures:
    """The figures in one line of a program's output, by row."""
    if line.get("test") == "empty":
        return {"init": line["init_s"], "finalize": line["finalize_s"]}
    best = {BEST + line["row"]: line["best_s"]} if "best_s" in line else {}
    return {line["row"]: line["median_s"]} | best


def alternate(sides: Sequence[Runs], n: int, arguments: list[str], tick: Callable[[], None]) -> Rounds:
    """Runs all sides alternately, n times. The side that begins changes from round to round."""
    rounds = []
    for i in range(n):
        order = sides if i % 2 == 0 else sides[::-1]
        done = {}
        for side in order:
            done[id(side)] = side.run(*arguments)
            tick()
        rounds.append([done[id(side)] for side in sides])
    return rounds


@dataclass(frozen=True)
class Toolchain:
    """The compilers of the benchmark programs: Wattle's oshcc, and the peer's. `peer` is None where there is none;
    `peer_name` then gives the reason.
    """

    own: Path
    peer: Path | None
    peer_name: str

    def ours(self, source: str) -> Path:
        """A program of bench/ built against this OpenSHMEM."""
        return build(self.own, source, "wattle")

    def theirs(self, source: str) -> Path | None:
        """The same program built against the peer; None where there is none."""
        return build(self.peer, source, "peer") if self.peer else None

    def sides(self, source: str, launch: Launch, peer_env: dict[str, str] | None = None) -> list[Side]:
        """Wattle and, where there is one, the peer with its settings."""
        theirs = self.theirs(source)
        peer = [Side("peer", theirs, launch, peer_env or {})] if theirs else []
        return [Side("Wattle", self.ours(source), launch), *peer]


def build(compiler: Path | str, source: str, name: str, libraries: tuple[str, ...] = ()) -> Path:
    """Compiles a program of bench/. Raises BenchError."""
    files.make_folder(OUT)
    program = OUT / f"{Path(source).stem}-{name}"
    command = [str(compiler), *FLAGS, str(ROOT / "bench" / source), "-o", str(program), *libraries, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
    return program


def build_alone() -> Path:
    """The program that uses PMIx alone."""
    done = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"pkg-config does not know pmix; run `make deps`\n{done.stderr.strip()}")
    return build("cc", "alone.c", "pmix", tuple(done.stdout.split()))


def home() -> Path:
    """Wattle's installation or build tree: WATTLE_HOME, else the repository's build."""
    return Path(os.environ.get("WATTLE_HOME") or ROOT / "build" / "release")


def part_of_home(name: str) -> Path:
    """A file of Wattle's installation. Raises BenchError where it is missing."""
    file = home() / name
    if not file.exists():
        raise BenchError(f"{file} is missing; run `make build`, or set WATTLE_HOME to an installation or a build tree")
    return file


def peer_oshcc() -> tuple[Path | None, str]:
    """The peer's compiler wrapper and its version, or None and the reason why it is missing."""
    path = Path(os.environ.get("PEER_OSHCC") or PEER_OSHCC)
    if not path.exists():
        return None, f"{path} is missing; install Debian's libopenmpi-dev, or set PEER_OSHCC"
    done = subprocess.run([str(path), "--showme:version"], capture_output=True, text=True, check=False)
    match = re.search(r"Open SHMEM\s+([\d.]+)", done.stdout + done.stderr)
    return path, f"Open MPI OSHMEM {match[1]}" if match else f"OpenSHMEM of {path}"
