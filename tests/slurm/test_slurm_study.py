"""A study inside a Slurm allocation: it runs on the nodes of the allocation and says so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import Result, run
from slurm import Slurm, unavailable
from tree import HOME, PACKAGE

REASON = unavailable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
SMALL = ("--payload", "64", "--repeat", "1", "--min-time", "0")


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with Slurm(2) as two:
        yield two
        two.cancel_all()


def study(slurm: Slurm, out: Path, nodes: int, *words: str) -> Result:
    env = {**slurm.env, "PYTHONPATH": str(PACKAGE), "WATTLE_HOME": str(HOME)}
    command = [sys.executable, "-m", "wattle", "study", "patterns", *SMALL, "-o", str(out), *words]
    return run("salloc", "--quiet", f"--nodes={nodes}", "--ntasks=2", *command, env=env)


def place_of(out: Path) -> dict[str, object]:
    return json.loads((out / "manifest.json").read_text())["study"]["place"]


def test_an_allocation_of_two_nodes_gives_a_study_on_two_nodes(slurm: Slurm, tmp_path: Path) -> None:
    result = study(slurm, tmp_path / "out", 2)
    assert result.code == 0, result
    assert f"this Slurm allocation names {slurm.names[0]} and {slurm.names[1]}" in result.err, result
    found = place_of(tmp_path / "out")
    assert found["hosts"] == slurm.names
    # Slurm's two nodes are this machine: one host name, one kernel, and two nodes by their numbers.
    assert [node["most_pes"] for node in found["seen"]] == [1, 1]
    assert found["one_machine"] is True and found["networks"] == ["ucx"]


def test_one_node_of_an_allocation_on_request_and_by_itself(slurm: Slurm, tmp_path: Path) -> None:
    result = study(slurm, tmp_path / "local", 2, "--on", "local")
    assert result.code == 0, result
    assert [node["most_pes"] for node in place_of(tmp_path / "local")["seen"]] == [2]
    result = study(slurm, tmp_path / "one", 1)
    assert result.code == 0 and "this Slurm allocation" not in result.err, result
    assert place_of(tmp_path / "one")["name"] == "local"


def test_a_host_outside_the_allocation_is_named(slurm: Slurm, tmp_path: Path) -> None:
    result = study(slurm, tmp_path / "out", 1, "--hosts", f"{slurm.names[0]},nohost")
    assert result.code == 2, result
    assert f"--hosts {slurm.names[0]},nohost: nohost cannot be reached: srun: error" in result.err, result
