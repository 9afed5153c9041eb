"""`wattle run --hosts`: the hosts are checked and counted, and a job really runs on nodes of its own."""

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
from fakes import Wattle, script
from nodes_of_test import is_in_chroot
from tree import PACKAGE
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.nodes import Nodes, unavailable
from wattle.run.hosts import given

needs_nodes = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


def slots(listed: str | None = None, file: Path | None = None) -> list[tuple[str, int | None]]:
    return [(host.name, host.slots) for host in given(listed, file).hosts]


def test_hosts_are_one_pe_each_unless_they_say_more():
    assert slots("a,b") == [("a", 1), ("b", 1)]
    assert slots("a:2,b.example.org:3,10.0.0.1") == [("a", 2), ("b.example.org", 3), ("10.0.0.1", 1)]
    assert given("a:2,b", None).pes() == 3
    assert given(None, None).pes() == 1


def test_ranges_and_addresses_are_hosts_too():
    assert slots("n[08-10,3]:2,127.0.0.1") == [("n08", 2), ("n09", 2), ("n10", 2), ("n3", 2), ("127.0.0.1", 1)]
    assert given("n[1-4]", None).pes() == 4


def test_an_ipv6_address_is_a_host_by_its_name(monkeypatch):
    names = {"fd00::2": "node2", "fe80::3%eth0": "node3"}
    monkeypatch.setattr("socket.getnameinfo", lambda address, flags: (names[address[0]], "0"))
    for listed, given_on in (
        ("fd00::2", "node2:1"),
        ("[fd00::2]", "node2:1"),
        ("a,[fd00::2]:3,n[1-2],fe80::3%eth0", "a:1,node2:3,n1:1,n2:1,node3:1"),
    ):
        assert given(listed, None).options == ["--host", given_on]


def test_in_an_allocation_of_slurm_it_says_how_many_pes_and_nodes(monkeypatch):
    monkeypatch.setenv("SLURM_NTASKS", "8")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "4")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert (given(None, None).pes(), given(None, None).n_hosts(8)) == (1, None)
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert (given(None, None).pes(), given(None, None).n_hosts(8), given(None, None).n_hosts(2)) == (8, 4, 2)
    assert given("a,b", None).pes() == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a slots=2\nb slots=4 max_slots=8\n", [("a", 2), ("b", 4)]),
        ("# ours\n\na:2   # the first\nme@b:1\n", [("a", 2), ("b", 1)]),
        ("a\nb slots=1", [("a", None), ("b", 1)]),
        ("a:2 slots=3", [("a", 3)]),
    ],
)
def test_a_host_file_is_open_mpis_or_mpichs(tmp_path, text, expected):
    (tmp_path / "hosts").write_text(text)
    assert slots(None, tmp_path / "hosts") == expected


