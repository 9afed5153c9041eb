"""A step in a history is found at its commit with the call site that changed, and chance alone seldom makes one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import fakes
import pytest
from fakes import Wattle
from test_history import COMMITS, make_commits, make_run
from wattle.history import found, steps
from wattle.history.page import build
from wattle.html.page import render


def drawn(seed: int, factors: list[float], repeats: int = 5) -> list[list[float]]:
    """Values of a series: each entry has its factor and a noise of 3 %."""
    chance = random.Random(seed)
    return [[factor * chance.gauss(1, 0.03) for _ in range(repeats)] for factor in factors]


def test_chance_alone_seldom_makes_a_step() -> None:
    alarms = sum(bool(steps.boundaries(drawn(seed, [1.0] * 8))) for seed in range(300))
    assert alarms <= 9  # more than 9 of 300 at 1 % happen once in 1,000 times, and the seeds are fixed


@pytest.mark.parametrize("at", [1, 4, 7])
def test_a_step_of_15_percent_is_found_where_it_is(at: int) -> None:
    factors = [1.0] * at + [1.15] * (8 - at)
    places = [[place for place, _ in steps.boundaries(drawn(seed, factors))] for seed in range(20)]
    assert sum(found == [at] for found in places) >= 19


def test_several_steps_are_found_in_order() -> None:
    values = drawn(1, [1.0, 1.0, 1.3, 1.3, 1.1, 1.1])
    assert [at for at, _ in steps.boundaries(values)] == [2, 4]


def test_a_side_with_fewer_than_four_runs_has_no_step() -> None:
    assert steps.boundaries([[1.0, 1.1, 0.9, 1.0], [9.0, 9.1, 8.9]]) == []
    assert steps.boundaries([[1.0] * 5, [1.0] * 5]) == []
    assert steps.boundaries([]) == []


def test_a_step_names_commit_and_figures(tmp_path: Path, wattle: Wattle) -> None:
    make_commits(tmp_path, factors=(1.0, 1.0, 1.2))
    (series,) = found.read([tmp_path]).series
    assert [(step.metric, step.at) for step in series.steps] == [("time", 2), ("joules", 2)]
    time, joules = series.steps
    assert time.saving_percent == pytest.approx(-20)
    assert max(time.p, joules.p) <= steps.ALARMS
    shown = " ".join(wattle("history", tmp_path).stdout.split())
    assert "Step at 44444444: time rose by 20.0 %, from 2.00 s to 2.40 s (p =" in shown
    assert "modelled (p =" in shown
    document = json.loads(wattle("history", tmp_path, "--json").stdout)
    assert [step["metric"] for step in document["series"][0]["steps"]] == ["time", "joules"]
    assert "Step at 44444444" in render(build(found.read([tmp_path])))


def test_the_call_site_that_changed_most_is_named(tmp_path: Path) -> None:
    for day, seconds in enumerate((0.2, 0.9), 1):
        for k in range(5):
            slow = fakes.site(0x1300, "shmem_quiet", "wait", time_s=seconds * (1 + k / 1000))
            same = fakes.site(0x1400, "shmem_double_put", time_s=0.3)
            pe = fakes.pe_profile(0, 1, wall_s=(1 + seconds) * (1 + k / 1000), sites=[slow, same])
            git = {"commit": COMMITS[day], "dirty": False}
            fakes.make_run(tmp_path / f"{day}-{k}", [pe], git=git, started=f"2026-01-{day:02d}T12:00:{k:02d}Z")
    (series,) = found.read([tmp_path]).series
    (step,) = [step for step in series.steps if step.metric == "time"]
    assert (step.cause.call, step.cause.where) == ("shmem_quiet", "halo+0x1300")
    assert step.cause.after_s > 4 * step.cause.before_s


def test_a_recent_step_up_fails_the_command_and_one_down_does_not(tmp_path: Path, wattle: Wattle) -> None:
    make_commits(tmp_path / "up", factors=(1.0, 1.2, 1.2))
    done = wattle("history", tmp_path / "up", "--fail-on-step", "2")
    assert done.returncode == 1
    assert "--fail-on-step: halo 64, 2 PEs on node0: Step at 33333333: time rose" in done.stderr
    assert wattle("history", tmp_path / "up", "--fail-on-step", "1").returncode == 0
    make_commits(tmp_path / "down", factors=(1.2, 1.0, 1.0))
    assert wattle("history", tmp_path / "down", "--fail-on-step", "3").returncode == 0
    assert wattle("history", tmp_path / "up", "--fail-on-step", "0").returncode == 2


def test_joules_of_another_source_make_no_step(tmp_path: Path) -> None:
    make_commits(tmp_path, factors=(1.0, 1.0))
    for k in range(5):
        directory = make_run(tmp_path / f"measured-{k}", COMMITS[4], day=9, joules=3.0, repeat=k)
        for file in (directory / "profile").iterdir():
            file.write_text(
                file.read_text().replace("model sandybridge-e5-2670", "powercap").replace("modelled", "measured")
            )
    (series,) = found.read([tmp_path]).series
    assert [step for step in series.steps if step.metric == "joules"] == []
