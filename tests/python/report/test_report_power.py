"""Mean and peak power of PEs and nodes, and joules by region, in --json and in the report of made runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fakes
import numpy as np
import pytest
import timelines
from wattle.base.errors import DamagedFile
from wattle.figures import pe_power, regions
from wattle.figures.courses import Courses
from wattle.record import profile, runs
from wattle.record.timeline_file import Span
from wattle.report.cli import write
from wattle.run import summary

TICKS = 4_000_000_000  # 2 s, as the made profiles
WATTS = {"active": 10.0, "spin": 8.0, "yield": 8.0, "asleep": 0.0}
NUMBERS = [{"key": f"clocks[0].{state}", "value": watts, "plus_minus": watts / 4} for state, watts in WATTS.items()]


def asleep(begin_s: float, end_s: float) -> timelines.Event:
    return (round(begin_s * 2e9), round(end_s * 2e9), 0x555500001201, 1, Span.ASLEEP)


def a_run(directory: Path, sleeps: dict[int, list[tuple[float, float]]], profiles: Any = None, **manifest: Any) -> Path:
    """A run of 2 s with the timelines of PEs that sleep in these intervals and compute in between."""
    run = fakes.make_run(directory, profiles, **({"machine_numbers": NUMBERS} | manifest))
    for pe, intervals in sleeps.items():
        timelines.write(run / "profile", pe, [[asleep(*one) for one in intervals]], length=TICKS)
    return run


def power_of(run: Path) -> dict[str, Any]:
    return json.loads(json.dumps(summary.document(runs.load(run))))["power"]


def of(found: dict[str, Any], part: str, k: int, domain: str = "cpu") -> dict[str, Any]:
    return next(one for one in found[part][k]["power"] if one["domain"] == domain)


def test_the_mean_is_the_joules_over_their_time_with_their_half_width(run_dir):
    found = power_of(run_dir)
    assert of(found, "pes", 0)["mean"] == {
        "watts": 5.0,
        "uncertainty": 1.25,
        "provenance": "modelled",
        "source": "model sandybridge-e5-2670",
        "scope": "process",
    }
    assert of(found, "nodes", 0, "dram")["mean"]["watts"] == 4.0
    peak = of(found, "pes", 0)["peak"]
    assert (peak["watts"], peak["uncertainty"], peak["provenance"]) == (None, None, "unavailable")


def test_a_pe_that_sleeps_half_of_the_time_has_twice_its_mean_as_peak(tmp_path):
    found = power_of(a_run(tmp_path / "run", {0: [(1.0, 2.0)], 1: []}))
    first, second = (of(found, "pes", k)["peak"] for k in range(2))
    assert first["watts"] == pytest.approx(10.0)  # 10 J in 1 s
    assert first["uncertainty"] == pytest.approx(2.5)
    assert first["provenance"] == "modelled"
    assert second["watts"] == pytest.approx(5.5)  # 11 J, evenly over 2 s
    assert of(found, "pes", 0, "dram")["peak"]["provenance"] == "unavailable"


def test_the_nodes_peak_is_of_its_pes_at_the_same_time_with_idle(tmp_path):
    found = power_of(a_run(tmp_path / "run", {0: [(1.0, 2.0)], 1: [(0.0, 0.9)]}))
    peak = of(found, "nodes", 0)["peak"]
    assert peak["watts"] == pytest.approx(19 / 2 + 10 / 1 + 11 / 1.1)  # both compute from 0.9 to 1 s
    assert peak["uncertainty"] == pytest.approx(peak["watts"] / 4)
    apart = power_of(a_run(tmp_path / "apart", {0: [(1.0, 2.0)], 1: [(0.0, 1.0)]}))
    assert of(apart, "nodes", 0)["peak"]["watts"] == pytest.approx(19 / 2 + 11 / 1)


def test_a_peak_agrees_with_every_window_tried(tmp_path):
    random = np.random.default_rng(3)
    edges = np.sort(random.uniform(0, 2, 60))
    run = a_run(tmp_path / "run", {0: [tuple(pair) for pair in edges.reshape(-1, 2)]})
    courses = Courses(run / "profile", WATTS, True)
    tried = [courses.means(0, np.array([at, at + 0.1]))[0] for at in np.linspace(0, 1.9, 4001)]
    assert max(tried) * (1 - 1e-12) <= courses.peak(0, 0.1) <= 1.02 * max(tried)
    whole = courses.means(0, np.linspace(0, 2, 101))
    assert whole.sum() * 0.02 == pytest.approx(1)


def test_a_sensors_highest_reading_is_the_nodes_peak_without_a_half_width(tmp_path):
    pes = [fakes.pe_profile(pe) for pe in range(2)]
    pes[0]["node"]["joules"][0] |= {"provenance": "measured", "source": "powercap"}
    run = a_run(tmp_path / "run", {}, pes)
    power = [{"scope": "cpu", "source": "powercap", "at_s": [1.0, 2.0], "watts": [12.5, 31.0]}]
    (run / "profile" / "power-00000.json").write_text(
        json.dumps({"schema": 1, "pe": 0, "every_s": 0.01, "power": power})
    )
    peak = of(power_of(run), "nodes", 0)["peak"]
    assert (peak["watts"], peak["uncertainty"], peak["provenance"]) == (31.0, None, "measured")
    assert "31.0 ± ? W" in write(run, tmp_path / "report.html").read_text()


@pytest.mark.parametrize("numbers", [[], [{"key": "clocks[0].active", "value": 3.0}]])
def test_without_the_watts_of_each_state_there_is_no_peak(tmp_path, numbers):
    run = a_run(tmp_path / "run", {0: [], 1: []}, machine_numbers=numbers)
    assert of(power_of(run), "pes", 0)["peak"]["provenance"] == "unavailable"


def test_unknown_joules_have_no_power(tmp_path):
    pes = [fakes.pe_profile(pe, joules=[fakes.figure("cpu", None)]) for pe in range(2)]
    found = power_of(a_run(tmp_path / "run", {0: [], 1: []}, pes))
    for kind in ("mean", "peak"):
        assert (of(found, "pes", 0)[kind]["watts"], of(found, "pes", 0)[kind]["provenance"]) == (None, "unavailable")


def test_the_report_has_a_map_of_watts_and_a_row_for_each_pe_and_node(tmp_path):
    run = a_run(tmp_path / "run", {0: [(1.0, 2.0)], 1: []})
    page = write(run, tmp_path / "report.html").read_text()
    assert "Power by PE over time" in page
    assert "5.00 ± 1.2 W" in page
    assert "10.0 ± 2 W" in page
    assert "highest mean over 0.1 s" in " ".join(page.split())


def test_the_report_without_a_timeline_says_how_to_get_peaks(run_dir, tmp_path):
    page = write(run_dir, tmp_path / "report.html").read_text()
    assert "Power by PE over time" not in page
    assert "<code>--timeline</code> also has peaks by PE" in page


# ---- regions ----


def region(offset: int, compute_s: float, slack_s: float) -> dict[str, Any]:
    entry = {"addr": hex(0x555500000000 + offset + 1), "instances": 50, "seen": 50, "acted": 3, "lost_s": -1e-6}
    return {**entry, "compute_s": compute_s, "slack_s": slack_s, "follows": None}


def governed(*found: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
    clocks = {"mode": "energy", "scaling": "reactive", "knob": "record", "why": "", "changes": 1, "slack_s": 1.0}
    clocks |= {"slow_s": 0.5, "lost_s": 0.0, "price_s": 1e-5, "failed": "", "regions": list(found)}
    # PE 0 computes for 1.5 s and waits for 0.5 s, at 10 J of its processors, of them 1 J in waits.
    more = {"clocks": clocks, "wait_joules": {"cpu": 1.0, "dram": 0.0}} | changes
    return [fakes.pe_profile(0, 1, **more)]


def merged(directory: Path, *found: dict[str, Any], **changes: Any) -> list[regions.MergedRegion]:
    return regions.merge(profile.load(fakes.make_run(directory, governed(*found, **changes), n_pes=1)))


def test_joules_of_regions_that_cover_the_run_add_up_to_the_pes(tmp_path):
    first, second = merged(tmp_path / "run", region(0x1200, 1.0, 0.1), region(0x1157, 0.5, 0.4))
    assert first.joules[0].joules == pytest.approx(9 * 1.0 / 1.5 + 1 * 0.1 / 0.5)
    assert second.joules[0].joules == pytest.approx(9 * 0.5 / 1.5 + 1 * 0.4 / 0.5)
    assert first.joules[0].joules + second.joules[0].joules == pytest.approx(10)
    assert first.joules[0].uncertainty == pytest.approx(first.joules[0].joules / 4)
    assert {str(figure.provenance) for figure in (*first.joules, *second.joules)} == {"modelled"}
    assert (first.call, first.place.offset, first.instances, first.pes) == ("shmem_barrier_all", 0x1200, 50, 1)


def test_a_measured_total_makes_modelled_regions(tmp_path):
    joules = [fakes.figure("cpu", 10.0, "measured")]
    (only,) = merged(tmp_path / "run", region(0x1200, 1.5, 0.5), joules=joules)
    assert (only.joules[0].joules, str(only.joules[0].provenance)) == (pytest.approx(10), "modelled")
    assert not only.joules[1].known


def test_without_the_joules_of_waits_those_of_a_region_are_unknown(tmp_path):
    (only,) = merged(tmp_path / "run", region(0x9999, 1.5, 0.5), wait_joules={"cpu": None, "dram": None})
    assert not any(figure.known for figure in only.joules)
    assert (only.compute_s, only.call) == (1.5, "")  # no call site has its address


def test_regions_are_in_the_report_and_in_json(tmp_path):
    run = fakes.make_run(tmp_path / "run", governed(region(0x1200, 1.0, 0.1)), n_pes=1)
    (found,) = json.loads(json.dumps(summary.document(runs.load(run))))["regions"]
    assert (found["call"], found["joules"][0]["provenance"]) == ("shmem_barrier_all", "modelled")
    assert "By region" in write(run, tmp_path / "report.html").read_text()


def test_a_run_without_a_governor_has_no_regions(run_dir, tmp_path):
    assert regions.merge(profile.load(run_dir)) == []
    assert "By region" not in write(run_dir, tmp_path / "report.html").read_text()


def test_a_damaged_region_is_named(tmp_path):
    with pytest.raises(DamagedFile, match=r"regions.*compute_s"):
        merged(tmp_path / "run", region(0x1200, 1.0, 0.1) | {"compute_s": -1})


def test_small_power_has_a_small_unit():
    watts = pe_power.Watts(0.00168, 0.0014, pe_power.Provenance.MODELLED)
    assert str(watts) == "1.68 ± 1.4 mW"
