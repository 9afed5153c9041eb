"""The command `wattle scale`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.run.options import Json
from wattle.text import console, units

NUMBER = re.compile(r"\{n(?:\*([0-9]{1,12}))?\}")
SIZES_MOST = 1 << 20


def scale(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="With -n: the program and its arguments, after --. Else: directories."),
    ],
    n: Annotated[
        str | None, typer.Option("-n", metavar="1,2,4", help="Run the program with each of these numbers of PEs.")
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="K", min=1, help="With -n: run each number K times, in turn.")] = 3,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="With -n: the folder of the runs.")
    ] = None,
    mpi: Annotated[bool, typer.Option("--mpi", help="With -n: the program is `mpirun -n {n} ...` or alike.")] = False,
    weak: Annotated[bool, typer.Option("--weak", help="The work grows with the number of processes.")] = False,
    json: Json = False,
) -> None:
    """Show time, joules, EDP and efficiency over the number of processes, and how many to use.

    Laws of few terms are fitted to the runs. They name the number with the least joules, that with the least EDP, and
    the last that pays: up to it the parallel efficiency is at least 50 %. A number beyond all that ran is marked.

    In the words of the program {n} stands for the number of processes, and {n*1000} for that times 1000:

        wattle scale -n 1,2,4,8 --weak -- ./solve --cells {n*1000}
    """
    from wattle.scale import points  # imported late, because the laws need the extra `lab`
    from wattle.scale.answer import answer
    from wattle.scale.show import show

    if n is None:
        if output is not None or mpi:
            raise WattleError("-o and --mpi need -n: without it the runs exist already")
        directories = [Path(name) for name in arguments]
    else:
        directories = [_run(arguments, _sizes(n), repeat, output or Path("wattle-runs") / "scale", mpi)]
    found = answer(points.read(directories), weak)
    console.print_json(found.as_dict()) if json else show(found, console.out)


def _sizes(text: str) -> list[int]:
    words = text.split(",")
    if not all(re.fullmatch("[0-9]{1,7}", word) and 0 < int(word) <= SIZES_MOST for word in words):
        raise WattleError(f"-n {text}: expected numbers of PEs from 1 to {SIZES_MOST}, such as 1,2,4,8")
    return sorted(set(map(int, words)))


def placed(words: list[str], n: int) -> list[str]:
    """The words of the program with the number of processes in the place of {n} and {n*K}."""
    return [NUMBER.sub(lambda found: str(n * int(found[1] or 1)), word) for word in words]


def _run(program: list[str], sizes: list[int], repeat: int, folder: Path, mpi: bool) -> Path:
    """Runs the program with each size in turn, so that a slow change of the machine affects all sizes."""
    if folder.exists() and any(folder.iterdir()):
        raise WattleError(f"{folder}: is not empty; give another folder with -o")
    with console.progress("running", repeat * len(sizes)) as steps:
        for k in range(1, repeat + 1):
            for size in sizes:
                place = folder / f"n-{size}" / f"run-{k}"
                place.parent.mkdir(parents=True, exist_ok=True)
                number = ["--mpi"] if mpi else ["-n", str(size)]
                options = [*number, "-o", str(place), "--", *placed(program, size)]
                log = place.parent / f"run-{k}.log"
                with files.writing(log) as out:
                    done = subprocess.run([sys.executable, "-m", "wattle", "run", *options], stdout=out, stderr=out)
                if done.returncode:
                    count = units.several(size, "process")
                    raise WattleError(f"the program failed with {count}, exit code {done.returncode}; see {log}")
                steps.advance()
    return folder
