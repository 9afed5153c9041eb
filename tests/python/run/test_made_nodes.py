"""Nodes made of network namespaces leave nothing behind, however the process that made them ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import heed_signals, script
from tree import PACKAGE
from wattle.machine import nodes as module
from wattle.machine.nodes import Nodes, NodesError, check_rate, unavailable

needs_nodes = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))

MAKER = """
import subprocess, sys
from wattle.machine.nodes import Nodes
with Nodes(2) as two:
    subprocess.Popen(two.inside(1, "sleep", "300"))
    print(two.folder, *two.names, flush=True)
    sys.stdin.read()
"""


def namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout


def pids_on(node: str) -> list[str]:
    return subprocess.run(["ip", "netns", "pids", node], capture_output=True, text=True, check=True).stdout.split()


def until(holds, limit_s: float = 120.0) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def make(**environment: str) -> subprocess.Popen[str]:
    """A process that makes two nodes, starts something on the second, and waits."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), **environment}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", MAKER], env=env, text=True, preexec_fn=heed_signals, **pipes)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@needs_nodes
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"])
def test_nodes_and_their_processes_are_removed_after_any_signal_to_their_maker(name):
    maker = make()
    folder, *names = maker.stdout.readline().split()
    until(lambda: pids_on(names[1]))
    pids = pids_on(names[1])
    maker.send_signal(getattr(signal, name))
    maker.communicate(timeout=300)
    until(lambda: not Path(folder).exists())
    assert not any(name in namespaces() for name in names)
    until(lambda: not any(alive(pid) for pid in pids))


SLOW_IP = """#!/bin/sh
# Adds namespaces only after the test allows it, as late as on a busy machine.
[ "$1" = "-batch" ] || exec {ip} "$@"
echo begun >> {said}; while [ ! -e {go} ]; do sleep 0.02; done; {ip} "$@"; echo done >> {said}
"""


