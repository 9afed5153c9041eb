"""The commands that README, getting started, the tutorials and others show run as shown, with that output."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shown
from jobs import complaints
from wattle.run.mpi import AS_ROOT, OVERSUBSCRIBED

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("WATTLE_HOME") or ROOT / "build/release")
FIRST = [ROOT / name for name in ("README.md", "docs/getting-started.md", "docs/regressions.md")]
PAGES = [*FIRST, *sorted((ROOT / "docs/tutorials").glob("*.md"))]
LIMIT_S = 900  # of all commands of a page, on a busy machine
OVERLOADED = "is this machine overloaded?"

# Commands that are not run here, by their beginning, and the reason.
NOT_RUN = {
    "make ": "they build, test or install everything: `make test` itself and tests/python/house/test_installed.py",
    "pip install": "it needs the network",
    "oshrun -n 3 python program.py": "it needs shmem4py",
}

MPI_PROGRAM = (
    "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like that of the sources after `make build`, with programs of the reader's own."""
    if not (HOME / "bin/oshcc").exists():
        pytest.skip("build/release is not built")
    (tmp_path / "build").mkdir()
    for name, target in (("build/release", HOME), (".venv", sys.prefix), ("examples", ROOT / "examples")):
        (tmp_path / name).symlink_to(target)
    shutil.copy(ROOT / "examples/hello.c", tmp_path / "program.c")
    (tmp_path / "mpi.c").write_text(MPI_PROGRAM)
    subprocess.run(["mpicc", "mpi.c", "-o", "mpi-program"], cwd=tmp_path, check=True)
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    """Of a reader who has done what getting started says. Open MPI starts as root and with more ranks than cores."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WATTLE_", "SHMEM_", "OMPI_", "COLUMNS"))}
    return kept | {
        "PATH": f"{folder}/build/release/bin:{folder}/.venv/bin:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": f"{folder}/build/release/lib",
        "WATTLE_HOME": str(HOME),
        "HOME": str(folder),
        "COLUMNS": "120",
        **AS_ROOT,
        **OVERSUBSCRIBED,
    }


def run(commands: list[shown.Command], folder: Path) -> list[tuple[int, str]]:
    """The exit code and the output of each command, in one shell. `$?` is that of the command before."""
    results = folder / "results"
    results.mkdir()
    lines = []
    for number, command in enumerate(commands):
        out = shlex.quote(str(results / str(number)))
        lines.append(f"{{ {command.text}\n}} >{out} 2>&1 </dev/null\ncode=$?; echo $code >{out}.code; (exit $code)")
    script = folder / "script"
    script.write_text("\n".join(lines), encoding="utf-8")
    subprocess.run(["bash", script], cwd=folder, env=environment(folder), timeout=LIMIT_S, check=False)
    found = []
    for number in range(len(commands)):
        code = results / f"{number}.code"
        text = complaints((results / str(number)).read_text(errors="replace")) if code.exists() else ""
        found.append((int(code.read_text()) if code.exists() else -1, text))
    return found


def is_stopped_by_load(command: str, output: str) -> bool:
    """`wattle calibrate` stops by itself where other work takes the cores. That is no fault of the page."""
    return command == "wattle calibrate" and OVERLOADED in " ".join(output.split())


@pytest.mark.soak
@pytest.mark.timeout(LIMIT_S + 100)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_of_a_page_run_as_shown(path: Path, folder: Path) -> None:
    page = shown.read(path)
    for name, text in page.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    commands = [c for c in page.commands if not c.text.startswith(tuple(NOT_RUN))]
    wrong = []
    for number, (command, (code, output)) in enumerate(zip(commands, run(commands, folder), strict=True)):
        shows_code = number + 1 < len(commands) and commands[number + 1].text == "echo $?"
        if code != 0 and is_stopped_by_load(command.text, output):
            continue
        if code != 0 and not shows_code:
            wrong.append(f"{path.name}:{command.line}: {command.text}: exit code {code}\n{output}")
        elif command.expected and not shown.agrees(command.expected, output):
            wrong.append(f"{path.name}:{command.line}: {command.text} printed\n{output}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_command_of_a_page_is_in_a_block_that_is_run(path: Path) -> None:
    assert shown.read(path).other_blocks == []


def test_expected_output_is_compared() -> None:
    assert shown.agrees(["a ... c", "...", "end"], "a b c\nx\ny\nend\n")
    assert not shown.agrees(["a ... c", "...", "end"], "a b d\nx\ny\nend\n")
    assert not shown.agrees(["a"], "a\nb\n")
    assert not shown.agrees(["a"], "")