def test_a_host_file_that_gives_no_numbers_needs_one(tmp_path):
    (tmp_path / "hosts").write_text("a\nb slots=1\n")
    with pytest.raises(WattleError, match="-n is needed: the host file does not say how many PEs a takes"):
        given(None, tmp_path / "hosts").pes()


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("", "a host's name is empty"),
        ("a,", "a host's name is empty"),
        (",a", "a host's name is empty"),
        (":2", "'' is no host's name"),
        ("a b", "'a b' is no host's name"),
        ("-x", "'-x' is no host's name"),
        ("a;b", "'a;b' is no host's name"),
        ("a:", "'' PEs on a: expected 1 to"),
        ("a:0", "'0' PEs on a: expected 1 to"),
        ("a:-1", "'-1' PEs on a: expected 1 to"),
        ("a:two", "'two' PEs on a: expected 1 to"),
        ("a:99999999", "'99999999' PEs on a: expected 1 to"),
        ("a:1:2", "'1:2' PEs on a: expected 1 to"),
        ("n[3-1]", "'3-1' in n[3-1] is no range"),
        ("n[1,]", "'' in n[1,] is no range"),
        ("n[1-99999999]", "are more than 65536 hosts"),
        ("100::1", "no name of 100::1 is known, and launchers take no IPv6 address; give the host's name"),
        ("a,[100::1]:2", "no name of 100::1 is known"),
        ("[100::1]:x", "'x' PEs on 100::1: expected 1 to"),
        ("[100::1]x", "PEs on [100: expected 1 to"),
        ("n[1", "'n[1' is no host's name"),
    ],
)
def test_hosts_that_are_none_are_named_with_the_allowed_values(wattle: Wattle, listed, words):
    done = wattle("run", "--hosts", listed, "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"wattle: --hosts {listed}".rstrip())
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "names no host"),
        (b"# nothing\n\n", "names no host"),
        (b"a\nb slots=none\n", "line 2: 'none' PEs on b: expected 1 to"),
        (b"a!\n", "line 1: 'a!' is no host's name"),
        (b"\xff\xfe", "is not text"),
    ],
)
def test_a_host_file_that_is_none_is_named_with_its_line(wattle: Wattle, tmp_path, text, words):
    (tmp_path / "hosts").write_bytes(text)
    done = wattle("run", "--hostfile", tmp_path / "hosts", "true")
    assert done.returncode == 2
    assert str(tmp_path / "hosts") in done.stderr
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_host_file_that_is_not_there_and_two_ways_at_once_are_errors(wattle: Wattle, tmp_path):
    assert "is missing" in wattle("run", "--hostfile", tmp_path / "none", "true").stderr
    assert "Is a directory" in wattle("run", "--hostfile", tmp_path, "true").stderr
    assert "give one of the two" in wattle("run", "--hosts", "a", "--hostfile", "f", "true").stderr


def test_hosts_reach_the_launcher_as_they_were_given(home, wattle: Wattle, tmp_path):
    script(home / "bin" / "oshrun", '#!/bin/sh\necho "$*"\n')
    (tmp_path / "hosts").write_text("a slots=2\n")
    done = wattle("run", "--hosts", "a:2,b", "/bin/true")
    assert done.stdout == "-n 3 --host a:2,b -- /bin/true\n"
    done = wattle("run", "-n", 7, "--hostfile", tmp_path / "hosts", "/bin/true")
    assert done.stdout == f"-n 7 --hostfile {tmp_path / 'hosts'} -- /bin/true\n"


# ---- for real, on nodes made of network namespaces ----

PROGRAM = """
#include <shmem.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  static long sum;
  shmem_init();
  for (int i = 0; i < 100; i++) shmem_long_atomic_add(&sum, 1, (shmem_my_pe() + i) % shmem_n_pes());
  shmem_barrier_all();
  shmem_finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        oshcc = paths.tool("oshcc")
    except WattleError as error:
        pytest.skip(f"the runtime is not built: {error}")
    folder = tmp_path_factory.mktemp("program")
    (folder / "adds.c").write_text(PROGRAM)
    subprocess.run([oshcc, "-O2", "-g", folder / "adds.c", "-o", folder / "adds"], check=True)
    return folder / "adds"


@pytest.fixture
def two() -> Iterator[Nodes]:
    with Nodes(2) as nodes:
        yield nodes


def run(nodes: Nodes, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """`wattle run ARGUMENTS` on the first node."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "FAKE_", "COLUMNS"))}
    env = {**inherited, "PYTHONPATH": str(PACKAGE), **nodes.environment, **environment}
    command = nodes.inside(0, sys.executable, "-m", "wattle", "run", *map(str, arguments))
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


