"""The power budget of a run: its words, and the watts that moved from node to node."""

from __future__ import annotations

import json

import fakes
import pytest
from wattle.figures import power_budget
from wattle.record import profile

JOB = {
    "asked": "60%",
    "watts": 40.0,
    "least_w": 20.0,
    "most_w": 66.0,
    "mean_w": 39.5,
    "highest_w": 40.25,
    "seconds": 12.5,
    "above_s": 2,
    "exchanges": 900,
    "equal_w": 20.0,
}


def pe(number, own_w, knob="cpufreq", **changes):
    clocks = {"mode": "budget", "scaling": "reactive", "knob": knob, "why": "", "changes": 4, "lost_s": 0.0}
    return fakes.pe_profile(
        number, host=f"n{number}", clocks=clocks | {"power_budget": JOB | {"own_w": own_w} | changes}
    )


def load(tmp_path, *pes):
    return profile.load(fakes.make_run(tmp_path / "run", list(pes)), len(pes))


def test_a_budget_is_told_with_its_highest_second_and_the_watts_that_moved(tmp_path):
    found = power_budget.of(load(tmp_path, pe(0, 14.5), pe(1, 25.0)))
    assert found.words == (
        "Power budget 40.0 W (60%): 39.5 W in the mean, 40.2 W in the highest second, 2 of 12.5 s above: modelled. "
        "Watts moved: +5 W to n1, -5.5 W to n0."
    )
    assert found.moved == {"n0": pytest.approx(-5.5), "n1": pytest.approx(5.0)}


def test_a_dry_run_tells_the_watts_that_would_have_been_drawn(tmp_path):
    words = power_budget.of(load(tmp_path, pe(0, 14.5, "record"), pe(1, 25.0, "record"))).words
    assert "(60%): would have drawn 39.5 W in the mean" in words


def test_an_unknown_figure_stays_unknown(tmp_path):
    nothing = {"mean_w": None, "highest_w": None}
    found = power_budget.of(load(tmp_path, pe(0, None, **nothing), pe(1, 25.0, **nothing)))
    assert found.moved is None and "highest second" not in found.words
    assert power_budget.of(load(tmp_path / "without", fakes.pe_profile(0), fakes.pe_profile(1))) is None


def test_the_summary_and_the_json_have_it(wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", [pe(0, 14.5), pe(1, 25.0)])
    env = {"FAKE_PROFILES": str(ready)}
    shown = wattle("run", "-n", 2, "--", "true", env=env)
    assert "Power budget 40.0 W (60%): 39.5 W in the mean" in " ".join(shown.stderr.split())
    found = json.loads(wattle("run", "-n", 2, "--json", "--", "true", env=env).stdout)["power_budget"]
    assert found["provenance"] == "modelled" and found["moved_w"]["n1"] == pytest.approx(5.0)


def test_the_option_sets_the_setting_and_excludes_the_other_way(wattle):
    both = wattle("run", "--power-budget", "40W", "--set", "WATTLE_POWER_BUDGET=50W", "--", "true")
    assert both.returncode != 0 and "expected one of them" in " ".join(both.stderr.split())
