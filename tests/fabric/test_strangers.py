"""Other processes do not reach a job's ports. Messages from processes of its nodes are dropped and counted. Two jobs do
not disturb each other."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import complaints
from nodes_of_test import HOME, Job, build, built, launch, start, until_under_way
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def dropped(folder: Path, pe: int) -> dict[str, int]:
    """A PE's counts, from its profile."""
    return json.loads((folder / f"pe-{pe:05d}.json").read_text())["network"]["dropped"]


def ports_of(nodes: Nodes, i: int, program: str) -> list[str]:
    """Where processes of that name listen on node `i`, as ADDRESS:PORT."""
    listening = nodes.inside(i, "ss", "-Hltnp")
    said = subprocess.run(listening, capture_output=True, text=True, check=True).stdout
    return [line.split()[3] for line in said.splitlines() if f'"{program}"' in line]


# Connects to ADDRESS PORT, in time unless nothing answers, and says bytes that UCX 1.13 ends a process for: its magic
# number, then an impossible length. To libfabric they are a message of an unknown version.
INTRUDER = """
import socket, struct, sys
line = socket.socket()
line.settimeout(3)
try:
    line.connect((sys.argv[1], int(sys.argv[2])))
    line.sendall(struct.pack("<QIB", 0xCAFEBABE12345678, 0xFFFFFFFF, 0xFF))
    print("connected")
except OSError:
    print("kept out")
"""


def intrude(nodes: Nodes, i: int, place: str, program: str = INTRUDER) -> str:
    words = nodes.inside(i, sys.executable, "-c", program, *place.rsplit(":", 1))
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def start_on_two_of(nodes: Nodes, program: Path, enough: Path, **settings: str) -> Job:
    """`program` with a PE on each of the first two nodes."""
    hosts = ",".join(f"{name}:1" for name in nodes.names[:2])
    words = [str(HOME / "bin/oshrun"), "-n", "2", "--bind-to", "none", "--host", hosts, str(program), str(enough)]
    return launch(nodes, nodes.inside(0, *words), **settings, **nodes.environment)


def networks() -> list[str]:
    return [name for name in ("ucx", "ofi") if (HOME / f"lib/libwattle-net-{name}.so").exists()]


@pytest.mark.parametrize("network", networks())
def test_other_hosts_do_not_reach_the_ports_of_a_job(network: str, tmp_path: Path) -> None:
    """No byte from another node or from the PE's own node reaches the network. 13 of them would end UCX."""
    enough, program = tmp_path / "enough", build(HERE / "steady.c", tmp_path)
    with Nodes(3) as nodes:
        job = start_on_two_of(nodes, program, enough, WATTLE_NETWORK=network)
        until_under_way(job)
        places = ports_of(nodes, 1, "steady")
        assert places and not any(place.startswith(("127.", "[::1]")) for place in places), places
        assert [intrude(nodes, i, place) for i in (2, 1) for place in places] == ["kept out"] * 2 * len(places)
        enough.touch()
        _, err = job.communicate(timeout=300)
        assert job.returncode == 0 and complaints(err) == "", err


@pytest.mark.parametrize("network", networks())
def test_without_the_filter_other_hosts_reach_the_ports(network: str, tmp_path: Path) -> None:
    """Tests the setting, and shows that the test above can fail. UCX ends the job, and libfabric drops the bytes."""
    enough, program = tmp_path / "enough", build(HERE / "steady.c", tmp_path)
    with Nodes(3) as nodes:
        job = start_on_two_of(nodes, program, enough, WATTLE_PORT_FILTER="off", WATTLE_NETWORK=network)
        until_under_way(job)
        assert {intrude(nodes, 2, place) for place in ports_of(nodes, 1, "steady")} == {"connected"}
        if network == "ofi":
            enough.touch()
        job.communicate(timeout=300)
        assert (job.returncode == 0) == (network == "ofi")


# As INTRUDER, but by another user of the node.
BY_NOBODY = "import os; os.setuid(65534)" + INTRUDER