@needs_nodes
def test_a_job_on_two_nodes_brings_all_profiles_back(two, program, tmp_path):
    hosts = ",".join(f"{name}:2" for name in two.names)
    done = run(two, "--hosts", hosts, "--json", "-o", tmp_path / "out", "--", program)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(n["host"], n["pes"], n["reader"]) for n in document["nodes"]] == [
        (two.names[0], [0, 1], 0),
        (two.names[1], [2, 3], 2),
    ]
    assert len({node["boot_id"] for node in document["nodes"]}) == 1
    for i, whole in enumerate(document["node"]["joules"]):
        nodes = [node["joules"][i] for node in document["nodes"]]
        idle = document["node"]["idle"][i]["joules"]
        shares = [pe["joules"][i]["joules"] for pe in document["pes"]]
        assert whole["joules"] == pytest.approx(sum(node["joules"] for node in nodes))
        assert whole["joules"] == pytest.approx(sum(shares) + idle, rel=1e-6)
    manifest = document["manifest"]
    assert manifest["hosts"] == [{"name": name, "slots": 2} for name in two.names]


@needs_nodes
def test_a_host_file_serves_as_well_and_the_tables_show_the_nodes(two, program, tmp_path):
    (tmp_path / "hosts").write_text("".join(f"{name} slots=1\n" for name in two.names))
    done = run(two, "--hostfile", tmp_path / "hosts", "-o", tmp_path / "out", "--", program)
    assert done.returncode == 0, done.stderr
    assert "on 2 PEs on 2 nodes" in done.stderr
    assert "By node, 2 nodes" in done.stderr
    assert "are one machine" in " ".join(done.stderr.split())


@needs_nodes
def test_a_node_that_cannot_write_to_the_directory_is_named_and_the_others_are_kept(two, program, tmp_path):
    out, hidden = tmp_path / "out", tmp_path / "out" / "profile"
    agent = (two.folder / "agent").read_text()
    # Processes on the other node find an empty directory in place of the run's.
    (two.folder / "agent").write_text(agent.replace('sh -c "$*"', f'sh -c "mount -t tmpfs none {hidden}; $*"'))
    hosts = ",".join(two.names)
    done = run(two, "--hosts", hosts, "-o", out, "--", program)
    assert done.returncode == 0, done.stderr
    assert "No profile from PE 1" in done.stderr
    assert f"No profile came from {two.names[1]}." in done.stderr
    assert [p.name for p in hidden.iterdir()] == ["pe-00000.json"]


@needs_nodes
@pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH's mpiexec is not installed (Debian: mpich)")
def test_mpichs_mpiexec_serves_as_well(two, program, tmp_path):
    library = paths.library()
    if library is None or not library.with_name("libwattle-boot-mpi-mpich.so").exists():
        pytest.skip("the runtime was built without boot by MPICH")
    if is_in_chroot():
        pytest.skip("in a chroot the nodes do not know each other's names, which MPICH needs")
    hosts = ",".join(f"{name}:2" for name in two.names)
    reach = {"HYDRA_LAUNCHER": "rsh", "HYDRA_LAUNCHER_EXEC": str(two.folder / "agent")}
    done = run(two, "--hosts", hosts, "--json", "-o", tmp_path / "out", "--", program, WATTLE_LAUNCHER="mpich", **reach)
    assert done.returncode == 0, done.stderr
    assert [n["pes"] for n in json.loads(done.stdout)["nodes"]] == [[0, 1], [2, 3]]


@needs_nodes
def test_the_programs_exit_code_comes_back_from_any_node(two, program, tmp_path):
    assert run(two, "--hosts", ",".join(two.names), "-o", tmp_path / "out", "--", program, 7).returncode == 7


@needs_nodes
def test_a_host_that_cannot_be_reached_is_the_launchers_error(two, program, tmp_path):
    hosts = f"{two.names[0]},{two.names[0]}x"
    done = run(two, "--hosts", hosts, "-o", tmp_path / "out", "--", program)
    assert done.returncode not in (0, 2)
    assert re.search(rf"{two.names[0]}x", done.stderr)
    assert "No PE left a profile" in done.stderr
    assert "Traceback" not in done.stderr