@needs_nodes
def test_a_node_that_is_only_being_made_when_its_maker_is_killed_goes_too(tmp_path):
    said, go = tmp_path / "said", tmp_path / "go"
    script(tmp_path / "bin" / "ip", SLOW_IP.format(said=said, go=go, ip=shutil.which("ip")))
    maker = make(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", TMPDIR=str(tmp_path))
    try:
        until(lambda: said.exists() and said.read_text().split() == ["begun"])
        maker.kill()
        maker.wait()
    finally:
        go.touch()
    until(lambda: said.read_text().split() == ["begun", "done"])
    until(lambda: not list(tmp_path.glob("wattle-nodes-*")))
    assert f"wtl{maker.pid}x" not in namespaces()
    maker.communicate()


@needs_nodes
def test_a_disk_that_is_full_is_reported_and_nothing_is_left(small_disk, monkeypatch):
    (small_disk / "full").write_bytes(b"x" * 65536)
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    nodes = Nodes(2)
    with pytest.raises(NodesError, match=r"cannot make nodes: .*No space left on device"), nodes:
        pass
    assert [p.name for p in small_disk.iterdir()] == ["full"]
    assert f"wtl{os.getpid()}x" not in namespaces()


@needs_nodes
def test_what_cannot_be_made_is_reported_and_nothing_is_left():
    with pytest.raises(NodesError, match=r"cannot make nodes: .*tc qdisc add"), Nodes(2, "many"):
        pass
    assert f"wtl{os.getpid()}x" not in namespaces()


@needs_nodes
def test_two_sets_of_nodes_can_be_there_at_once():
    with Nodes(2) as one, Nodes(2) as other:
        assert not set(one.names) & set(other.names)
        for nodes in (one, other):
            ping = nodes.inside(0, "cat", "/sys/class/net/e0/operstate")
            assert subprocess.run(ping, capture_output=True, text=True, check=True).stdout == "up\n"
    assert not any(name in namespaces() for name in (*one.names, *other.names))


@needs_nodes
def test_temporary_files_of_what_runs_there_have_a_folder_of_their_own_and_go_with_the_nodes():
    with Nodes(1) as one:
        made = one.inside(0, "mktemp")
        paths = [
            Path(subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()) for _ in range(2)
        ]
        assert all(path.exists() and one.folder in path.parents for path in paths)
        assert paths[0].parent != paths[1].parent
    assert not any(path.exists() for path in paths)


@needs_nodes
def test_nodes_resolve_each_others_names_and_their_mounts_are_private():
    before = Path("/proc/self/mountinfo").read_text()
    with Nodes(2) as two:
        ask = two.inside(0, "getent", "hosts", two.names[1])
        done = subprocess.run(ask, capture_output=True, text=True, check=False)
        # Not so in a chroot, where nothing can be mounted for one node alone.
        if any(line.split()[4] == "/" for line in before.splitlines()):
            assert done.stdout.split() == ["10.213.77.2", two.names[1]]
        during = Path("/proc/self/mountinfo").read_text()
    added = [line for line in during.splitlines() if line not in before and "/run/netns" not in line]
    assert not [line for line in added if "/etc/hosts" in line or " /sys " in line]


@needs_nodes
def test_many_that_come_and_go_at_once_hide_nothing_from_each_other():
    """`ip netns add` mounts /run/netns. A process must not unmount it while another one is about to use it."""
    code = "from wattle.machine.nodes import Nodes\nfor _ in range(8):\n  with Nodes(1) as one: one.cut(0)"
    command = [sys.executable, "-c", code]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    makers = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [maker.communicate(timeout=300)[1] for maker in makers] == [""] * 4
    assert not any(f"wtl{maker.pid}x" in namespaces() for maker in makers)
    mounts = Path("/proc/self/mountinfo").read_text()
    assert not any(f"wtl{maker.pid}x" in mounts for maker in makers)


@needs_nodes
def test_files_of_an_earlier_process_with_that_number_do_no_harm():
    with Nodes(1) as nodes:
        stem, number = re.fullmatch(r"(wtl\d+x)(\d+)n0-\d+", nodes.names[0]).groups()
    left = [f"{stem}{int(number) + 1}-sw", f"{stem}{int(number) + 2}n1-0"]
    for name in left:
        subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with Nodes(1) as nodes:
            assert nodes.names[0].startswith(f"{stem}{int(number) + 3}n0-")
        assert all(name in namespaces() for name in left)
    finally:
        for name in left:
            subprocess.run(["ip", "netns", "del", name], check=True)


@needs_nodes
def test_a_killed_keeper_is_no_reason_to_leave_something():
    with Nodes(1) as one:
        names = list(one.names)
        one._keeper.kill()
    assert not any(name in namespaces() for name in names)


@needs_nodes
def test_a_link_has_the_bandwidth_that_was_asked_for():
    with Nodes(1, "100mbit") as one:
        show = one.inside(0, "tc", "qdisc", "show", "dev", "e0")
        assert "tbf" in (said := subprocess.run(show, capture_output=True, text=True, check=True).stdout)
        assert "rate 100Mbit" in said


@needs_nodes
def test_only_a_device_with_a_bandwidth_replaces_a_network_card():
    def segments(nodes: Nodes) -> str:
        show = nodes.inside(0, "ip", "-d", "link", "show", "e0")
        said = subprocess.run(show, capture_output=True, text=True, check=True).stdout
        return said.split("gso_max_segs ")[1].split()[0]

    with Nodes(1, "100mbit") as shaped, Nodes(1) as plain:
        assert segments(shaped) == "6"
        assert segments(plain) != "6"


@pytest.mark.parametrize("rate", ["1gbit", "100mbit", "2.5gbit", "500kbit"])
def test_a_bandwidth_is_taken_as_tc_writes_it(rate):
    assert check_rate("--link", rate) == rate


@pytest.mark.parametrize("rate", ["", "fast", "1", "0gbit", "-1gbit", "1gbps", "1 gbit", "1e3mbit", "1gbit;reboot"])
def test_what_is_no_bandwidth_is_named_with_the_allowed_values(rate):
    with pytest.raises(NodesError, match=r"--link .*: not a bandwidth; write .*1gbit"):
        check_rate("--link", rate)


def test_without_root_or_tools_the_reason_is_reported(monkeypatch):
    monkeypatch.setattr(module.os, "geteuid", lambda: 1000)
    assert unavailable() == "network namespaces need root"
    with pytest.raises(NodesError, match="need root"), Nodes(2):
        pass
    monkeypatch.setattr(module.os, "geteuid", lambda: 0)
    monkeypatch.setattr(module.shutil, "which", lambda tool: None if tool in ("ip", "tc") else f"/bin/{tool}")
    assert unavailable() == "ip, tc not found (Debian: apt install iproute2 util-linux)"
