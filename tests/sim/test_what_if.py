"""`wattle sim --what-if` of simulated and real runs: a table of 80 columns, rankings to ask for, other networks."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from sim_job import HOME, ROOT, build, is_built, simulate, wattle

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty instances in which PE 1 computes more than three times as long as PE 0."""
    folder = build(tmp_path_factory.mktemp("recorded"), "imbalance")
    options = ("--set", "WATTLE_TIMELINE=1M", "--set", "WATTLE_WAIT=spin")
    done = simulate(folder / "run", folder / "imbalance", "3", "10", "20", n=2, options=options)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def ask(recorded: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return wattle("sim", "--what-if", recorded, *options, COLUMNS="80")


@pytest.fixture(scope="module", params=[("--timeline",), ()], ids=["timeline", "sums"])
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two PEs of an example on this machine."""
    folder = tmp_path_factory.mktemp("real")
    words = [HOME / "bin/oshcc", "-O2", "-g", ROOT / "examples/halo.c", "-o", folder / "halo", "-lm"]
    subprocess.run(words, check=True)
    done = wattle("run", *request.param, "-n", "2", "-o", folder / "run", "--", folder / "halo")
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_a_run_of_a_real_machine_is_replayed_and_its_network_stays_as_it_was(real: Path) -> None:
    found = answer(real)
    assert found["network"] == "as recorded" and found["choices"]
    done = ask(real)
    assert done.returncode == 0 and "network as recorded" in " ".join(done.stdout.split()), done
    done = ask(real, "--network", "ethernet-10g-tcp")
    assert done.returncode == 2 and "the run was not simulated" in done.stderr and done.stderr.count("\n") == 1, done


def answer(recorded: Path, *options: str) -> dict:
    done = ask(recorded, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_table_fits_80_columns_and_states_what_each_column_is(recorded: Path) -> None:
    done = ask(recorded)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("wait")) :]
    assert table[0].split() == ["wait", "clocks", "time", "slower", "joules", "saved", "oracle"]
    assert all(len(line) <= 80 for line in table)
    rows = table[2:14]
    assert all(row.split()[0] in ("spin", "yield", "sleep", "adaptive") for row in rows)  # none is broken in two
    said = " ".join(done.stdout.split())
    assert "Joules are modelled" in said and re.search(r"From timelines: \d+ barriers", said)


def test_rounds_of_a_barrier_are_one_collective(tmp_path: Path) -> None:
    """Of a barrier of many PEs each round is a wait; the barrier itself is seldom timed."""
    folder = build(tmp_path, "imbalance")
    options = ("--set", "WATTLE_TIMELINE=64K", "--set", "WATTLE_WAIT=spin")
    loads = [str(3 + pe % 8) for pe in range(24)]
    done = simulate(folder / "run", folder / "imbalance", *loads, "40", n=24, options=options)
    assert done.returncode == 0, done.stderr
    how = re.search(r"From timelines: (\d+) barriers", " ".join(ask(folder / "run").stdout.split()))
    assert how and 40 <= int(how[1]) <= 40 + 2 * 24, how  # and one a PE when they print


def test_of_an_mpi_program_the_calls_of_all_processes_are_the_collectives(tmp_path: Path) -> None:
    folder = build(tmp_path, "mpi_parts")
    options = ("--set", "WATTLE_TIMELINE=64K", "--set", "WATTLE_WAIT=spin")
    done = simulate(folder / "run", folder / "mpi_parts", "20", n=8, options=options)
    assert done.returncode == 0 and done.stdout == "sum 8\n", done
    found = answer(folder / "run")
    assert found["trace"].startswith("from timelines: 20 barriers of all ranks and each")
    assert found["against"]["time_s"] == pytest.approx(20e-3, rel=0.05)  # the even ones' waits are for the odd ones


def test_choices_are_ranked_within_the_slowdown_and_none_beats_its_oracle(recorded: Path) -> None:
    by = {"energy": "joules", "edp": "edp"}
    for rank, key in by.items():
        found = answer(recorded, "--rank", rank, "--slowdown", "2")["choices"]
        allowed = [c for c in found if c["allowed"]]
        assert found[: len(allowed)] == allowed and all(c["slowdown_percent"] <= 2 for c in allowed)
        assert [c[key] for c in allowed] == sorted(c[key] for c in allowed)
        assert all(c["joules"] >= c["oracle_joules"] * (1 - 1e-9) for c in found if c["slowdown_percent"] <= 1e-6)
        assert {c["provenance"] for c in found} == {"modelled"}


def test_a_slower_network_takes_longer_and_the_run_s_own_as_long(recorded: Path) -> None:
    took = [answer(recorded, "--network", name)["against"]["time_s"] for name in ("infiniband-qdr", "ethernet-10g-tcp")]
    assert took[0] == pytest.approx(answer(recorded)["against"]["time_s"], rel=1e-9) and took[1] > took[0]
    done = ask(recorded, "--network", "carrier-pigeon")
    assert done.returncode == 2 and "known are " in done.stderr and "ethernet-10g-tcp" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rank", "beauty"), ["--rank beauty", "energy, time, edp"]),
        (("--", "./program"), ["--what-if", "takes no program"]),
        (("-n", "4"), ["-n: is only for a program", "--what-if"]),
        *((("--slowdown", x), ["expected a number from 0 to 1000"]) for x in ("inf", "nan", "1e400", "-1", "9" * 400)),
        (("--set", "WATTLE_WAIT=spin"), ["--set: is only for a program"]),
    ],
)
def test_a_state_that_cannot_be_requested_is_refused(
    recorded: Path, options: tuple[str, ...], words: list[str]
) -> None:
    done = ask(recorded, *options)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
