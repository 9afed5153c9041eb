"""MPI programs with Wattle's library preloaded, compared with the same binaries without it."""

from __future__ import annotations

import re
import resource
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wattle.report.bench_file import Bar
from wattle.run.mpi import KINDS, OVERSUBSCRIBED
from wattle.text.console import out

from bench import verdicts
from bench.jobs import OTHERS, ROOT, BenchError, Figures, Launch, Rounds, Side, build, part_of_home
from bench.load import Watch
from bench.pairs import Row, between, compare, disturbed_rounds
from bench.part import Part
from bench.show import say_skipped

INPUT = ROOT / "tests/mpi/inputs/water.nw"
ENERGY = re.compile(r"Total SCF energy\s*=\s*(-?\d+\.\d+)")
WAITING_BAR = 0.03  # of wall time; the waiting rank's own work is a third of it
SECTION = "MPI programs"
SIDES = ("Wattle", "plain")
CLOSE = 3  # factor for the number of pairs where the bar is as narrow as the spread of a run
PATIENCE_S = 180  # for a run of an application, which takes seconds


@dataclass
class MpiSide(Side):
    """A program under its MPI's own launcher. Its processes on this machine inherit the settings."""

    def command(self, *arguments: str) -> list[str]:
        return self.launch([str(self.program), *arguments])


@dataclass
class Application(MpiSide):
    """A program of others: seconds and CPU seconds from start to end, and the number that it prints as its result."""

    folder: Path | None = None  # its working directory is a copy of it
    result: re.Pattern[str] | None = None

    def run(self, *arguments: str) -> Figures:
        with tempfile.TemporaryDirectory() as folder:
            if self.folder:
                shutil.copytree(self.folder, folder, dirs_exist_ok=True, symlinks=True)
            watch, before = Watch(), _children_cpu_s()
            wall, output = self.output(*arguments, timeout=PATIENCE_S, folder=folder)
            figures = {"job": wall, "cpu": _children_cpu_s() - before, OTHERS: watch.others()}
        if not self.result:
            return figures
        if not (found := self.result.search(output)):
            raise BenchError(f"{self.name}: {self.program.name} printed no result")
        return figures | {"energy": float(found[1])}


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def launcher(mpi: str, n: int, bind: str = "core") -> Launch:
    option = "--bind-to" if mpi == "openmpi" else "-bind-to"
    return lambda words: [str(shutil.which(f"mpirun.{mpi}")), option, bind, "-n", str(n), *words]


def preloaded(mpi: str) -> dict[str, str]:
    """The setting that preloads the library. Raises BenchError without the module for this MPI, because the library
    would then do nothing.
    """
    library = part_of_home("lib/libwattle-mpi.so")
    part_of_home(f"lib/libwattle-mpi-{mpi}.so")
    return {"LD_PRELOAD": str(library)}


def with_library(mpi: str, program: Path) -> list[Side]:
    """The sides with the library and without it, of two processes on a core each."""
    launch = launcher(mpi, 2)
    return [MpiSide("Wattle", program, launch, preloaded(mpi)), MpiSide("plain", program, launch)]


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


def run(part: Part) -> None:
    """Runs the section."""
    for mpi, name, program in installed("mpi.c"):
        loops(part, mpi, name, program)
    if shutil.which("nwchem.openmpi"):
        chemistry(part)
    else:
        say_skipped("nwchem: skipped, Debian's nwchem-openmpi is not installed")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def loops(part: Part, mpi: str, name: str, program: Path) -> None:
    sides = with_library(mpi, program)
    slack = part.rounds(f"MPI loops, {name}", sides, ["imbalanced"])
    close = part.rounds(f"MPI exchanges, {name}", sides, ["balanced"], CLOSE * part.options.pairs)
    part.found["raw"][mpi] = {"imbalanced": slack, "balanced": close}
    rows = [
        *compare([Row("imbalanced", f"100 ms and 1 ms, barrier, {name}", bar=1.01)], between(slack, 0, 1)),
        *compare([Row("balanced", f"exchange each 50 us, {name}", bar=1.02)], between(close, 0, 1)),
    ]
    part.show(f"{name}: two processes, with Wattle's library and without", SIDES, rows, promise=SECTION)
    part.bars.append(waiting_share(slack, name, not part.options.quick))


def waiting_share(slack: Rounds, name: str, judge: bool) -> Bar:
    """The CPU time of the rank that waits, as a share of the loop's time. Prints it, too."""
    own, plain = ([r[i]["waiting_cpu"] / (20 * r[i]["imbalanced"]) for r in slack] for i in range(2))
    disturbed = 3 * disturbed_rounds(r[:1] for r in slack) > len(slack)
    label = f"CPU of the rank that waits, of the loop's time, {name} (plain: {_percent(max(plain))})"
    bar = verdicts.of_cpu_seconds(SECTION, label, own, WAITING_BAR, disturbed, judge, _percent)
    least, middle = _percent(min(own)), _percent(statistics.median(own))
    out.print(f"CPU of the waiting rank: {least} to {bar.ours} of the loop's time, median {middle}")
    out.print()
    return bar


def chemistry(part: Part) -> None:
    """Debian's nwchem: one process a core, and two."""
    program = Path(str(shutil.which("nwchem.openmpi")))
    for n, shape, bind, bars in ((2, "one a core", "core", (1.02, None)), (4, "two a core", "none", (1.0, 1.0))):
        environments = (dict(OVERSUBSCRIBED) | preloaded("openmpi"), dict(OVERSUBSCRIBED))
        sides: list[Side] = [
            Application(name, program, launcher("openmpi", n, bind), environment, result=ENERGY)
            for name, environment in zip(SIDES, environments, strict=True)
        ]
        rounds = part.found["raw"][f"nwchem_{n}"] = part.rounds(f"nwchem, {n} processes", sides, [str(INPUT)])
        rows = [
            Row("job", f"nwchem, {n} processes ({shape})", bar=bars[0]),
            Row("cpu", f"its CPU seconds, {n} processes", bar=bars[1]),
        ]
        title = f"nwchem, {n} processes: with Wattle's library and without"
        part.compared(title, SIDES, rows, between(rounds, 0, 1), promise=SECTION)
        own, plain = (sorted({r[i]["energy"] for r in rounds}) for i in range(2))
        same = "the same in all runs" if len({*own, *plain}) == 1 else f"{own}, plain {plain}"
        out.print(f"energies, hartree: {same}")
        out.print()