ADDRESSES = ["10.213.77.1", "10.213.77.2"]  # of the first two nodes
PORTS = {
    "ucx": {"WATTLE_NETWORK": "ucx", "UCX_TCP_PORT_RANGE": "20000-20099"},
    "ofi": {"WATTLE_NETWORK": "ofi", "FI_TCP_PORT_LOW_RANGE": "20000", "FI_TCP_PORT_HIGH_RANGE": "20099"},
}


def fence(nodes: Nodes, variables: dict[str, str], hosts: list[str]) -> subprocess.CompletedProcess[str]:
    """oshrun's rules, as the first node prints them."""
    words = [str(HOME / "bin/oshrun"), "--fence-network", "--host", ",".join(hosts)]
    return subprocess.run(nodes.inside(0, *words), env=os.environ | variables, capture_output=True, text=True)


@pytest.mark.skipif(not shutil.which("nft"), reason="needs nft (Debian: apt install nftables)")
@pytest.mark.parametrize("network", networks())
def test_the_fences_rules_keep_other_machines_and_users_out(network: str, tmp_path: Path) -> None:
    """With rules alone, for the filter of the ports is off."""
    enough, program = tmp_path / "enough", build(HERE / "steady.c", tmp_path)
    ports = PORTS[network]
    with Nodes(3) as nodes:
        rules = fence(nodes, ports, ADDRESSES).stdout
        for i in (0, 1, 0):  # they may be loaded again
            subprocess.run(nodes.inside(i, "nft", "-f", "-"), input=rules, text=True, check=True)
        job = start_on_two_of(nodes, program, enough, WATTLE_PORT_FILTER="off", **ports)
        until_under_way(job)
        (place,) = ports_of(nodes, 1, "steady")
        assert 20000 <= int(place.rsplit(":", 1)[1]) <= 20099
        assert intrude(nodes, 2, place) == "kept out"
        assert [intrude(nodes, i, place, BY_NOBODY) for i in (0, 1)] == ["kept out"] * 2
        enough.touch()
        _, err = job.communicate(timeout=300)
        assert job.returncode == 0 and complaints(err) == "", err


@pytest.mark.parametrize("hosts", [["localhost", ADDRESSES[1]], [ADDRESSES[1], "127.0.0.1"], None])
def test_a_loopback_address_in_the_fence_becomes_those_that_the_other_hosts_see(
    nodes: Nodes, hosts: list[str] | None
) -> None:
    """None: the nodes' names, as where /etc/hosts has a machine's own name for 127.0.1.1, which is Debian's way."""
    if hosts is None:
        known = [f"127.0.1.1 {nodes.names[0]}", f"{ADDRESSES[1]} {nodes.names[1]}"]
        (nodes.folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *known, ""]))
    done = fence(nodes, PORTS["ucx"], hosts or nodes.names)
    if hosts is None and re.search(r"not known|name resolution", done.stderr):
        pytest.skip("the nodes do not know each other's names, as in a chroot")
    (allowed,) = re.findall(r"ip saddr != { (.*) } drop", done.stdout)
    assert set(allowed.split(", ")) == set(ADDRESSES), done
    assert "127." not in done.stdout, done


@pytest.mark.parametrize(("network", "setting"), [("ucx", "UCX_NET_DEVICES"), ("ofi", "FI_TCP_IFACE")])
def test_a_fence_whose_host_has_only_a_loopback_address_is_refused(nodes: Nodes, network: str, setting: str) -> None:
    result = fence(nodes, PORTS[network] | {setting: "none0"}, ["127.0.1.1", ADDRESSES[1]])
    assert result.returncode == 64 and result.stdout == "", result
    assert all(word in result.stderr for word in ("127.0.1.1", setting)), result


