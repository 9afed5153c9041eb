"""The governor on many simulated PEs, without a plan: how much of what an oracle saves it saves, and at which cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sim_job import HOME, ROOT, is_built, result, simulate

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

PES, INSTANCES = 360, 250
SLACK = HOME / "lib/wattle/apps/simulated/slack"
WORDS = ("--loads", "bt-mz", "--work", "5", "--turns", "325000", "--instances", str(INSTANCES), "--warm", "0", "1")


def joules(where: Path) -> float:
    """Of cores and memory, as the replay counts them."""
    parts = [pe["joules"] for pe in result(where)["pes"]]  # type: ignore[attr-defined]
    return sum(value for pe in parts for name, value in pe.items() if not name.startswith("network"))


def run(where: Path, *settings: str) -> Path:
    options = [word for setting in ("WATTLE_WAIT=spin", *settings) for word in ("--set", setting)]
    done = simulate(where, SLACK, *WORDS, n=PES, options=tuple(options), timeout=300)
    assert done.returncode == 0, done.stderr
    return where


def oracle(recorded: Path) -> float:
    command = [sys.executable, "-m", "wattle", "sim", "--what-if", str(recorded), "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "WATTLE_HOME": str(HOME)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    return next(c["oracle_joules"] for c in json.loads(done.stdout)["choices"] if c["wait"] == "spin")


@pytest.mark.soak
def test_four_fifths_of_the_oracle_s_saving_are_saved_online_on_an_imbalanced_program(tmp_path: Path) -> None:
    base = run(tmp_path / "base")
    governed = run(tmp_path / "governed", "WATTLE_GOVERN=energy", "WATTLE_SCALING=proactive")
    saved, most = joules(base) - joules(governed), joules(base) - oracle(base)
    assert 0.8 * most <= saved <= most
    assert result(governed)["simulated_s"] <= 1.006 * result(base)["simulated_s"]  # type: ignore[operator]
