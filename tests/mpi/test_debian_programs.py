"""MPI programs of Debian give the same results with the preload library as without it (debian_programs.toml)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from jobs import clean_environment, complaints
from preload import ENVIRONMENT, LIBRARY, MPICH, OPEN_MPI, Mpi, profiles
from private_system import PrivateSystem, private_system, why_not
from tree import ROOT

FOLDER = ROOT / "build/debian-programs"
LIMIT_S = 600
MPIS = {mpi.name: mpi for mpi in (OPEN_MPI, MPICH)}


@dataclass(frozen=True)
class Program:
    """A row of the table."""

    name: str
    packages: str
    run: str
    ranks: int = 2
    mpis: list[str] = field(default_factory=lambda: ["openmpi"])
    files: dict[str, str] = field(default_factory=dict)
    setup: str = ":"
    after: str = ":"
    results: list[str] = field(default_factory=list)
    keep: str = "."
    drop: str = "^wattle: "
    mask: str = ""
    sorted: bool = False

    def compared(self, text: str) -> list[str]:
        """The lines of an output that must be the same."""
        kept = [line for line in text.splitlines() if re.search(self.keep, line) and not re.search(self.drop, line)]
        masked = [re.sub(self.mask, "~", line).rstrip() if self.mask else line.rstrip() for line in kept]
        return sorted(masked) if self.sorted else masked


def table() -> list[Program]:
    """The rows. One with `like` has the input and the setup of that row."""
    rows = tomllib.loads((Path(__file__).parent / "debian_programs.toml").read_text())["program"]
    by_name = {row["name"]: row for row in rows}
    shared = {
        row["name"]: {key: by_name[row["like"]][key] for key in ("files", "setup") if key in by_name[row["like"]]}
        for row in rows
        if "like" in row
    }
    return [Program(**shared.get(row["name"], {}), **{k: v for k, v in row.items() if k != "like"}) for row in rows]


PROGRAMS = table()


def outputs(system: PrivateSystem, program: Program, mpi: Mpi, folder: Path, **settings: str) -> tuple[list[str], str]:
    """Runs the program in a folder of its own. Returns what is compared, and the errors."""
    folder.mkdir()
    for name, text in program.files.items():
        (folder / name).write_text(text.lstrip("\n"))
    environment = {**clean_environment(), **ENVIRONMENT, "OMP_NUM_THREADS": "1", "MPI": mpi.name}
    environment |= {"HOME": str(folder.parent), "PYTHONUNBUFFERED": ""}  # so lines of ranks stay whole
    made = system.run(program.setup, folder, environment, LIMIT_S)
    assert made.returncode == 0, (made.stdout + made.stderr)[-2000:]
    launched = f"exec mpirun.{mpi.name} -n {program.ranks} {program.run.replace('{mpi}', mpi.name)}"
    done = system.run(launched, folder, environment | settings, LIMIT_S)
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    system.run(program.after, folder, environment, LIMIT_S)
    texts = [done.stdout, *((folder / name).read_text(errors="replace") for name in program.results)]
    return [line for text in texts for line in program.compared(text)], complaints(done.stderr)


@pytest.fixture(scope="session")
def system(request: pytest.FixtureRequest) -> Iterator[PrivateSystem]:
    """The machine with the packages of the programs that this run tests."""
    if reason := why_not(FOLDER):
        pytest.skip(reason)
    chosen = [item.callspec.params["program"] for item in request.session.items if "system" in item.fixturenames]
    with private_system(FOLDER) as made:
        made.install(sorted({package for program in chosen for package in program.packages.split()}))
        yield made


EACH = [pytest.param(p, MPIS[name], id=f"{p.name}-{name}") for p in PROGRAMS for name in p.mpis]


@pytest.mark.soak
@pytest.mark.timeout(9000)
@pytest.mark.parametrize(("program", "mpi"), EACH)
def test_a_program_of_debian_gives_the_same_results(
    system: PrivateSystem, program: Program, mpi: Mpi, tmp_path: Path
) -> None:
    plain, _ = outputs(system, program, mpi, tmp_path / "plain")
    profile = tmp_path / "profile"
    profile.mkdir()
    settings = {"LD_PRELOAD": str(LIBRARY), "WATTLE_PROFILE_DIR": str(profile)}
    preloaded, errors = outputs(system, program, mpi, tmp_path / "preloaded", **settings)
    assert plain, "nothing is compared"
    assert preloaded == plain
    assert "wattle:" not in errors, errors
    ranks = profiles(profile)
    assert [rank["pe"] for rank in ranks] == list(range(program.ranks))
    assert all(rank["sites"] for rank in ranks)


def test_the_table_names_each_program_once() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 30
    for program in PROGRAMS:
        assert set(program.mpis) <= set(MPIS)
        for pattern in (program.keep, program.drop, program.mask):
            re.compile(pattern)
