"""Shielded cores: the choice, a partition in a made tree of control groups, affinity, and other programs' time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from wattle.base.errors import WattleError
from wattle.shield import cores, group, others, shield
from wattle.shield.group import PARTITION, Group, Refused, Tree

RMDIR = '#!/bin/sh\nrm -f "$1"/cgroup.procs "$1"/cpu* && exec {} "$1"\n'  # a folder of cgroupfs is removed with files


def make_group(path: Path) -> None:
    """Makes a folder as cgroupfs does, with its files."""
    path.mkdir()
    for name in ("cgroup.procs", "cpuset.cpus", PARTITION):
        (path / name).write_text("")
    (path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n")


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Tree:
    root = tmp_path / "cgroup"
    root.mkdir()
    (root / "cgroup.controllers").write_text("cpuset cpu io memory\n")
    (root / "cgroup.subtree_control").write_text("cpu\n")
    (root / "cgroup.procs").write_text("")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "rmdir").write_text(RMDIR.format(shutil.which("rmdir")))
    (tools / "rmdir").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return Tree(root, make_group)


def groups(tree: Tree) -> list[Path]:
    return [path for path in tree.root.iterdir() if path.is_dir()]


# ---- the choice ----


@pytest.mark.parametrize(
    ("text", "allowed", "chosen"),
    [("auto", {0, 1, 2, 3}, {2, 3}), ("2-3", {0, 1, 2, 3}, {2, 3}), ("1,3", {0, 1, 2, 3}, {1, 3})],
)
def test_cores_are_chosen_without_the_threads_of_the_first_core(tmp_path, text, allowed, chosen):
    folder = tmp_path / "cpu0" / "topology"
    folder.mkdir(parents=True)
    (folder / "thread_siblings_list").write_text("0-1\n")
    assert cores.choose(text, allowed, tmp_path) == chosen


@pytest.mark.parametrize(
    ("text", "words"),
    [("2-9", "may use the cores 0-1"), ("x", "expected auto, or cores as in 2-5,7"), ("3-2", "may use the cores")],
)
def test_cores_that_cannot_be_used_are_refused(tmp_path, text, words):
    with pytest.raises(WattleError, match=words):
        cores.choose(text, {0, 1}, tmp_path)


def test_one_core_cannot_be_shielded(tmp_path):
    with pytest.raises(WattleError, match="needs two cores"):
        cores.choose("auto", {4}, tmp_path)


# ---- a partition ----


def test_a_partition_holds_this_process_and_is_removed_at_the_end(tree):
    made = Group(tree, {2, 3})
    (path,) = groups(tree)
    assert (path / "cpuset.cpus").read_text() == "2-3"
    assert (path / PARTITION).read_text() == "root"
    assert (path / "cgroup.procs").read_text() == str(os.getpid())
    assert (tree.root / "cgroup.subtree_control").read_text() == "+cpuset"
    assert made.cpu_s() == pytest.approx(1.5)
    made.close()
    assert groups(tree) == []
    assert (tree.root / "cgroup.subtree_control").read_text() == "-cpuset\n"


def test_a_controller_that_was_enabled_stays_enabled(tree):
    (tree.root / "cgroup.subtree_control").write_text("cpu cpuset\n")
    Group(tree, {1}).close()
    assert (tree.root / "cgroup.subtree_control").read_text() == "cpu cpuset\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: (root / "cgroup.controllers").write_text("cpu\n"), "no cpuset controller"),
        (lambda root: (root / "cgroup.controllers").unlink(), "No such file"),
    ],
)
def test_a_tree_without_cpusets_is_refused_with_the_reason(tree, change, words):
    change(tree.root)
    with pytest.raises(Refused, match=words):
        Group(tree, {1})
    assert groups(tree) == []


def test_a_partition_that_the_kernel_finds_invalid_is_removed(tree):
    def read(path: Path) -> str:
        return "root invalid (Cpu list in cpuset.cpus not exclusive)\n" if path.name == PARTITION else path.read_text()

    with pytest.raises(Refused, match="not exclusive"):
        Group(Tree(tree.root, make_group, read), {1})
    assert groups(tree) == []
    assert (tree.root / "cgroup.subtree_control").read_text() == "-cpuset\n"


def test_a_killed_process_leaves_no_group(tree, tmp_path):
    """The keeper removes it. `mkdir` of the made tree is in the process, so the test's file is loaded there."""
    program = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path\n"
        "import test_shield as t\n"
        "made = t.Group(t.Tree(Path(sys.argv[1]), t.make_group), {1})\n"
        "print(made._keeper.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = [sys.executable, "-c", program, str(tree.root), str(Path(__file__).parent)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    wait_for_end(int(done.stdout))
    assert groups(tree) == []


