"""A simulated power limit holds for the average of a package's watts: bursts pass, and a steady load settles at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_job import build, free_cluster, is_built, result, simulate

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

CORES = 8  # of a package of the profile; each computes with 12.458 W, 10.605 W at 2.2 GHz, and all idle with 3.786 W
BASE_W = 3.786 + CORES * 12.458
WINDOW_S = 0.1


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("burst"), "burst") / "burst"


def run(
    where: Path, program: Path, *words: str, limit: str = "", each: int = 1, n: int = CORES, wait: str = "spin"
) -> tuple[float, float]:
    """Returns PE 0's seconds, and the watts of a package in the mean of the job."""
    where.mkdir()
    machine = str(free_cluster(where, limit_window=WINDOW_S, uncore=0))
    limits = ("--set", f"WATTLE_PACKAGE_LIMIT={limit}") if limit else ()
    options = ("--machine", machine, "--per-node", str(each), "--set", f"WATTLE_WAIT={wait}", *limits)
    done = simulate(where / "run", program, *words, n=n, options=options)
    assert done.returncode == 0, done.stderr
    found = result(where / "run")
    joules = sum(pe["cpu_j"] for pe in found["pes"])  # type: ignore[attr-defined]
    return 1e-6 * float(done.stdout.split()[1]), joules / found["simulated_s"] * CORES / n  # type: ignore[operator]


@pytest.mark.parametrize(("n", "each"), [(8, 1), (4, 1), (16, 16)])
def test_the_average_of_a_steady_load_settles_at_the_limit(burst: Path, tmp_path: Path, n: int, each: int) -> None:
    free_s, free_w = run(tmp_path / "free", burst, "1", "3", n=n, each=each)
    assert free_w == pytest.approx(BASE_W, rel=0.01)
    held_s, held_w = run(tmp_path / "held", burst, "1", "3", limit="70W", n=n, each=each)
    step_w = CORES * (12.458 - 11.532) / 2  # of 0.1 GHz
    assert 70 - step_w <= held_w <= 70 + step_w / 2 + (BASE_W - 70) * WINDOW_S / held_s
    assert held_s > 1.2 * free_s


def test_a_burst_shorter_than_the_window_passes(burst: Path, tmp_path: Path) -> None:
    words = ("5", "0.02", "0.5")
    free, held = (run(tmp_path / (limit or "free"), burst, *words, limit=limit)[0] for limit in ("", "70W"))
    assert held == pytest.approx(free, rel=1e-3)


def test_clocks_rise_again_after_a_load(burst: Path, tmp_path: Path) -> None:
    """Each load is held at its end, and the next one begins at the base clock again."""
    words = ("0.4", "2")
    once, thrice = (run(tmp_path / times, burst, times, *words, limit="70W")[0] for times in ("1", "3"))
    assert thrice == pytest.approx(3 * once, rel=0.02)
    assert once > 2.4 + 0.01


def test_a_limit_above_the_load_changes_nothing(burst: Path, tmp_path: Path) -> None:
    free, held = (run(tmp_path / (limit or "free"), burst, "1", "1", limit=limit) for limit in ("", "110W"))
    assert held == free


def test_a_deadlock_under_a_limit_is_reported(tmp_path: Path) -> None:
    build(tmp_path, "deadlock")
    options = ("--set", "WATTLE_PACKAGE_LIMIT=5W", "--set", "WATTLE_WAIT=spin")
    done = simulate(tmp_path / "run", tmp_path / "deadlock", n=4, options=options)
    assert done.returncode != 0 and "deadlock" in done.stderr, done
