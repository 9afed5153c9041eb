"""The start of a plain `wattle run` without Typer (run/quick.py)."""

from __future__ import annotations

import subprocess
import sys

import pytest
from wattle import cli
from wattle.run import command, quick

PLAIN = [
    "run ./program",
    "run -- mpirun -n 4 ./program -o x --json",
    "run mpirun -n 4 -- ./program",
    "run -n 4 ./program",
    "run --np 4 -o out -- ./program",
    "run --output out --json --mpi ./script.sh",
    "run --label text --depth 0 --timeline -- mpirun ./program",
    "run -n 2 -n 3 ./program",
]
OTHERS = [
    "run",
    "run --",
    "run --help",
    "run -n",
    "run -n x ./program",
    "run -n -1 ./program",
    "run -n4 ./program",
    "run --np=4 ./program",
    "run -o -x ./program",
    "run --lab text ./program",
    "run --repeat 3 ./program",
    "run --no-profile ./program",
    "report .",
    "",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_command_line_is_read_as_typer_reads_it(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_typer: list[command.Asked] = []
    monkeypatch.setattr(command, "run", lambda asked: by_typer.append(asked) or 0)
    with pytest.raises(SystemExit):
        cli.main(line.split())
    assert [quick.read(line.split())] == by_typer


@pytest.mark.parametrize("line", OTHERS)
def test_other_command_lines_and_wrong_ones_are_left_to_typer(line: str) -> None:
    assert quick.read(line.split()) is None


def test_an_empty_path_is_left_to_typer() -> None:
    assert quick.read(["run", "-o", "", "./program"]) is None


def test_a_job_starts_before_what_shows_its_figures_is_imported(environment: dict[str, str]) -> None:
    """Imports take longer than the start of an empty job."""
    code = "import sys; from wattle.run import quick; print({'typer', 'rich', 'msgspec', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