def wait_for_end(pid: int) -> None:
    """Waits for the end of a process that is no child of this one."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    import select

    select.select([fd], [], [], 60)
    os.close(fd)


def test_the_next_study_removes_what_a_killed_one_and_its_keeper_left(tree, capsys):
    left = tree.root / "wattle-shield-4194305-17-c"  # beyond the largest process number
    make_group(left)
    mine = tree.root / f"wattle-shield-{os.getpid()}-{group._start(tree, os.getpid())}"
    make_group(mine)
    make_group(tree.root / "system.slice")
    shield.repair(tree)
    assert sorted(groups(tree)) == sorted([tree.root / "system.slice", mine])
    assert (tree.root / "cgroup.subtree_control").read_text() == "-cpuset\n"
    assert "1 group of cores of killed studies removed" in capsys.readouterr().err


def test_a_group_that_cannot_be_removed_is_named(tree, capsys):
    left = tree.root / "wattle-shield-4194305-17"
    make_group(left)
    (left / "child").mkdir()
    shield.repair(tree)
    assert "a killed study left this group of cores" in " ".join(capsys.readouterr().err.split())


# ---- by affinity, for real ----


@pytest.fixture
def core() -> int:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("needs two cores")
    return max(allowed)


def test_affinity_keeps_jobs_on_the_cores_and_is_put_back(tmp_path, core):
    before = os.sched_getaffinity(0)
    with shield.shielded(str(core), Tree(tmp_path / "none")) as facts:
        seen = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout
        assert os.sched_getaffinity(0) == {core}
    assert seen.strip() == "1"
    assert os.sched_getaffinity(0) == before
    assert (facts["how"], facts["cores"]) == ("affinity", str(core))
    assert "cgroup.controllers: No such file" in facts["why"]
    assert "by affinity only" in facts["words"]


def test_affinity_is_put_back_after_an_interruption(tmp_path, core):
    before = os.sched_getaffinity(0)
    with pytest.raises(KeyboardInterrupt), shield.shielded(str(core), Tree(tmp_path / "none")) as facts:
        raise KeyboardInterrupt
    assert os.sched_getaffinity(0) == before
    assert facts["words"]


def test_a_study_in_a_partition_is_counted_by_its_group(tree, core):
    with shield.shielded(str(core), tree) as facts:
        assert len(groups(tree)) == 1
    assert groups(tree) == []
    assert (facts["how"], facts["ours_s"]) == ("cgroup", 0.0)  # the made tree's count stands still
    assert "closed to other programs" in facts["words"]


# ---- what else runs there ----


def proc(folder: Path, busy: int, stolen: int, programs: dict[int, tuple[str, int, int]]) -> Path:
    """A made /proc. `busy`: ticks of core 1. `programs`: name, ticks and last core by process."""
    folder.mkdir()
    idle = "cpu0 9 9 9 9 9 9 9 9 0 0"
    line = f"cpu1 {busy} 0 0 7 3 0 0 {stolen} 0 0"
    (folder / "stat").write_text(f"cpu  1 1 1 1 1 1 1 1 0 0\n{idle}\n{line}\nintr 5\n")
    for pid, (name, ticks, core) in programs.items():
        fields = ["S", *["0"] * 49]
        fields[11], fields[19], fields[36] = str(ticks), str(pid), str(core)
        (folder / str(pid)).mkdir()
        (folder / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")
    return folder


def test_others_are_the_busy_time_of_the_cores_less_ours(tmp_path):
    tick = 1 / os.sysconf("SC_CLK_TCK")
    before = others.now({1}, proc(tmp_path / "a", 100, 2, {7: ("kworker/1:0", 10, 0), 8: ("daemon (x)", 5, 0)}))
    programs = {7: ("kworker/1:0", 40, 1), 8: ("daemon (x)", 500, 0), 9: ("new", 20, 1)}
    after = others.now({1}, proc(tmp_path / "b", 1100, 12, programs))
    found = others.between(before, after, 900 * tick, 1)
    assert found.busy_s == pytest.approx(1000 * tick)
    assert found.others_s == pytest.approx(100 * tick)
    assert found.stolen_s == pytest.approx(10 * tick)
    assert [name for name, _ in found.programs] == ["kworker/1:0", "new"]
    assert found.programs[0][1] == pytest.approx(30 * tick)


def test_a_program_that_computes_on_the_core_is_counted_and_named(tmp_path, core):
    """The other program computes until it has used half a CPU second, however long that takes."""
    text = "import os,sys,time\nos.sched_setaffinity(0,{int(sys.argv[1])})\nwhile time.process_time() < 0.5: pass\n"
    text += "print(flush=True)\nsys.stdin.read()\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with shield.shielded(str(core), Tree(tmp_path / "none")) as facts:
        other = subprocess.Popen([sys.executable, "-c", text, str(core)], **pipes)
        assert other.stdout
        other.stdout.readline()
    other.communicate()
    assert facts["others_s"] + facts["others_plus_minus_s"] + facts["stolen_s"] >= 0.45
    assert any(one["cpu_s"] >= 0.4 for one in facts["programs"])
