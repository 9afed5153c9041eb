"""The network by libfabric: programs on two nodes over its providers, and providers that do not exist."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import Job, Result
from mpi_jobs import AS_ROOT
from nodes_of_test import HOME, build, built
from wattle.machine.nodes import Nodes, unavailable

pytestmark = [
    pytest.mark.skipif(unavailable() is not None, reason=str(unavailable())),
    pytest.mark.skipif(not (HOME / "lib/libwattle-net-ofi.so").exists(), reason="built without libfabric"),
]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def run(nodes: Nodes, folder: Path, pes: int, *words: str | Path, **settings: str) -> tuple[Result, set[tuple]]:
    """The result, and the networks that the PEs took with their paths."""
    command = nodes.command(str(HOME / "bin/oshrun"), pes, *map(str, words))
    env = AS_ROOT | {"WATTLE_PROFILE_DIR": str(folder), "WATTLE_NETWORK": "ofi"} | settings
    with Job(command, env=env) as job:
        result = job.wait(120)
    networks = [json.loads(path.read_text())["network"] for path in folder.glob("*.json")]
    return result, {(network["name"], network["paths"]) for network in networks}


@pytest.mark.parametrize(
    ("program", "wait"),
    [("oracle 1 5", "adaptive"), ("oracle 1 5", "sleep"), ("am_basics", "sleep"), ("am_basics", "spin")],
)
def test_programs_run_on_it(nodes: Nodes, program: str, wait: str, tmp_path: Path) -> None:
    name, *arguments = program.split()
    result, networks = run(nodes, tmp_path, 1, built(name), *arguments, WATTLE_WAIT=wait)
    # From libfabric 2 on the provider tcp needs no ofi_rxm on top.
    assert result.code == 0 and networks in ({("ofi", "tcp;ofi_rxm/e0")}, {("ofi", "tcp/e0")}), (result, networks)


@pytest.mark.parametrize(
    ("program", "wait"),
    [
        ("oracle 7 2", "adaptive"),
        ("oracle 11 1 large", "sleep"),
        ("litmus bell 100 2", "spin"),
        ("litmus bell 100 2", "sleep"),
        ("late_flag", "adaptive"),
        ("late_flag", "sleep"),
    ],
)
def test_programs_run_by_its_remote_memory_access(nodes: Nodes, program: str, wait: str, tmp_path: Path) -> None:
    name, *arguments = program.split()
    path = build(HERE / "late_flag.c", tmp_path) if name == "late_flag" else built(name)
    result, _ = run(nodes, tmp_path, 1, path, *arguments, WATTLE_WAIT=wait, WATTLE_RMA="on")
    assert result.code == 0, result
    profiles = [json.loads(path.read_text()) for path in tmp_path.glob("pe-*.json")]
    # litmus has short puts alone. These are messages to a PE that sleeps, and until the keys have arrived.
    assert name == "litmus" or sum(profile["network"]["bytes"]["hardware"] for profile in profiles) > 0


@pytest.mark.parametrize(("program", "pes"), [("flood put:100:8", 1), ("examples/ring --laps 100", 2)])
def test_another_provider_is_used_if_it_is_named(nodes: Nodes, program: str, pes: int, tmp_path: Path) -> None:
    name, *arguments = program.split()
    result, networks = run(nodes, tmp_path, pes, built(name), *arguments, FI_PROVIDER="sockets")
    assert result.code == 0 and {name for name, _ in networks} == {"ofi"}, result
    assert all(path.startswith("sockets/") for _, path in networks), networks


def test_the_buffers_of_tcp_are_few_unless_the_user_wants_more(nodes: Nodes, tmp_path: Path) -> None:
    """libfabric makes 4,096 buffers for tcp;ofi_rxm by default, of which the PE touches more than 30 MiB."""
    program = build(HERE / "receive_buffers.c", tmp_path)
    few, networks = run(nodes, tmp_path, 1, program)
    if {path for _, path in networks} != {"tcp;ofi_rxm/e0"}:
        pytest.skip(f"the provider is another one: {networks}")
    many, _ = run(nodes, tmp_path, 1, program, FI_OFI_RXM_MSG_RX_SIZE="4096")
    assert few.code == many.code == 0, (few, many)
    assert int(few.out) + 30 * 1024 < int(many.out)


def test_a_provider_that_does_not_exist_is_an_error(nodes: Nodes, tmp_path: Path) -> None:
    result, _ = run(nodes, tmp_path, 1, built("am_basics"), FI_PROVIDER="none-such")
    assert result.code == 69 and "libfabric) has no provider" in result.err, result


def test_a_computing_target_is_served_and_a_waiting_one_sleeps(nodes: Nodes, tmp_path: Path) -> None:
    result, _ = run(nodes, tmp_path, 1, build(HERE / "passive.c", tmp_path))
    assert result.code == 0, result


def test_it_is_taken_where_ucx_is_missing(nodes: Nodes, tmp_path: Path) -> None:
    without, profiles = tmp_path / "lib", tmp_path / "profiles"
    for folder in (without, profiles):
        folder.mkdir()
    for library in (HOME / "lib").glob("*.so*"):
        if "net-ucx" not in library.name:
            shutil.copy2(library, without)  # modules are found beside the file, not beside a link to it
    settings = {"LD_LIBRARY_PATH": str(without), "WATTLE_NETWORK": "auto"}
    result, networks = run(nodes, profiles, 1, "-x", "LD_LIBRARY_PATH", built("am_basics"), **settings)
    assert result.code == 0 and {name for name, _ in networks} == {"ofi"}, (result, networks)


def test_a_device_without_its_provider_is_left_to_ucx(nodes: Nodes, tmp_path: Path) -> None:
    (tmp_path / "sys/class/cxi/cxi0").mkdir(parents=True)
    (tmp_path / "profiles").mkdir()
    settings = {"WATTLE_SYSFS": str(tmp_path / "sys"), "WATTLE_NETWORK": "auto", "FI_PROVIDER": "tcp;ofi_rxm"}
    result, networks = run(nodes, tmp_path / "profiles", 1, built("am_basics"), **settings)
    assert result.code == 0 and {name for name, _ in networks} == {"ucx"}, (result, networks)
