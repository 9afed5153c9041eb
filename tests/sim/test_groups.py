"""The governor where some PEs wait for some others: teams, pairs, wavefronts and rings, beside an oracle of clocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sim_job import HOME, build, is_built, result, simulate

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

PES, SIDE, INSTANCES = 16, 4, 200
MASK = (1 << 64) - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("groups"), "groups", "mpi_groups") / "groups"


def run(where: Path, program: Path, *words: str, per_node: int = 1, n: int = PES, **settings: str) -> Path:
    options = [word for item in ({"WATTLE_WAIT": "spin"} | settings).items() for word in ("--set", "=".join(item))]
    done = simulate(where, program, *words, n=n, options=("--per-node", str(per_node), *options), timeout=900)
    assert done.returncode == 0, done.stderr
    return where


def joules(where: Path) -> float:
    """Of all cores."""
    return sum(pe["cpu_j"] for pe in result(where)["pes"])  # type: ignore[attr-defined]


def seconds(where: Path) -> float:
    return result(where)["simulated_s"]  # type: ignore[return-value]


# --- the oracle: it knows each load, and takes for each the clock of least energy that is in time ---


def watts(where: Path) -> tuple[int, list[tuple[float, float, float]]]:
    """The base clock, and for each clock its speed and the watts of a core that computes and that spins."""
    of = dict(re.findall(r'<prop id="(\w+)" value="([^"]*)"', (where / "platform.xml").read_text()))
    speeds = [float(speed) for speed in of["clock_speeds"].split(",")]
    spins = [[float(part) for part in state.split(":")] for state in of["wattage_per_state"].split(",")[::3]]
    return int(of["base_clock"]), [(speed, busy, rests) for speed, (rests, busy, _) in zip(speeds, spins, strict=True)]


def varied(seed: int, pe: int, instance: int) -> float:
    """As in groups.c."""
    z = (seed << 40 | pe << 20 | instance) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return 0.9 + 0.2 * ((z ^ z >> 31) >> 11) / (1 << 53) if seed else 1


def two(pe: int, instance: int, seed: int) -> float:
    return (3e-3 if pe % 2 else 1e-3) * varied(seed, pe, instance)


def rows(pe: int, instance: int, seed: int) -> float:
    return (3e-3 if pe // SIDE == 1 else 1e-3) * varied(seed, pe, instance)


def parts(size: int) -> Callable[[Path, int], Iterator[tuple[float, float]]]:
    """Each instance of groups of `size` PEs takes as long as the longest load of the group."""

    def of(where: Path, seed: int) -> Iterator[tuple[float, float]]:
        for first in range(0, PES, size):
            for i in range(INSTANCES):
                loads = [two(pe, i, seed) for pe in range(first, first + size)]
                yield from ((load, max(loads)) for load in loads)

    return of


def evenly(load: Callable[[int, int, int], float]) -> Callable[[Path, int], Iterator[tuple[float, float]]]:
    """Each instance takes as long as the mean one of the ungoverned run."""

    def of(where: Path, seed: int) -> Iterator[tuple[float, float]]:
        lasts = seconds(where) / INSTANCES
        return ((load(pe, i, seed), lasts) for pe in range(PES) for i in range(INSTANCES))

    return of


def crossing(where: Path, seed: int) -> Iterator[tuple[float, float]]:
    for pe in range(PES):
        for i in range(INSTANCES):
            yield two(pe, i, seed), 3e-3
            yield (3e-3 if pe // SIDE % 2 else 1e-3), 3e-3


PATTERNS = {
    "world": parts(PES),
    "teams": parts(PES // 2),
    "reduce": parts(PES // 2),
    "nested": parts(PES // 2),
    "crossing": crossing,
    "pairs": parts(2),
    "wavefront": evenly(two),
    "token": evenly(two),
    "halo": evenly(rows),
}


def share_saved_by_the_oracle(where: Path, pattern: str, seed: int) -> float:
    base, clocks = watts(where)
    speed, busy, rests = clocks[base]
    lowest = min(clocks)[2]
    spent = least = 0.0
    for load, lasts in PATTERNS[pattern](where, seed):
        spent += busy * load + rests * (lasts - load)
        takes = [(load * speed / other, power) for other, power, _ in clocks]
        least += min(power * t + lowest * (lasts - t) for t, power in takes if t <= lasts * (1 + 1e-9))
    return 1 - least / spent


def judge(tmp_path: Path, program: Path, pattern: str, scaling: str, per_node: int, seed: int) -> tuple[float, float]:
    """The part of the oracle's saving that mode energy saves, and by what share the program takes longer."""
    words = (pattern, str(INSTANCES), str(seed))
    base = run(tmp_path / "base", program, *words, per_node=per_node)
    governed = {"WATTLE_GOVERN": "energy", "WATTLE_SCALING": scaling}
    where = run(tmp_path / "governed", program, *words, per_node=per_node, **governed)
    saved, most = 1 - joules(where) / joules(base), share_saved_by_the_oracle(base, pattern, seed)
    longer = seconds(where) / seconds(base) - 1
    print(f"{pattern}, {scaling}, {per_node} a node, seed {seed}: saved {saved:.1%} of {most:.1%}, time {longer:+.2%}")
    if not seed or "evenly" not in PATTERNS[pattern].__qualname__:  # which is a mean where instances differ
        assert saved <= most + 0.01
    return saved / most, longer


