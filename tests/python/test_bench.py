"""The benchmark driver's arithmetic: paired ratios, quartiles and bars."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

RUN = Path(__file__).resolve().parents[2] / "bench" / "run.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_run", RUN)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_run"] = module
    spec.loader.exec_module(module)
    return module


def pairs_of(ratios: list[float]) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Pairs whose second side doubles its time in every pair: only ratios within a pair mean anything."""
    return [({"x": ratio * 2**i}, {"x": 1.0 * 2**i}) for i, ratio in enumerate(ratios)]


def test_ratios_are_taken_within_pairs(bench: ModuleType) -> None:
    (found,) = bench.compare([bench.Row("x", "x")], pairs_of([0.5, 0.7, 0.6]))
    assert found.median == pytest.approx(0.6)
    assert found.quartiles == (pytest.approx(0.55), pytest.approx(0.65))


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([0.8, 0.9, 0.85], "met"),
        ([1.0, 1.0, 1.0], "met (close)"),
        ([1.2, 1.3, 1.25], "not met"),
        ([0.9, 1.05, 1.1], "not met (close)"),
    ],
)
def test_a_bar_is_met_by_the_median_and_called_close_where_the_quartiles_hold_it(
    bench: ModuleType, ratios: list[float], verdict: str
) -> None:
    (found,) = bench.compare([bench.Row("x", "x", bar=1.0)], pairs_of(ratios))
    assert found.verdict == verdict


def test_a_row_that_one_side_lacks_is_left_out(bench: ModuleType) -> None:
    assert bench.compare([bench.Row("x", "x")], [({"x": 1.0}, {})]) == []


def test_a_transfer_is_shown_as_bandwidth(bench: ModuleType) -> None:
    assert bench.shown(bench.Row("x", "x", bytes=1 << 20), 1e-4) == "10.49 GB/s"
    assert bench.shown(bench.Row("x", "x"), 5e-8) == "50 ns"


def test_fewer_than_seven_pairs_are_refused(bench: ModuleType) -> None:
    with pytest.raises(SystemExit):
        bench.parse(["--pairs", "6"])
