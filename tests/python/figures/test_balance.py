"""Slack, CR, EC and the products of joules and time, worked out by hand."""

import json

import fakes
import pytest
from wattle.figures import balance
from wattle.record import profile
from wattle.text.provenance import Joules, Provenance

GOVERNED = {
    "mode": "energy",
    "scaling": "reactive",
    "knob": "record",
    "why": "",
    "domains": 2,
    "price_s": 0.0005,
    "changes": 34,
    "slack_s": 1.0,
    "slow_s": 0.9,
    "lost_s": 0.004,
    "failed": "",
    "regions": [],
}


def pe(number, active, asleep, **changes):
    state = {"active": active, "spin": 0.5, "yield": 0.0, "asleep": asleep}
    times = {"compute": active, "transfer": 0.0, "wait": 0.5 + asleep}
    return fakes.pe_profile(number, wall_s=active + asleep + 0.5, state_s=state, time_s=times, **changes)


def load(tmp_path, *pes):
    return profile.load(fakes.make_run(tmp_path / "run", list(pes)), 2)


def test_slack_compute_ratio_and_early_cores(tmp_path):
    found = balance.balance(load(tmp_path, pe(0, 1.0, 2.5), pe(1, 3.0, 0.5)))
    assert found.slack_ratio == pytest.approx((3.0 + 1.0) / 8.0)
    assert found.compute_ratio == pytest.approx(3.0)
    assert found.early_cores == pytest.approx((3.0 + 1.0) / 4.0)


def counted(instructions, branches, loads, stores, why=""):
    more = dict.fromkeys(("cycles", "cache_references", "cache_misses"))
    return {"instructions": instructions, "branches": branches, "loads": loads, "stores": stores, **more, "why": why}


def test_compute_intensity_is_arithmetic_for_each_access_to_memory(tmp_path):
    stream = pe(0, 1.0, 2.5, operations=counted(700, 100, 300, 100))  # 200 of arithmetic
    dense = pe(1, 3.0, 0.5, operations=counted(1200, 100, 60, 40))  # 1000
    found = balance.intensity(load(tmp_path, stream, dense))
    assert found.value == pytest.approx(1200 / 500)
    assert found.as_dict()["source"] == "counters of the processor"


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        (None, "not counted (WATTLE_COUNTERS=on counts it)"),
        (
            counted(None, None, None, None, "counting loads is not permitted here"),
            "counting loads is not permitted here",
        ),
        (counted(10, 1, 0, 0), "no load and no store was counted"),
    ],
)
def test_where_nothing_is_counted_compute_intensity_says_why(tmp_path, operations, why):
    more = {} if operations is None else {"operations": operations}
    found = balance.intensity(load(tmp_path, pe(0, 1.0, 2.5, **more), pe(1, 3.0, 0.5, **more)))
    assert (found.value, found.why) == (None, why)
    assert why in found.words


def figure(joules, uncertainty, provenance="modelled"):
    source = "model x at recorded clocks"
    known = {"domain": "cpu", "provenance": provenance, "source": source, "scope": "process"}
    return known | {"joules": joules, "uncertainty": uncertainty, "interval_s": 4.0, "covered_s": 4.0}


def recorded(joules, saved, why=""):
    return {"joules": [figure(*joules)], "saved": [figure(*saved)], "why": why}


def dry_pe(number, found, changes=34):
    return pe(number, 1.0, 2.5, recorded=found, clocks=GOVERNED | {"changes": changes})


def test_a_dry_run_without_a_change_reports_nothing(tmp_path):
    found = recorded((4.0, 1.0), (0.0, 0.0))
    assert balance.dry_run(load(tmp_path, dry_pe(0, found, 0), dry_pe(1, found, 0))) is None


def test_a_dry_run_states_what_the_recorded_clocks_would_have_saved(tmp_path):
    first, second = recorded((4.0, 1.0), (1.5, 0.25)), recorded((2.0, 0.5), (-0.5, 0.25))
    found = balance.dry_run(load(tmp_path, dry_pe(0, first), dry_pe(1, second)))
    assert found.words == (
        "At the recorded clocks the cpu joules would have been 6.00 ± 1.5 J instead of 7.00 J, 1.00 ± 0.50 J "
        "saved: modelled (model x at recorded clocks), nothing was changed."
    )
    assert found.as_dict()["saved"]["joules"] == pytest.approx(1.0)


