"""Studies on a simulated cluster: each gives right results, and a verdict for every published figure, with a reason
where it differs."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from sim_job import is_built, wattle
from wattle.report.cli import write

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")


def study(folder: Path, *arguments: str, timeout: float = 360) -> dict:
    done = wattle("study", *arguments, "--on", "sim", "-o", folder, limit_s=timeout)
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "results.json").read_text())
    assert found["verified"]
    assert all(row["why"] for row in found["published"] if row["verdict"] == "worse")
    return found


def test_the_study_of_messages_leaves_out_what_is_not_simulated_and_says_so(tmp_path: Path) -> None:
    found = study(tmp_path / "am", "am", "--quick", "--repeat", "1")
    assert {cell["way"] for cell in found["cells"]} == {"am", "put", "nbi", "own", "shared"}
    assert max(cell["pes"] for cell in found["cells"]) == 16
    assert any("only this runtime is simulated" in words for words in found["left_out"])
    assert found["place"]["name"] == "sim"


def test_a_study_is_simulated_with_the_network_at_both_ends_of_its_half_widths(tmp_path: Path) -> None:
    study(tmp_path / "fragments", "fragments", "--quick", "--most", "1")
    slow, usual, fast = (
        pl.read_parquet(tmp_path / "fragments" / end / "samples.parquet")["latency_s"].sum()
        for end in ("network-slow", "", "network-fast")
    )
    assert fast < usual < slow
    assert json.loads((tmp_path / "fragments" / "manifest.json").read_text())["networks"]["words"]


def test_the_salesman_has_the_same_answer_on_an_odd_number_of_simulated_pes(tmp_path: Path) -> None:
    found = study(tmp_path / "tsp", "tsp", "--quick", "--pes", "3")
    assert {point["version"] for point in found["points"]} == {"mpi", "bucket", "am", "steal"}
    assert not found["left_out"]
    assert all(point["energy"]["median"] > 0 for point in found["points"])


@pytest.mark.soak
def test_two_sided_messages_are_simulated_by_both_networks_with_all_messages_eager_or_none(tmp_path: Path) -> None:
    found = study(tmp_path / "protocols", "protocols", "--quick")
    assert {point["series"] for point in found["points"]} == {
        f"{link}, {way}" for link in ("TCP", "InfiniBand") for way in ("eager", "rendezvous")
    }
    machines = json.loads((tmp_path / "protocols" / "manifest.json").read_text())["simulated_by_series"]
    eager = {series: machine["numbers"]["eager"]["value"] for series, machine in machines.items()}
    assert eager["TCP, rendezvous"] == eager["InfiniBand, rendezvous"] == 0
    assert eager["TCP, eager"] == eager["InfiniBand, eager"] > 1 << 20
    assert write(tmp_path / "protocols", None).is_file()


@pytest.mark.soak
def test_the_study_of_a_power_aware_library_runs_on_its_paper_s_node(tmp_path: Path) -> None:
    found = study(tmp_path / "pascol", "pascol", "--quick", timeout=400)
    assert {point["pes"] for point in found["points"]} == {16}
    assert json.loads((tmp_path / "pascol" / "manifest.json").read_text())["simulated"]["per_node"] == 8
    assert found["knob"]["clocks"] == [1.9, 2.33]
    kept = pl.read_parquet(tmp_path / "pascol" / "samples.parquet").filter(pl.col("mode") == "aware")
    assert all("thresholds" in json.loads(more) for more in kept["more_json"])
