"""A machine without a sensor gets a profile from watts at the wall socket, typed or logged."""

from __future__ import annotations

import random
import re
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from wattle.base.errors import WattleError
from wattle.calibrate import wall, watts
from wattle.calibrate.watts import Number
from wattle.text.provenance import Joules, Provenance, unavailable

PROCESSOR = {"vendor": "GenuineIntel", "family": "6", "model": "85", "name": "a CPU", "sockets": 1, "ghz": 2.5}


def of(idle, one, every, plus_minus=0.0):
    return wall.Wall("plug meter", *(Number(value, plus_minus, "W", "") for value in (idle, one, every)))


def test_the_range_reaches_from_the_first_step_to_the_mean_step():
    found = wall.fit(of(50, 70, 90), 4, PROCESSOR, 2.5)
    active = found.clocks[2.5]["active"]
    assert (active.value, active.plus_minus) == (15, 5)
    assert (found.idle_cpu.value, found.contains) == (50, "node")


@pytest.mark.parametrize("seed", range(20))
def test_the_half_width_holds_the_mean_step_for_any_error_of_the_meter(seed):
    random_ = random.Random(seed)
    idle, first, later = random_.uniform(5, 200), random_.uniform(1, 40), random_.uniform(0.5, 20)
    cores = random_.randint(2, 64)
    true = (idle, idle + first, idle + first + (cores - 1) * later)
    read = [value * random_.uniform(0.98, 1.02) + random_.uniform(-0.5, 0.5) for value in true]
    numbers = [Number(value, wall.PLUG_PART * value + wall.PLUG_WATTS, "W", "") for value in read]
    try:
        found = wall.fit(wall.Wall("plug meter", *numbers), cores, PROCESSOR, 2.5)
    except WattleError:
        return  # readings that contradict each other are refused
    active = found.clocks[2.5]["active"]
    mean = (true[2] - true[0]) / cores
    assert abs(active.value - mean) <= active.plus_minus * 1.05 + 0.05


def test_a_sleeping_core_draws_less_than_a_spinning_one():
    states = wall.fit(of(50, 70, 90, 0.5), 4, PROCESSOR, 2.5).clocks[2.5]
    assert states["asleep"].value + states["asleep"].plus_minus < states["spin"].value - states["spin"].plus_minus


@pytest.mark.parametrize(
    ("watts_", "words"),
    [((90, 70, 95), "one core: 70 W are less than 90 W"), ((50, 70, 55), "all cores: 55 W are less than 70 W")],
)
def test_readings_that_contradict_each_other_are_refused(watts_, words):
    with pytest.raises(WattleError, match=words):
        wall.fit(of(*watts_), 4, PROCESSOR, 2.5)


def test_a_meter_that_shows_another_machine_is_refused():
    with pytest.raises(WattleError, match="does the meter show this machine"):
        wall.fit(of(50, 50, 50), 4, PROCESSOR, 2.5)


def test_an_unknown_clock_is_asked_for():
    with pytest.raises(WattleError, match="give it with --ghz"):
        wall.fit(of(50, 70, 90), 4, PROCESSOR, None)


def test_typed_watts_become_a_profile_that_the_runtime_reads(wattle, tmp_path):
    file = tmp_path / "plug.yaml"
    done = wattle("calibrate", "--profile", file, "--plug", "--ghz", 2, stdin=None, input="60\nabc\n75,5 W\n120\n")
    assert done.returncode == 0, done.stderr
    assert "idle: watts of the meter" in done.stderr
    assert "'abc' is no number of watts above 0" in done.stderr
    text = file.read_text()
    assert "tag: derived" in text
    assert "60 W idle, 75.5 W with one busy core" in text
    assert re.search(r'^title: ".+, at the wall socket"$', text, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plug",), "--plug: goes with --profile only"),
        (("--profile", "x.yaml", "--plug", "--seconds", "3"), "does not go with --plug"),
        (("--profile", "x.yaml", "--plug", "--meter-log", "log.csv"), "give one of them"),
        (("--profile", "x.toml", "--plug"), "ends in .yaml"),
        (("--profile", "x.yaml", "--plug", "--ghz", "2"), "standard input ended"),
    ],
)
def test_a_wrong_use_is_one_line(wattle, arguments, words):
    done = wattle("calibrate", *arguments, stdin=None, input="")
    assert done.returncode != 0
    assert words in done.stderr


def test_a_log_gives_the_watts_of_each_phase(monkeypatch):
    figures = {
        name: [Joules(joules, 2.0, Provenance.MEASURED, "pdu.csv", "node", "", 2.0, 2.0)]
        for name, joules in zip(wall.PHASES, (100.0, 140.0, 180.0), strict=True)
    }
    monkeypatch.setattr(wall, "Session", lambda given, folder: FakeSession(figures))
    monkeypatch.setattr(wall, "SETTLE_S", 0.0)
    found = wall.logged(SimpleNamespace(file=SimpleNamespace(name="pdu.csv")), 0.01)
    assert [n.value for n in (found.idle, found.one, found.all)] == [50, 70, 90]
    assert watts.text(wall.fit(found, 2, PROCESSOR, 2.5), "log", PROCESSOR).count("pdu.csv") >= 2


def test_a_phase_that_the_log_lacks_is_named(monkeypatch):
    figures = {name: [unavailable()] for name in wall.PHASES}
    monkeypatch.setattr(wall, "Session", lambda given, folder: FakeSession(figures))
    monkeypatch.setattr(wall, "SETTLE_S", 0.0)
    with pytest.raises(WattleError, match="idle: the log does not cover this phase"):
        wall.logged(SimpleNamespace(file=SimpleNamespace(name="pdu.csv")), 0.01)


class FakeSession:
    """A session whose log has these figures."""

    def __init__(self, figures):
        self.found = SimpleNamespace(why="", figures=figures.get)

    def begin(self):
        pass

    def interval(self, name):
        return nullcontext()

    def end(self):
        return self.found
