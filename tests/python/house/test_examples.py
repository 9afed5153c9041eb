"""The programs that people meet first: right answers at several numbers of PEs, and clear words on wrong use."""

from __future__ import annotations

import os
import subprocess

import pytest
from tree import ROOT

BUILD = ROOT / "build" / "release"
EXAMPLES = BUILD / "bin" / "examples"

pytestmark = pytest.mark.skipif(not (EXAMPLES / "halo").exists(), reason="build/release is not built")


def start(program: str, *arguments: object, n: int = 1) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WATTLE_", "SHMEM_"))}
    command = [str(BUILD / "bin" / "oshrun"), "-n", str(n), str(EXAMPLES / program), *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("n", [1, 4])
def test_hello_reaches_every_left_neighbour(n: int) -> None:
    done = start("hello", n=n)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == n


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("ring", ["--laps", "50"]),
        ("pi", ["--strips", "100001"]),
        ("sort", ["--keys", "5003"]),
        ("matmul", ["--size", "61"]),
    ],
)
def test_small_ones_check_their_own_results(program: str, arguments: list[str], n: int) -> None:
    done = start(program, *arguments, n=n)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("correct") == 1


@pytest.mark.parametrize("n", [1, 4, 7])
def test_halo_is_correct_for_any_cut_of_the_field(n: int) -> None:
    done = start("halo", "--size", 61, "--steps", 300, n=n)
    assert done.returncode == 0, done.stderr
    assert "correct" in done.stdout


def test_halo_is_correct_with_unequal_work() -> None:
    done = start("halo", "--size", 128, "--steps", 200, "--imbalance", 3.5, n=3)
    assert done.returncode == 0, done.stderr
    assert "correct" in done.stdout


@pytest.mark.parametrize("method", [0, 1])
@pytest.mark.parametrize("n", [1, 3])
def test_gups_gets_its_first_table_back(n: int, method: int) -> None:
    done = start("gups", "--log-table", 14, "--method", method, n=n)
    assert done.returncode == 0, done.stderr
    assert "correct" in done.stdout
    assert method == 1 or " 0 words wrong" in done.stdout


def test_energy_region_says_where_its_joules_come_from() -> None:
    env = os.environ | {"WATTLE_METER": "model"}
    done = subprocess.run(
        [str(EXAMPLES / "energy_region")], env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "meter: model" in done.stdout
    assert "modelled" in done.stdout


@pytest.mark.parametrize("program", ["ring", "pi", "halo", "gups", "sort", "matmul"])
def test_help_names_every_option_once_and_succeeds(program: str) -> None:
    done = start(program, "--help", n=2)
    assert done.returncode == 0
    assert done.stdout.count("options:") == 1


@pytest.mark.parametrize(
    ("program", "arguments", "words"),
    [
        ("halo", ["--size", "many"], "--size needs a number from 2 to 32768, not 'many'"),
        ("halo", ["--steps"], "--steps needs a number"),
        ("halo", ["--imbalance", "0.5"], "--imbalance needs a number from 1 to 100"),
        ("halo", ["--size", "3", "--steps", "5000"], "use fewer"),
        ("gups", ["--fast"], "unknown option '--fast'"),
        ("gups", ["--method", "2"], "--method needs a number from 0 to 1"),
    ],
)
def test_wrong_use_is_named_once_and_fails(program: str, arguments: list[str], words: str) -> None:
    done = start(program, *arguments, n=2)
    assert done.returncode != 0
    assert done.stderr.count(words) == 1, done.stderr
