"""The processes of a control group count as the program's, where a service starts them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tree import HOME
from wattle.base.errors import WattleError
from wattle.energy import cgroup
from wattle.energy.cgroup import Group

BURN = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"


def stat(folder: Path, seconds: float, name: str = "cpu.stat") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"usage_usec {seconds * 1e6:.0f}\nuser_usec 1\n" if name == "cpu.stat" else f"{seconds * 1e9:.0f}\n"
    (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("hierarchy", "name"), [("", "cpu.stat"), ("unified", "cpu.stat"), ("cpuacct", "cpuacct.usage")]
)
@pytest.mark.parametrize("given", ["a.slice/b", "/a.slice/b", "{mount}/a.slice/b"])
def test_the_cpu_time_of_a_group_is_that_of_the_interval(tmp_path, hierarchy, name, given):
    folder = tmp_path / hierarchy / "a.slice/b"
    stat(folder, 100, name)
    group = Group(given.format(mount=tmp_path), tmp_path)
    with group.counted():
        stat(folder, 107.5, name)
    assert group.path == "a.slice/b"
    assert group.cpu_s == pytest.approx(7.5)


def test_a_group_may_come_and_go_and_come_again(tmp_path, monkeypatch):
    monkeypatch.setattr(cgroup, "EVERY_S", 1000)  # this test reads the group itself
    group = Group("jobs", tmp_path)
    with group.counted():
        for seconds in (2, 3):  # a new group counts from 0
            for part in (0.5, 1):
                stat(tmp_path / "jobs", part * seconds)
                group.take()
            shutil.rmtree(tmp_path / "jobs")
            group.take()
    assert group.cpu_s == pytest.approx(5)


def test_a_group_that_never_was_counts_nothing_and_is_named(tmp_path):
    group = Group("typo", tmp_path)
    with group.counted():
        pass
    assert (group.cpu_s, group.seen) == (0, False)


@pytest.mark.parametrize("given", ["/", "user.slice", "/user.slice/me.scope", "{mount}/user.slice"])
def test_a_group_that_holds_the_command_itself_is_refused(tmp_path, given):
    (tmp_path / "own").write_text("2:cpuacct:/user.slice/me.scope\n0::/user.slice/me.scope\n")
    with pytest.raises(WattleError, match="holds this command itself"):
        Group(given.format(mount=tmp_path), tmp_path, tmp_path / "own")
    assert Group("user.slice/me", tmp_path, tmp_path / "own").path == "user.slice/me"


@pytest.fixture
def made_group():
    """A real group of the kernel. A process joins it by writing its PID into the file `cgroup.procs`."""
    name = f"wattle-test-{os.getpid()}"
    for hierarchy in ("unified", "", "cpuacct"):
        folder = cgroup.MOUNT / hierarchy / name
        try:
            folder.mkdir()
        except OSError:
            continue
        yield folder, name
        folder.rmdir()
        return
    pytest.skip("no control group can be made here")


def test_processes_of_a_service_count_as_the_programs(wattle, tmp_path, made_group):
    """The service is a process of this test, so it is no child of the metered program."""
    folder, name = made_group
    program = f"import pathlib, time\npathlib.Path({str(tmp_path / 'go')!r}).touch()\n"
    program += f"while not pathlib.Path({str(tmp_path / 'done')!r}).exists(): time.sleep(0.05)\n"
    service = f"import os, pathlib, time\npathlib.Path({str(folder / 'cgroup.procs')!r}).write_text(str(os.getpid()))\n"
    service += f"while not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.01)\n{BURN}\n"
    service += f"pathlib.Path({str(tmp_path / 'done')!r}).touch()\n"
    with subprocess.Popen([sys.executable, "-S", "-c", service]) as served:
        words = ("--json", "--cgroup", name, "--", sys.executable, "-S", "-c", program)
        done = wattle("energy", *words, env={"WATTLE_HOME": str(HOME), "WATTLE_METER": "model"})
        served.wait()
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["cgroup"]["path"] == name
    assert found["cgroup"]["cpu_s"] == pytest.approx(0.5, rel=0.2, abs=0.1)
    assert found["cpu_s"] > found["cgroup"]["cpu_s"] >= 0.4
