"""A budget of watts for a whole job: beside equal caps, and beside an optimum computed from the true loads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from sim_job import HOME, is_built, result, simulate
from wattle.study.budget.oracle import Case, clocks_of, equal, optimum

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

PES, CORES = 16, 8  # CORES: of a package
PROGRAMS = HOME / "lib/wattle/apps/simulated"
WORK_S = 10e-3
AFTER = 20  # instances in which the governor learns
AFTER_S = 4.0  # simulated seconds after which a package's average is at its limit


@dataclass(frozen=True)
class Ran:
    seconds: float  # of an instance
    folder: Path

    def profile(self, pe: int) -> dict[str, object]:
        return json.loads((self.folder / f"profile/pe-{pe:05d}.json").read_text())["clocks"]

    @property
    def budget(self) -> dict[str, float]:
        return self.profile(0)["power_budget"]  # type: ignore[return-value]


def run(
    where: Path,
    case: str,
    *words: str,
    before: int = AFTER,
    instances: int = 300,
    program: str = "budget",
    options: tuple[str, ...] = (),
    **settings: str,
) -> Ran:
    chosen = [word for item in settings.items() for word in ("--set", "=".join(item))]
    counts = ("--before", str(before), "--instances", str(instances))
    done = simulate(where, PROGRAMS / program, *counts, *words, case, n=PES, options=(*options, *chosen), timeout=900)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if '"kind":"sample"' in line)
    return Ran(json.loads(line)["seconds"] / instances, where)


def capped(where: Path, case: str, budget_w: float, *words: str) -> Ran:
    """The same with an equal cap for each package, after the average of its watts has reached it."""
    ratio = float(case.partition(":")[0])
    limit = {"WATTLE_CLOCKS": f"0-{PES - 1}=9", "WATTLE_PACKAGE_LIMIT": f"{budget_w * CORES / PES:.2f}W"}
    return run(where, case, *words, before=int(AFTER_S / (WORK_S * ratio)), **limit)


def judge(tmp_path: Path, pattern: str, ratio: float, percent: int) -> tuple[float, float, Ran, Ran]:
    """The time in units of the optimum's and of the equal cap's, and the two runs."""
    words = ("--pattern", pattern)
    ran = run(tmp_path / "budget", f"{ratio:g}", *words, WATTLE_POWER_BUDGET=f"{percent}%")
    budget_w = ran.budget["watts"]
    held = capped(tmp_path / "capped", f"{ratio:g}", budget_w, *words)
    clocks = clocks_of(ran.folder)
    case = Case(pattern, PES, ratio, WORK_S)
    work = [case.loads(at) for at in range(AFTER, AFTER + 300)]
    best, same = (sum(of(clocks, load, budget_w) for load in work) / len(work) for of in (optimum, equal))
    print(
        f"{pattern} {ratio:g}:1 at {percent} %: {ran.seconds / best - 1:+.2%} of the optimum, "
        f"{ran.seconds / held.seconds - 1:+.2%} of the cap ({held.seconds / same - 1:+.2%} of its optimum), "
        f"highest second {ran.budget['highest_w'] / budget_w:.2%}"
    )
    assert ran.budget["highest_w"] <= 1.02 * budget_w
    assert ran.budget["mean_w"] == pytest.approx(watts(ran.folder), rel=0.01)
    return ran.seconds / best, ran.seconds / held.seconds, ran, held


def watts(folder: Path) -> float:
    """Mean watts of the packages, by the simulator."""
    found = result(folder)
    return sum(pe["cpu_j"] for pe in found["pes"]) / found["simulated_s"]  # type: ignore[attr-defined,operator,no-any-return]


ALL = [(ratio, percent) for ratio in (1, 1.1, 1.5, 2, 4) for percent in (42, 55, 70, 85, 100)]
FEW = [(1, 55), (2, 55), (4, 70)]


@pytest.mark.parametrize(
    ("ratio", "percent"), [pytest.param(*case, marks=() if case in FEW else pytest.mark.soak) for case in ALL]
)
def test_static_imbalance_comes_close_to_the_optimum(tmp_path: Path, ratio: float, percent: int) -> None:
    of_best, of_cap, _, _ = judge(tmp_path, "static", ratio, percent)
    assert of_best <= 1.05 and of_cap <= 1.01


@pytest.mark.parametrize(
    ("ratio", "percent"), [pytest.param(*case, marks=() if case == (2, 55) else pytest.mark.soak) for case in ALL]
)
def test_drifting_imbalance_comes_close_to_the_optimum(tmp_path: Path, ratio: float, percent: int) -> None:
    of_best, of_cap, _, _ = judge(tmp_path, "drifting", ratio, percent)
    assert of_best <= 1.1 and of_cap <= 1.01


@pytest.mark.parametrize(
    ("ratio", "percent"), [pytest.param(*case, marks=() if case == (2, 55) else pytest.mark.soak) for case in ALL]
)
def test_alternating_imbalance_is_no_slower_than_under_the_cap(tmp_path: Path, ratio: float, percent: int) -> None:
    assert judge(tmp_path, "alternating", ratio, percent)[1] <= 1.01


def test_two_to_one_takes_less_time_and_fewer_joules_than_under_equal_caps(tmp_path: Path) -> None:
    _, of_cap, ran, held = judge(tmp_path, "static", 2, 70)
    assert of_cap <= 0.885  # of 0.879, which is possible at the clocks of this machine
    assert ran.seconds * watts(ran.folder) < held.seconds * watts(held.folder)


def test_mpi_ranks_share_a_budget_as_pes_do(tmp_path: Path) -> None:
    shmem, mpi = (
        run(tmp_path / program, "2", program=program, instances=100, WATTLE_POWER_BUDGET="55%")
        for program in ("budget", "budget-mpi")
    )
    assert mpi.seconds == pytest.approx(shmem.seconds, rel=0.02)
    assert mpi.budget["exchanges"] >= 100


def test_pes_of_a_node_share_a_budget(tmp_path: Path) -> None:
    ran = run(tmp_path / "run", "2", instances=100, options=("--per-node", "8"), WATTLE_POWER_BUDGET="55%")
    even = run(tmp_path / "even", "2", instances=100, WATTLE_POWER_BUDGET="55%")
    assert ran.seconds == pytest.approx(even.seconds, rel=0.03)
    assert ran.budget["highest_w"] <= 1.02 * ran.budget["watts"]


def test_a_dry_run_changes_no_clock_and_says_what_would_have_been_drawn(tmp_path: Path) -> None:
    free = run(tmp_path / "free", "2", instances=100)
    noted = run(tmp_path / "noted", "2", instances=100, WATTLE_POWER_BUDGET="55%", WATTLE_KNOB="record")
    assert noted.seconds == pytest.approx(free.seconds, rel=0.005)
    assert noted.profile(0)["knob"] == "record" and noted.budget["exchanges"] > 50


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("0W", "expected 25.8 to 109.7 W"),
        ("-5W", "expected 25.8 to 109.7 W"),
        ("1W", "4 PEs draw 25.79 W at their lowest clock and 109.8 W at their highest"),
        ("5kW", "expected 25.8 to 109.7 W"),
        ("0.5W/node", "expected 6.5 to 27.4 W/node"),
        ("120%", "expected 23.5 to 100 %"),
        ("400", "is not a value; expected watts of the job such as 400W"),
        ("W", "is not a value; expected"),
        ("nanW", "is not a value; expected"),
        ("300 watts", "is not a value; expected"),
    ],
)
def test_a_wrong_budget_ends_the_job_with_one_line_and_the_range(tmp_path: Path, value: str, says: str) -> None:
    check_refused(tmp_path, says, WATTLE_POWER_BUDGET=value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"WATTLE_GOVERN": "energy"}, "WATTLE_POWER_BUDGET and WATTLE_GOVERN both set clocks or limits; use one"),
        ({"WATTLE_PACKAGE_LIMIT": "60W"}, "WATTLE_POWER_BUDGET and WATTLE_PACKAGE_LIMIT both set"),
        ({"WATTLE_CLOCKS": "0=2"}, "WATTLE_POWER_BUDGET and WATTLE_CLOCKS both set"),
        ({"WATTLE_KNOB": "none"}, "WATTLE_POWER_BUDGET: no clock can be set here: WATTLE_KNOB is none"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(tmp_path: Path, settings: dict[str, str], says: str) -> None:
    check_refused(tmp_path, says, WATTLE_POWER_BUDGET="50W", **settings)


def check_refused(where: Path, says: str, **settings: str) -> None:
    chosen = tuple(word for item in settings.items() for word in ("--set", "=".join(item)))
    done = simulate(where / "run", PROGRAMS / "budget", "--instances", "1", "1", n=4, options=chosen)
    assert done.returncode == 78, done
    lines = [line for line in done.stderr.splitlines() if "WATTLE_POWER_BUDGET" in line]
    assert lines and all(says in line for line in lines), done.stderr
