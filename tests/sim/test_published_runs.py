"""Runs that others published, simulated on the cluster that describes their system: the documented error is that of
these times, and no price of a cluster was taken from them."""

from __future__ import annotations

import csv
import re
from statistics import median

import pytest
from sim_job import build, is_built, simulate
from tree import ROOT
from wattle.sim import cluster as clusters

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

ROWS = list(csv.DictReader((ROOT / "machines/measured/published-runs.csv").open()))
JUDGED = [row for row in ROWS if row["use"] == "judged"]
DOCUMENT = (ROOT / "docs/appendix/measurements.md").read_text().partition("## Error on published runs\n")[2]


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """Of each run: how much longer its times are in simulation, relative to the published ones."""
    folder = build(tmp_path_factory.mktemp("runs"), "mpi_pingpong")
    found: dict[str, list[float]] = {}
    for name in dict.fromkeys(row["cluster"] for row in JUDGED):
        sizes = sorted({int(row["bytes"]) for row in JUDGED if row["cluster"] == name})
        options = ("--machine", name, "--set", "WATTLE_WAIT=spin")
        done = simulate(folder / name, folder / "mpi_pingpong", *map(str, sizes), n=2, options=options)
        times = dict(line.split() for line in done.stdout.splitlines())
        for row in (row for row in JUDGED if row["cluster"] == name):
            error = float(times[row["bytes"]]) / (float(row["us"]) * 1e-6) - 1
            found.setdefault(row["run"], []).append(error)
    return found


def percent(values: list[float]) -> float:
    return median(map(abs, values)) * 100


def test_the_documented_error_on_published_runs_is_that_of_the_simulation(errors: dict[str, list[float]]) -> None:
    lines = {name: percent(found) for name, found in errors.items()}
    lines["all"] = percent([error for found in errors.values() for error in found])
    for name, found in errors.items():
        print(name, f"{lines[name]:.1f} %", f"{min(found):+.0%} to {max(found):+.0%}")
    print("all", f"{lines['all']:.1f} %")
    said = {
        name: float(value) for name, value in re.findall(r"^\| (?:`([\w-]+)`|all) \|.*?\| (\d+) % \|", DOCUMENT, re.M)
    }
    said["all"] = said.pop("")
    assert said.keys() == lines.keys()
    assert {name: said[name] - lines[name] for name in said} == pytest.approx(dict.fromkeys(said, 0.0), abs=1.0)


def test_a_run_gives_prices_or_is_judged_and_never_both() -> None:
    uses = {row["run"]: set() for row in ROWS}
    for row in ROWS:
        uses[row["run"]].add(row["use"])
    assert all(found in ({"judged"}, {"price"}) for found in uses.values())
    sources = " ".join(n.source for row in JUDGED for n in clusters.read(row["cluster"]).numbers.values())
    for judged in ("24775", "Latency_Test", "azure-docs", "14404"):
        assert judged not in sources
