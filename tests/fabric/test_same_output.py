"""A program prints the same over each network: UCX and libfabric, by messages and by remote memory access, and MPI."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import Job
from mpi_jobs import AS_ROOT
from nodes_of_test import HOME
from wattle.machine.nodes import Nodes, unavailable

pytestmark = [
    pytest.mark.skipif(unavailable() is not None, reason=str(unavailable())),
    pytest.mark.skipif(not (HOME / "lib/libwattle-net-ofi.so").exists(), reason="built without libfabric"),
]
NETWORKS = [("ucx", "off"), ("ucx", "on"), ("ofi", "off"), ("ofi", "on"), ("mpi", "off")]
PROGRAMS = [
    "bin/oracle 5 3",
    "bin/oracle 9 1 large",
    pytest.param("bin/examples/hello", marks=pytest.mark.soak),
    pytest.param("bin/examples/halo --size 64 --steps 20", marks=pytest.mark.soak),
    "lib/wattle/apps/mst-am --graph rmat --log-vertices 12 --edges 20000 --graphs 3",
]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def printed(nodes: Nodes, command: str, network: str, rma: str, folder: Path) -> list[str]:
    """The sorted lines, without times, of a job that takes this network, with or without remote memory access."""
    folder.mkdir()
    program, *arguments = command.split()
    settings = {"WATTLE_PROFILE_DIR": str(folder), "WATTLE_NETWORK": network, "WATTLE_RMA": rma}
    with Job(
        nodes.command(str(HOME / "bin/oshrun"), 1, str(HOME / program), *arguments), env=AS_ROOT | settings
    ) as job:
        result = job.wait(300)
    assert result.code == 0, result
    found = [json.loads(path.read_text())["network"] for path in folder.glob("pe-*.json")]
    assert {one["name"] for one in found} == {network}
    assert rma == "on" or not any(one["bytes"]["hardware"] for one in found)
    assert rma == "off" or "oracle" not in program or all(one["bytes"]["hardware"] for one in found)
    return sorted(re.sub(r"[\d.]+ (CPU s|s|M points/s)\b", "", result.out).splitlines())


@pytest.mark.timeout(900)
@pytest.mark.parametrize("command", PROGRAMS, ids=lambda command: command.split("/")[-1].split(" --")[0])
def test_a_program_prints_the_same_over_every_network(nodes: Nodes, command: str, tmp_path: Path) -> None:
    lines = {
        (network, rma): printed(nodes, command, network, rma, tmp_path / f"{network}-{rma}")
        for network, rma in NETWORKS
    }
    first = lines[NETWORKS[0]]
    assert first and all(one == first for one in lines.values()), lines
