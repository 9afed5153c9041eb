"""MPI programs with Wattle's library preloaded, compared with the same binaries without it."""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wattle.run.mpi import KINDS, OVERSUBSCRIBED
from wattle.text.console import out, progress

from bench import verdicts
from bench.jobs import COMMON_ENV, OTHERS, ROOT, BenchError, Figures, Side, Toolchain, alternate, build, end
from bench.load import Watch
from bench.pairs import DISTURBED, Row, as_data, between, compare
from bench.show import comparison_table, say_skipped, section

INPUT = ROOT / "tests/mpi/inputs/water.nw"
ENERGY = re.compile(r"Total SCF energy\s*=\s*(-?\d+\.\d+)")
WAITING_BAR = 0.03  # of wall time; the waiting rank's own work is a third of it
SECTION = "MPI programs"
CLOSE = 3  # factor for the number of pairs where the bar is as narrow as the spread of a run
PATIENCE_S = 180  # for a run of an application, which takes seconds


@dataclass
class MpiSide(Side):
    """A program under its MPI's own launcher. Its processes on this machine inherit the settings."""

    def command(self, *arguments: str) -> list[str]:
        return self.launch([str(self.program), *arguments])


@dataclass
class Application(Side):
    """A program of others: seconds and CPU seconds from start to end, and the number that it prints as its result."""

    arguments: tuple[str, ...] = ()
    folder: Path = ROOT  # its working directory is a copy of it
    result: re.Pattern[str] | None = None

    def run(self, *arguments: str) -> Figures:
        watch, started, before = Watch(), time.monotonic(), _children_cpu_s()
        with tempfile.TemporaryDirectory() as folder:
            if self.folder != ROOT:
                shutil.copytree(self.folder, folder, dirs_exist_ok=True, symlinks=True)
                started = time.monotonic()
            job = subprocess.Popen(
                self.launch([str(self.program), *self.arguments]),
                env=self.environment(),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                output, errors = job.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise BenchError(f"{self.name}: {self.program.name} did not end within {PATIENCE_S} s") from None
            finally:
                end(job)  # and its processes: a killed launcher would leave them running
            wall = time.monotonic() - started
        found = self.result.search(output) if self.result else None
        if job.returncode or (self.result and not found):
            words = errors.strip()
            raise BenchError(f"{self.name}: {self.program.name} ended with exit code {job.returncode}\n{words}")
        figures = {"job": wall, "cpu": _children_cpu_s() - before, OTHERS: watch.others()}
        return figures | ({"energy": float(found[1])} if found else {})


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def launcher(mpi: str, n: int, *options: str) -> Callable[[list[str]], list[str]]:
    path = shutil.which(f"mpirun.{mpi}")
    return lambda words: [str(path), *options, "-n", str(n), *words]


def preloaded(mpi: str) -> dict[str, str]:
    """The setting that preloads the library. Raises BenchError without the module for this MPI, because the library
    would then do nothing.
    """
    home = Path(os.environ.get("WATTLE_HOME") or ROOT / "build" / "release")
    library = home / "lib" / "libwattle-mpi.so"
    for file in (library, home / "lib" / f"libwattle-mpi-{mpi}.so"):
        if not file.exists():
            raise BenchError(
                f"{file} is missing; run `make build`, or set WATTLE_HOME to an installation or a build tree"
            )
    return {"LD_PRELOAD": str(library)}


def installed(source: str) -> Iterator[tuple[str, str, Path]]:
    """Each MPI of this machine: its key and name in KINDS, and the program that its compiler made of a source of bench.
    Prints a line for an MPI that is not installed.
    """
    for mpi, kind in KINDS.items():
        compiler = shutil.which(f"mpicc.{mpi}")
        if compiler and shutil.which(f"mpirun.{mpi}"):
            yield mpi, kind.name, build(compiler, source, mpi)
        else:
            say_skipped(f"{kind.name}: skipped, no mpicc.{mpi} or no mpirun.{mpi}")


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    result: dict = {"rows": [], "bars": [], "raw": {}}
    for mpi, name, program in installed("mpi.c"):
        loops(options, result, mpi, name, program)
    if shutil.which("nwchem.openmpi"):
        chemistry(options, result)
    else:
        say_skipped("nwchem: skipped, Debian's nwchem-openmpi is not installed")
    return result


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def loops(options: argparse.Namespace, result: dict, mpi: str, name: str, program: Path) -> None:
    bound = ["--bind-to", "core"] if mpi == "openmpi" else ["-bind-to", "core"]
    launch = launcher(mpi, 2, *bound)
    sides: list[Side] = [MpiSide("Wattle", program, launch, preloaded(mpi)), MpiSide("plain", program, launch)]
    pairs = CLOSE * options.pairs
    with progress(f"MPI loops, {name}", (options.pairs + pairs) * len(sides)) as steps:
        slack = alternate(sides, options.pairs, ["imbalanced"], steps.advance)
        close = alternate(sides, pairs, ["balanced"], steps.advance)
    rows = [
        *compare([Row("imbalanced", f"100 ms and 1 ms, barrier, {name}", bar=1.01)], between(slack, 0, 1)),
        *compare([Row("balanced", f"exchange each 50 us, {name}", bar=1.02)], between(close, 0, 1)),
    ]
    section(f"{name}: two processes, with Wattle's library and without", comparison_table("Wattle", "plain", rows))
    shares = [[r[i]["waiting_cpu"] / (20 * r[i]["imbalanced"]) for r in slack] for i in range(2)]
    busy = 3 * sum(r[0][OTHERS] > DISTURBED for r in slack) > len(slack)
    label = f"CPU of the rank that waits, of the loop's time, {name} (plain: {_percent(max(shares[1]))})"
    bar = verdicts.of_cpu_seconds(SECTION, label, shares[0], WAITING_BAR, busy, not options.quick, _percent)
    least, middle = _percent(min(shares[0])), _percent(statistics.median(shares[0]))
    out.print(f"CPU of the waiting rank: {least} to {bar.ours} of the loop's time, median {middle}")
    out.print()
    result["rows"] += as_data(rows)
    result["bars"] += [*verdicts.of_comparisons(SECTION, "plain", rows), bar]
    result["raw"][mpi] = {"imbalanced": slack, "balanced": close}


def chemistry(options: argparse.Namespace, result: dict) -> None:
    """Debian's nwchem: one process a core, and two."""
    program = Path(str(shutil.which("nwchem.openmpi")))
    crowd = {**COMMON_ENV, **OVERSUBSCRIBED}
    for n, shape in ((2, "one a core"), (4, "two a core")):
        launch = launcher("openmpi", n, *(["--bind-to", "core"] if n == 2 else ["--bind-to", "none"]))
        sides: list[Side] = [
            Application("Wattle", program, launch, {**crowd, **preloaded("openmpi")}, (str(INPUT),), result=ENERGY),
            Application("plain", program, launch, crowd, (str(INPUT),), result=ENERGY),
        ]
        with progress(f"nwchem, {n} processes", options.pairs * len(sides)) as steps:
            rounds = alternate(sides, options.pairs, [], steps.advance)
        bars = (1.02, None) if n == 2 else (1.0, 1.0)
        rows = compare(
            [
                Row("job", f"nwchem, {n} processes ({shape})", bar=bars[0]),
                Row("cpu", f"its CPU seconds, {n} processes", bar=bars[1]),
            ],
            between(rounds, 0, 1),
        )
        section(f"nwchem, {n} processes: with Wattle's library and without", comparison_table("Wattle", "plain", rows))
        energies = [sorted({r[i]["energy"] for r in rounds}) for i in range(2)]
        same = (
            "the same in all runs" if len({*energies[0], *energies[1]}) == 1 else f"{energies[0]}, plain {energies[1]}"
        )
        out.print(f"energies, hartree: {same}")
        out.print()
        result["rows"] += as_data(rows)
        result["bars"] += verdicts.of_comparisons(SECTION, "plain", rows)
        result["raw"][f"nwchem_{n}"] = rounds
