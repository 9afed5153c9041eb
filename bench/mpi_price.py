"""The price of the preload library, with call paths: short calls of MPI, and applications of Debian on two cores.

The applications and their input are those of tests/mpi/debian_programs.toml, of a size that takes seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from wattle.run.mpi import OVERSUBSCRIBED

from bench.jobs import COMMON_ENV, ROOT, BenchError, Side
from bench.mpi import CLOSE, SIDES, Application, installed, launcher, preloaded, with_library
from bench.pairs import Row, between
from bench.part import Part
from bench.show import say_skipped

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


def run(part: Part) -> None:
    """Runs the section."""
    for mpi, name, program in installed("mpi.c"):
        part.attempt(f"short calls, {name}", partial(messages, part, mpi, name, program))
    for row in tomllib.loads(TABLE.read_text())["program"]:
        if row["name"] in LONGER:
            part.attempt(row["name"], partial(application, part, row))


def messages(part: Part, mpi: str, name: str, program: Path) -> None:
    """Short calls, one rank a core. There are more pairs, because runs differ by more than the bar."""
    sides = with_library(mpi, program)
    rounds = part.rounds(f"short calls, {name}", sides, ["messages"], CLOSE * part.options.pairs)
    part.found["raw"][mpi] = rounds
    rows = [Row(key, f"{words}, {name}", bar=BAR) for key, words in MESSAGES]
    title = f"{name}: short calls, with Wattle's library and without"
    part.compared(title, SIDES, rows, between(rounds, 0, 1), promise=SECTION)


def application(part: Part, row: dict[str, Any]) -> None:
    """An application of the table on two cores, with a profile and without Wattle."""
    name, (first, *arguments) = row["name"], row["run"].split()
    program = shutil.which(first)
    if not program or not shutil.which("mpirun.openmpi"):
        say_skipped(f"{name}: skipped, Debian's {row['packages'].split()[0]} or mpirun.openmpi is not installed")
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        _prepare(row, Path(folder))
        own = {**OVERSUBSCRIBED, **preloaded("openmpi"), "WATTLE_PROFILE_DIR": profile}  # as `wattle run --mpi` has it
        sides: list[Side] = [
            Application(side, Path(program), launcher("openmpi", 2), dict(environment), folder=Path(folder))
            for side, environment in zip(SIDES, (own, OVERSUBSCRIBED), strict=True)
        ]
        rounds = part.found["raw"][name] = part.rounds(name, sides, arguments)
    rows = [Row("job", f"{name}, 2 processes", bar=BAR), Row("cpu", "its CPU seconds")]
    title = f"{name}, 2 processes: with `wattle run --mpi` and without"
    part.compared(title, SIDES, rows, between(rounds, 0, 1), promise=SECTION)


def _prepare(row: dict[str, Any], folder: Path) -> None:
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
        raise BenchError(f"its input cannot be made: {done.stderr.strip() or f'`{setup}` failed'}")
