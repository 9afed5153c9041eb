"""`wattle scale` finds the laws of programs and the number of processes with the least joules."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import fakes
import pytest
from fakes import Wattle
from wattle.base.errors import WattleError
from wattle.scale import law as laws
from wattle.scale import points
from wattle.scale.answer import PAYS, answer
from wattle.scale.cli import placed
from wattle.scale.points import Series, Size
from wattle.text.provenance import Joules, Provenance

SIZES = (1, 2, 4, 8, 16, 32, 64)
BUSY_W, IDLE_W = 5.0, 100.0  # of a process, and of the node
LAWS: dict[str, Callable[[float], float]] = {
    "Amdahl, 5 % serial": lambda n: 0.05 + 0.95 / n,
    "a tree in each step": lambda n: 1 / n + 0.02 * math.log2(n),
    "an exchange of all with all": lambda n: 1 / n + 0.004 * n,
}


def joules_of(law: Callable[[float], float], n: float) -> float:
    return (BUSY_W * n + IDLE_W) * law(n)


def made(law: Callable[[float], float], seed: int, repeats: int = 5, noise: float = 0.02) -> Series:
    """A program with a law, whose times and joules have some noise."""
    chance = random.Random(seed)
    sizes = []
    for n in SIZES:
        times = [law(n) * chance.gauss(1, noise) for _ in range(repeats)]
        figures = [(BUSY_W * n + IDLE_W) * t * chance.gauss(1, noise) for t in times]
        sizes.append(Size(n, times, [Joules(j, 0.1 * j, Provenance.MODELLED, "model", "node") for j in figures]))
    return Series("program", "PE", "", sizes)


@pytest.mark.parametrize("name", LAWS)
def test_the_number_of_least_joules_is_right_in_9_of_10_seeds(name: str) -> None:
    law = LAWS[name]
    least = min(joules_of(law, n) for n in range(1, 4 * SIZES[-1] + 1))
    found = [next(b for b in answer(made(law, seed)).best if b.what == "least joules") for seed in range(10)]
    assert sum(joules_of(law, best.n) <= 1.01 * least for best in found) >= 9
    true = min(range(1, 257), key=lambda n: joules_of(law, n))
    assert sum(best.low <= true <= best.high for best in found) >= 7


@pytest.mark.parametrize("name", LAWS)
def test_the_law_predicts_twice_the_largest_size(name: str) -> None:
    law = LAWS[name]
    errors = []
    for seed in range(10):
        found = laws.fit({s.n: s.times for s in made(law, seed).sizes}, laws.OF_TIME)
        errors.append(abs(float(found.at(laws.np.array([128.0]))[0]) / law(128) - 1))
    assert sorted(errors)[8] < 0.15


def test_the_last_that_pays_has_the_efficiency() -> None:
    law = LAWS["Amdahl, 5 % serial"]
    (best,) = [b for b in answer(made(law, 1, noise=0.001)).best if b.what == "last that pays"]
    assert law(1) / (best.n * law(best.n)) == pytest.approx(PAYS, abs=0.03)
    assert not best.beyond


def test_a_number_beyond_what_ran_is_marked() -> None:
    found = answer(made(lambda n: 1 / n, 1, noise=0.001))
    assert {best.what: best.beyond for best in found.best}["least joules"]
    assert found.best[0].n == 4 * SIZES[-1]


def test_without_joules_the_time_is_fitted_alone() -> None:
    series = made(LAWS["Amdahl, 5 % serial"], 1)
    series.sizes[2].joules[0] = Joules(1.0, 0.1, Provenance.MEASURED, "powercap")
    found = answer(series)
    assert found.joules is None
    assert [best.what for best in found.best] == ["last that pays"]
    two = Series("program", "PE", "", series.sizes[:2])
    assert answer(two).time is None


def make(folder: Path, n: int, wall_s: float, **more: object) -> Path:
    pes = [fakes.pe_profile(pe, n, wall_s=wall_s) for pe in range(n)]
    return fakes.make_run(folder, pes, n_pes=n, **more)


def test_runs_that_exist_are_read(tmp_path: Path, wattle: Wattle) -> None:
    for n in (1, 2, 4):
        for k in range(3):
            make(tmp_path / f"{n}-{k}", n, (0.1 + 0.9 / n) * (1 + k / 100))
    done = wattle("scale", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(row["n"], row["repeats"]) for row in document["rows"]] == [(1, 3), (2, 3), (4, 3)]
    assert document["rows"][1]["efficiency"] == pytest.approx(1 / (2 * 0.55), rel=0.01)
    assert document["provenance"] == "modelled"
    shown = wattle("scale", tmp_path).stdout
    assert "PEs, fitted:" in shown and "Last that pays:" in shown
    assert all(len(line) <= 80 or "fitted" in line for line in shown.splitlines())


def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "a", 1, 1.0)
    make(tmp_path / "b", 2, 1.0, command=["./other"])
    with pytest.raises(WattleError, match="holds runs of halo and other"):
        points.read([tmp_path])
    with pytest.raises(WattleError, match="exit code 3"):
        points.read([make(tmp_path / "c", 2, 1.0, exit_code=3)])
    with pytest.raises(WattleError, match="holds no directory"):
        points.read([tmp_path / "none"])


def test_the_words_of_the_program_have_the_number() -> None:
    assert placed(["mpirun", "-n", "{n}", "./a", "cells={n*1000}", "{m}"], 8) == [
        "mpirun", "-n", "8", "./a", "cells=8000", "{m}",
    ]  # fmt: skip


def test_a_program_is_run_with_each_number_in_turn(tmp_path: Path, wattle: Wattle) -> None:
    program = fakes.script(tmp_path / "program", f"#!/bin/sh\necho $FAKE_PE $FAKE_N $1 >>{tmp_path}/seen\n")
    done = wattle("scale", "-n", "2,1", "--repeat", "2", "-o", tmp_path / "runs", "--", program, "{n*10}")
    assert "holds no" not in done.stderr
    seen = [line.split() for line in (tmp_path / "seen").read_text().splitlines()]
    assert [(words[1], words[2]) for words in seen if words[0] == "0"] == [("1", "10"), ("2", "20")] * 2
    again = wattle("scale", "-n", "1", "-o", tmp_path / "runs", "--", program)
    assert (again.returncode, "is not empty; give another folder with -o" in again.stderr) == (2, True)


def test_wrong_usage_is_named(wattle: Wattle, tmp_path: Path) -> None:
    assert "expected numbers of PEs" in wattle("scale", "-n", "1,x", "--", "true").stderr
    assert "need -n" in wattle("scale", "--mpi", tmp_path).stderr
    failed = wattle("scale", "-n", "1", "-o", tmp_path / "f", "--", "false")
    assert failed.returncode == 2
    assert "the program failed with 1 process, exit code 1; see" in failed.stderr
