"""What strangers send to the ports of a job is dropped and counted; two jobs go each their own way."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import complaints
from nodes_of_test import build, built, start, until_under_way
from wattle.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def dropped(folder: Path, pe: int) -> dict[str, int]:
    """What a PE counted, from its profile."""
    return json.loads((folder / f"pe-{pe:05d}.json").read_text())["network"]["dropped"]


def test_messages_of_strangers_change_no_memory_and_are_counted(nodes: Nodes, tmp_path: Path) -> None:
    settings = {"WATTLE_PROFILE_DIR": str(tmp_path), "UCX_LOG_LEVEL": "error"}
    job = start(nodes, 1, built("hostile"), **settings)
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    sent = re.search(r"foreign (\d+) malformed (\d+)", out)
    assert sent and int(sent[1]) > 100 and int(sent[2]) > 100
    assert dropped(tmp_path, 1) == {"foreign": int(sent[1]), "malformed": int(sent[2])}
    assert dropped(tmp_path, 0) == {"foreign": 0, "malformed": 0}


def test_noise_at_the_ports_disturbs_nobody(nodes: Nodes, tmp_path: Path) -> None:
    enough = tmp_path / "enough"
    job = start(nodes, 1, build(HERE / "steady.c", tmp_path), str(enough), WATTLE_PROFILE_DIR=str(tmp_path))
    until_under_way(job)
    command = nodes.inside(1, sys.executable, str(HERE / "noise.py"), "steady", "1")
    noise = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert noise.stdout and noise.stdin
    said = [noise.stdout.readline(), noise.stdout.readline()]
    assert said[1] == "done\n", said
    enough.touch()
    _, err = job.communicate(timeout=300)
    noise.stdin.close()
    assert job.returncode == 0 and complaints(err) == "", err
    assert noise.wait() == 0
    assert dropped(tmp_path, 1) == {"foreign": 0, "malformed": 0}  # none of it was a message


def test_two_jobs_on_the_same_nodes_do_not_meet(nodes: Nodes, tmp_path: Path) -> None:
    program = build(HERE / "steady.c", tmp_path)
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    jobs = [start(nodes, 1, program, str(f / "enough"), WATTLE_PROFILE_DIR=str(f)) for f in folders]
    for job in jobs:
        until_under_way(job)
    for folder, job in zip(folders, jobs, strict=True):
        (folder / "enough").touch()
        _, err = job.communicate(timeout=300)
        assert job.returncode == 0 and complaints(err) == "", err
        assert [dropped(folder, pe) for pe in (0, 1)] == [{"foreign": 0, "malformed": 0}] * 2
