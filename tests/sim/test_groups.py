"""The governor where some PEs wait for some others: teams, pairs, wavefronts and rings, beside an oracle of clocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_job import HOME, is_built, result, simulate
from wattle.study.groups import oracle

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

PES, INSTANCES = 16, 200
PROGRAMS = HOME / "lib/wattle/apps/simulated"
TURNS = "325000"  # in a millisecond of a simulated core


def run(where: Path, program: str, *words: str, per_node: int = 1, n: int = PES, **settings: str) -> Path:
    options = [word for item in ({"WATTLE_WAIT": "spin"} | settings).items() for word in ("--set", "=".join(item))]
    nodes = ("--per-node", str(per_node), *options)
    done = simulate(where, PROGRAMS / program, *words, n=n, options=nodes, timeout=900)
    assert done.returncode == 0, done.stderr
    return where


def judge(tmp_path: Path, pattern: str, scaling: str, per_node: int, seed: int) -> tuple[float, float]:
    """The part of the oracle's saving that mode energy saves, and by what share the program takes longer."""
    case = oracle.Case(pattern, PES, INSTANCES, 3, 10 if seed else 0, max(seed, 1))
    words = ("--turns", TURNS, "--instances", str(INSTANCES), "--seed", str(case.seed), "--pattern", pattern)
    program = "groups-mpi" if pattern in ("communicators", "grid") else "groups"
    case_word = f"{case.ratio}:{case.percent}"
    base = oracle.read(run(tmp_path / "base", program, *words, case_word, per_node=per_node))
    governed = {"WATTLE_GOVERN": "energy", "WATTLE_SCALING": scaling}
    ran = oracle.read(run(tmp_path / "governed", program, *words, case_word, per_node=per_node, **governed))
    saved, most, longer = 1 - ran.joules / base.joules, oracle.saving(case, base), ran.seconds / base.seconds - 1
    print(f"{pattern}, {scaling}, {per_node} a node, seed {seed}: saved {saved:.1%} of {most:.1%}, time {longer:+.2%}")
    if not seed or pattern not in ("halo", "wavefront", "ring"):  # whose oracle takes the mean of unequal instances
        assert saved <= most + 0.01
    return saved / most, longer


LEAST = {
    "world": 0.75,
    "teams": 0.75,
    "reduce": 0.75,
    "communicators": 0.75,
    "grid": 0.75,
    "nested": 0.75,
    "crossing": 0.75,
    "pairs": 0.6,
    "wavefront": 0.6,
    "halo": 0.6,
    "ring": 0.6,
}


@pytest.mark.parametrize("per_node", [1, 8])
@pytest.mark.parametrize("pattern", LEAST)
def test_most_of_the_oracle_s_saving_is_saved_in_groups(tmp_path: Path, pattern: str, per_node: int) -> None:
    part, longer = judge(tmp_path, pattern, "proactive", per_node, 0)
    assert part >= LEAST[pattern] and longer <= 0.01


@pytest.mark.parametrize("pattern", ["ring", "halo", "nested"])
def test_lowered_waits_of_groups_save_and_slow_nothing_down(tmp_path: Path, pattern: str) -> None:
    part, longer = judge(tmp_path, pattern, "reactive", 1, 0)
    assert part >= 0.45 and longer <= 0.01


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("pattern", ["teams", "pairs", "wavefront", "halo", "ring"])
def test_unequal_instances_of_groups_save_and_are_not_slowed(tmp_path: Path, pattern: str, seed: int) -> None:
    part, longer = judge(tmp_path, pattern, "proactive", 1, seed)
    assert part > 0.2 and longer <= 0.01


@pytest.mark.parametrize(
    "pes",
    [2, 16, pytest.param(4, marks=pytest.mark.soak), *(pytest.param(pes, marks=pytest.mark.soak) for pes in (64, 256))],
)
def test_late_pes_are_raised_on_many_nodes_as_on_two(tmp_path: Path, pes: int) -> None:
    words = (f"3:{pes // 2}", "--instances", "300")
    took = [
        result(run(tmp_path / mode, "slack", *words, n=pes, WATTLE_GOVERN=mode, WATTLE_SCALING="proactive"))
        for mode in ("baseline", "hybrid")
    ]
    assert took[1]["simulated_s"] <= 0.85 * took[0]["simulated_s"]  # type: ignore[operator]