def test_a_dry_run_on_a_profile_of_one_clock_says_that_it_does_not_know(tmp_path):
    nothing = recorded(
        (None, None, "unavailable"), (None, None, "unavailable"), "the machine profile knows one clock only"
    )
    found = balance.dry_run(load(tmp_path, dry_pe(0, nothing), dry_pe(1, nothing)))
    assert found.words == (
        "The saving at the recorded clocks is not known: the machine profile knows one clock only; name "
        "another with --machine."
    )
    assert balance.dry_run(load(tmp_path / "other", pe(0, 1.0, 2.5), pe(1, 3.0, 0.5))) is None


def test_threads_of_a_pe_that_wait_at_once_leave_it_unknown_too(tmp_path):
    waits = pe(1, 0.0, 7.0) | {"wall_s": 2.0}
    assert balance.balance(load(tmp_path, pe(0, 1.0, 2.5), waits)) is None


def test_a_missing_pe_leaves_the_balance_unknown(tmp_path):
    directory = fakes.make_run(tmp_path / "run", [pe(0, 1.0, 2.5)])
    assert balance.balance(profile.load(directory, 2)) is None


def test_products_and_what_they_inherit():
    edp, ed2p, e2dp = balance.products(Joules(10.0, 1.0, Provenance.MODELLED), 2.0)
    assert (edp.value, edp.uncertainty, edp.unit) == (20.0, 2.0, "Js")
    assert (ed2p.value, ed2p.uncertainty) == (40.0, 4.0)
    assert (e2dp.value, e2dp.uncertainty) == (200.0, 42.0)  # 11^2 x 2 is 242
    unknown = balance.products(Joules(None, None, Provenance.UNAVAILABLE), 2.0)
    assert all(p.value is None for p in unknown)


def test_a_run_shows_them(wattle, tmp_path):
    ready = fakes.write_profiles(
        tmp_path / "ready", [pe(0, 1.0, 2.5, clocks=GOVERNED), pe(1, 3.0, 0.5, clocks=GOVERNED)]
    )
    result = wattle("run", "-n", 2, "--", "true", env={"FAKE_PROFILES": str(ready)})
    shown = " ".join(result.stderr.split())
    assert "50.0 % of the PEs' time is slack; compute ratio (CR) 3.00 by time; 1.00 PEs wait on average (EC)." in shown
    assert "Energy x delay (EDP) of the nodes: 192 ± 48 Js, modelled" in shown
    assert "Governor: energy, reactive, knob record: 68 changes of clock would have been made, at most 0.10 %" in shown


def test_json_has_them_with_provenance(wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", [pe(0, 1.0, 2.5), pe(1, 3.0, 0.5, clocks=GOVERNED)])
    found = json.loads(wattle("run", "-n", 2, "--json", "--", "true", env={"FAKE_PROFILES": str(ready)}).stdout)
    assert found["balance"]["compute_ratio"] == pytest.approx(3.0)
    assert found["products"]["e2dp"]["value"] == pytest.approx(48.0**2 * 4.0)
    assert found["products"]["edp"]["provenance"] == "modelled"
    assert found["compute_intensity"] == {
        "value": None,
        "source": "",
        "why": "not counted (WATTLE_COUNTERS=on counts it)",
    }
    assert found["recorded"] is None
    assert found["pes"][0]["clocks"] is None
    assert found["pes"][1]["clocks"]["changes"] == 34


def test_without_a_knob_the_reason_is_printed():
    from wattle.record.pe import Clocks

    class Hinted:
        clocks = Clocks("energy", "reactive", "cpufreq", "", changes=12, lost_s=0.0, sets="hints")
        wall_s = 1.0

    assert "12 changes of clock were made as hints (which clocks came of them is not known" in (
        balance.governor_words([Hinted()])
    )

    class Ungoverned:
        clocks = Clocks("energy", "reactive", "none", "no clocks here")
        wall_s = 1.0

    assert balance.governor_words([Ungoverned()]) == (
        "Governor: energy, reactive, knob none; nothing was governed: no clocks here."
    )
