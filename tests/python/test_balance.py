"""Slack, CR, EC and the products of joules and time, worked out by hand."""

import json

import fakes
import pytest
from wattle import balance, profile
from wattle.provenance import Joules, Provenance

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
    assert found.as_dict()["compute_intensity"] is None


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
    assert found["pes"][0]["clocks"] is None
    assert found["pes"][1]["clocks"]["changes"] == 34


def test_who_has_no_knob_is_told_why():
    from wattle.pe import Clocks

    class Ungoverned:
        clocks = Clocks("energy", "reactive", "none", "no clocks here")
        wall_s = 1.0

    assert balance.governor_words([Ungoverned()]) == (
        "Governor: energy, reactive, knob none; nothing was governed: no clocks here."
    )