def number_anew(nodes: Nodes, stem: str) -> None:
    """Gives the nodes other addresses, STEM.1 and so on."""
    hosts = [f"{stem}.{i + 1} {name}" for i, name in enumerate(nodes.names)]
    (nodes.folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *hosts, ""]))
    for i in range(nodes.count):
        subprocess.run(nodes.inside(i, "ip", "addr", "flush", "dev", "e0"), check=True)
        subprocess.run(nodes.inside(i, "ip", "addr", "add", f"{stem}.{i + 1}/24", "dev", "e0"), check=True)


def test_a_public_address_is_listened_on_only_with_permission(nodes: Nodes, tmp_path: Path) -> None:
    number_anew(nodes, "8.8.4")
    program = build(HERE / "steady.c", tmp_path)
    enough = tmp_path / "enough"
    enough.touch()
    job = start(nodes, 1, program, str(enough))
    _, err = job.communicate(timeout=300)
    assert job.returncode == 78 and "e0" in err and "8.8.4." in err and "WATTLE_PUBLIC_NETWORK=on" in err, err
    job = start(nodes, 1, program, str(enough), UCX_NET_DEVICES="e0")
    _, err = job.communicate(timeout=300)
    assert job.returncode == 78 and "WATTLE_PUBLIC_NETWORK=on" in err, err
    job = start(nodes, 1, program, str(enough), WATTLE_PUBLIC_NETWORK="on")
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0 and complaints(err) == "", err


def test_network_devices_that_are_not_there_are_named(nodes: Nodes, tmp_path: Path) -> None:
    program, enough = build(HERE / "steady.c", tmp_path), tmp_path / "enough"
    enough.touch()
    job = start(nodes, 1, program, str(enough), UCX_NET_DEVICES="d0,e")
    _, err = job.communicate(timeout=300)
    assert job.returncode == 78 and "UCX_NET_DEVICES=d0,e: " in err and "e0" in err, err
    job = start(nodes, 1, program, str(enough), UCX_NET_DEVICES="d0,e0")
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0, err


@pytest.mark.parametrize("told", ["off", "on"])
def test_a_private_interface_is_taken_beside_a_public_one(nodes: Nodes, tmp_path: Path, told: str) -> None:
    for i in range(nodes.count):
        for words in (
            "link add pub type veth peer name end",
            f"addr add 8.8.{i}.1/24 dev pub",
            "link set pub up",
            "link set end up",
        ):
            subprocess.run(nodes.inside(i, "ip", *words.split()), check=True)
    enough, program = tmp_path / "enough", build(HERE / "steady.c", tmp_path)
    job = start(nodes, 1, program, str(enough), WATTLE_PUBLIC_NETWORK=told)
    until_under_way(job)
    listened = {place.rsplit(":", 1)[0] for place in ports_of(nodes, 1, "steady")}
    enough.touch()
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0 and complaints(err) == "", err
    assert listened == {"10.213.77.2"}


def test_foreign_messages_change_no_memory_and_are_counted(nodes: Nodes, tmp_path: Path) -> None:
    settings = {"WATTLE_PROFILE_DIR": str(tmp_path), "UCX_LOG_LEVEL": "error"}
    job = start(nodes, 1, built("hostile"), **settings)
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    sent = re.search(r"foreign (\d+) malformed (\d+)", out)
    assert sent and int(sent[1]) > 100 and int(sent[2]) > 100
    assert dropped(tmp_path, 1) == {"foreign": int(sent[1]), "malformed": int(sent[2])}
    assert dropped(tmp_path, 0) == {"foreign": 0, "malformed": 0}


def test_noise_at_the_ports_disturbs_no_pe(nodes: Nodes, tmp_path: Path) -> None:
    enough = tmp_path / "enough"
    job = start(nodes, 1, build(HERE / "steady.c", tmp_path), str(enough), WATTLE_PROFILE_DIR=str(tmp_path))
    until_under_way(job)
    command = nodes.inside(0, sys.executable, str(HERE / "noise.py"), "1", *ports_of(nodes, 1, "steady"))
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


def test_two_jobs_on_the_same_nodes_do_not_interfere(nodes: Nodes, tmp_path: Path) -> None:
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