LEAST = {"world": 0.75, "teams": 0.75, "reduce": 0.75, "nested": 0.75, "crossing": 0.75, "pairs": 0.6, "wavefront": 0.6}


@pytest.mark.parametrize("per_node", [1, 8])
@pytest.mark.parametrize("pattern", LEAST)
def test_most_of_the_oracle_s_saving_is_saved_in_groups(
    tmp_path: Path, program: Path, pattern: str, per_node: int
) -> None:
    part, longer = judge(tmp_path, program, pattern, "proactive", per_node, 0)
    assert part >= LEAST[pattern] and longer <= 0.01


def test_most_of_the_oracle_s_saving_is_saved_in_communicators(tmp_path: Path, program: Path) -> None:
    part, longer = judge(tmp_path, program.with_name("mpi_groups"), "teams", "proactive", 8, 0)
    assert part >= LEAST["teams"] and longer <= 0.01


@pytest.mark.parametrize("scaling", ["reactive", "proactive"])
@pytest.mark.parametrize("pattern", ["token", "halo"])
def test_pes_that_wait_for_each_other_in_a_circle_are_not_slowed(
    tmp_path: Path, program: Path, pattern: str, scaling: str
) -> None:
    part, longer = judge(tmp_path, program, pattern, scaling, 1, 0)
    assert part >= 0.3 and longer <= 0.011


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("pattern", ["teams", "pairs", "wavefront", "token"])
def test_unequal_instances_of_groups_save_and_are_not_slowed(
    tmp_path: Path, program: Path, pattern: str, seed: int
) -> None:
    part, longer = judge(tmp_path, program, pattern, "proactive", 1, seed)
    assert part > 0 and longer <= 0.011


@pytest.mark.parametrize(
    "pes",
    [2, 16, pytest.param(4, marks=pytest.mark.soak), *(pytest.param(pes, marks=pytest.mark.soak) for pes in (64, 256))],
)
def test_late_pes_are_raised_on_many_nodes_as_on_two(tmp_path: Path, pes: int) -> None:
    slack, words = HOME / "lib/wattle/apps/simulated/slack", (f"3:{pes // 2}", "--instances", "300")
    took = [
        seconds(run(tmp_path / mode, slack, *words, n=pes, WATTLE_GOVERN=mode, WATTLE_SCALING="proactive"))
        for mode in ("baseline", "hybrid")
    ]
    assert took[1] <= 0.85 * took[0]
