"""Workers that have no work leave the cores alone. It is CPU time against time waited, so a busy machine changes
nothing."""

from __future__ import annotations

import json

import pytest
from jobs import HOME, oshrun
from tree import ROOT

HOLD_S = 3
MOST = 0.02


@pytest.mark.parametrize("version", ["bucket", "am", "steal"])
@pytest.mark.parametrize("pes", [2, 8])
def test_workers_whose_first_work_is_held_back_sleep(version: str, pes: int) -> None:
    program = HOME / f"lib/wattle/apps/tsp-{version}"
    done = oshrun(pes, program, "--json", "--hold", HOLD_S, ROOT / "apps/tsp/data/tsp04.txt")
    assert done.code == 0, done
    sample = next(line for line in map(json.loads, done.out.splitlines()) if line["kind"] == "sample")
    assert sample["verified"]
    assert sample["wait_s"] >= 0.5 * HOLD_S * (pes - 1)  # they did wait
    assert sample["wait_cpu_s"] <= MOST * sample["wait_s"], sample
