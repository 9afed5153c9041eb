"""Long transfers of ARMCI go by hardware, in ARMCI's order: over UCX and libfabric, and by simulated network cards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from nodes_of_test import built, start
from tree import HOME, ROOT
from wattle.machine.nodes import Nodes, unavailable

BYTES, ROUNDS = 262144, 4
# Two puts and three gets of the block, a get of one value, a put and a get of the patch. Two short puts go by messages.
OF_A_ROUND = (2 + 3) * BYTES + 8 + 2 * (BYTES // 2)


def hardware_bytes(profile: Path) -> list[int]:
    return [json.loads(path.read_text())["network"]["bytes"]["hardware"] for path in sorted(profile.glob("pe-*"))]


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
@pytest.mark.parametrize("network", ["ucx", "ofi"])
def test_long_transfers_between_nodes_go_by_hardware(tmp_path: Path, network: str) -> None:
    settings = {"WATTLE_RMA": "on", "WATTLE_NETWORK": network, "WATTLE_PROFILE_DIR": str(tmp_path)}
    with Nodes(2) as nodes:
        job = start(nodes, 1, built("armci_transfers"), str(BYTES), str(ROUNDS), **settings)
        _, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    assert hardware_bytes(tmp_path) == [ROUNDS * OF_A_ROUND] * 2


@pytest.mark.skipif(not (HOME / "lib/libwattle-sim.a").exists(), reason="built without SimGrid (libsimgrid-dev)")
@pytest.mark.parametrize("wait", ["adaptive", "sleep"])
def test_long_transfers_go_by_simulated_cards(tmp_path: Path, wait: str) -> None:
    program, source = tmp_path / "transfers", ROOT / "tests/armci/transfers.c"
    words = ["--sim", "-O2", "-g", "-D_GNU_SOURCE", f"-I{ROOT / 'tests'}", f"-I{ROOT / 'src'}", source, "-o", program]
    subprocess.run([HOME / "bin/oshcc", *words], check=True)
    options = ["-n", "2", "--machine", "sandybridge-ib", "--set", f"WATTLE_WAIT={wait}", "-o", tmp_path / "run"]
    simulate = [sys.executable, "-m", "wattle", "sim", *options, "--", program, str(BYTES), str(ROUNDS)]
    subprocess.run(simulate, check=True, capture_output=True)
    assert hardware_bytes(tmp_path / "run/profile") == [ROUNDS * OF_A_ROUND] * 2
