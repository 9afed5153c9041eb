"""The price of the preload library, with call paths: short calls of MPI, and applications of Debian on two cores.

The applications and their input are those of tests/mpi/debian_programs.toml, of a size that takes seconds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wattle.run.mpi import OVERSUBSCRIBED
from wattle.text.console import progress

from bench import verdicts
from bench.jobs import COMMON_ENV, ROOT, BenchError, MissingInput, Side, Toolchain, alternate
from bench.mpi import CLOSE, Application, MpiSide, installed, launcher, preloaded
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, say_skipped, section

SECTION = "Price of --mpi"
TABLE = ROOT / "tests/mpi/debian_programs.toml"
BAR = 1.01
MESSAGES = (
    ("latency", "8 B there and back, half"),
    ("rate", "64 messages of 8 B, each"),
    ("allreduce", "MPI_Allreduce of a double"),
    ("barrier", "MPI_Barrier"),
)
# Of each application: the file of its input or `setup`, and words there whose replacement makes it longer.
LONGER: dict[str, tuple[str, str, str]] = {
    "lammps": ("in.melt", "0 8 0 8 0 8", "0 16 0 16 0 16"),
    "gromacs": ("md.mdp", "nsteps = 200", "nsteps = 4000"),
    "quantum-espresso": ("", "", ""),
    "hpcc": ("setup", "s/^1000/200/", "s/^1000/1000/"),
    "nwchem": ("water.nw", "6-31g*", "cc-pvtz"),
}


@contextmanager
def with_profile() -> Iterator[dict[str, str]]:
    """The settings of `wattle run --mpi`: a profile is written, into a folder that is removed."""
    with tempfile.TemporaryDirectory() as folder:
        yield {**preloaded("openmpi"), "WATTLE_PROFILE_DIR": folder}


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    result: dict = {"rows": [], "bars": [], "raw": {}}
    for mpi, name, program in installed("mpi.c"):
        messages(options, result, mpi, name, program)
    for row in tomllib.loads(TABLE.read_text())["program"]:
        if row["name"] in LONGER:
            try:
                application(options, result, row)
            except MissingInput as error:
                say_skipped(f"{row['name']}: skipped, {error}")
    return result


def messages(options: argparse.Namespace, result: dict, mpi: str, name: str, program: Path) -> None:
    """Short calls, one rank a core. There are more pairs, because runs differ by more than the bar."""
    bound = ["--bind-to", "core"] if mpi == "openmpi" else ["-bind-to", "core"]
    launch, pairs = launcher(mpi, 2, *bound), CLOSE * options.pairs
    sides: list[Side] = [MpiSide("Wattle", program, launch, preloaded(mpi)), MpiSide("plain", program, launch)]
    with progress(f"short calls, {name}", pairs * len(sides)) as steps:
        rounds = alternate(sides, pairs, ["messages"], steps.advance)
    rows = compare([Row(key, f"{words}, {name}", bar=BAR) for key, words in MESSAGES], between(rounds, 0, 1))
    section(f"{name}: short calls, with Wattle's library and without", comparison_table("Wattle", "plain", rows))
    result["rows"] += as_data(rows)
    result["bars"] += verdicts.of_comparisons(SECTION, "plain", rows)
    result["raw"][mpi] = rounds


def application(options: argparse.Namespace, result: dict, row: dict) -> None:
    """An application of the table on two cores, with a profile and without Wattle."""
    name, (first, *arguments) = row["name"], row["run"].split()
    program = shutil.which(first)
    if not program or not shutil.which("mpirun.openmpi"):
        say_skipped(f"{name}: skipped, Debian's {row['packages'].split()[0]} or mpirun.openmpi is not installed")
        return
    environment, launch = {**COMMON_ENV, **OVERSUBSCRIBED}, launcher("openmpi", 2, "--bind-to", "core")
    with tempfile.TemporaryDirectory() as folder, with_profile() as profile:
        _prepare(row, Path(folder))
        words = (Path(program), launch)
        sides: list[Side] = [
            Application("Wattle", *words, {**environment, **profile}, tuple(arguments), Path(folder)),
            Application("plain", *words, environment, tuple(arguments), Path(folder)),
        ]
        with progress(name, options.pairs * len(sides)) as steps:
            rounds = alternate(sides, options.pairs, [], steps.advance)
    rows = compare([Row("job", f"{name}, 2 processes", bar=BAR), Row("cpu", "its CPU seconds")], between(rounds, 0, 1))
    section(f"{name}, 2 processes: with `wattle run --mpi` and without", comparison_table("Wattle", "plain", rows))
    result["rows"] += as_data(rows)
    result["bars"] += verdicts.of_comparisons(SECTION, "plain", rows)
    result["raw"][name] = rounds


def _prepare(row: dict, folder: Path) -> None:
    """Writes the input of an application into a folder."""
    where, short, long = LONGER[row["name"]]
    files, setup = dict(row.get("files", {})), row.get("setup", "")
    if short not in (setup if where == "setup" else files.get(where, "")):
        raise BenchError(f"{TABLE}: {where} of {row['name']} has no `{short}`")
    if where == "setup":
        setup = setup.replace(short, long)
    for name, text in files.items():
        (folder / name).write_text(text.replace(short, long) if name == where else text)
    environment = {**os.environ, **COMMON_ENV, "MPI": "openmpi"}
    words = ["sh", "-ec", setup]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingInput(f"its input cannot be made: {done.stderr.strip() or f'`{setup}` failed'}")
