"""kWh, CO2 and OpenMetrics of a run are its joules in other units, with their provenance."""

import json

import fakes
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as prometheus_families
from wattle.base.errors import WattleError
from wattle.figures import carbon
from wattle.record import runs
from wattle.run.metrics import metrics
from wattle.text import openmetrics
from wattle.text.provenance import Joules, Provenance, unavailable


@pytest.mark.parametrize(
    ("text", "grams"), [("380g/kWh", 380), ("0.38 kg/kWh", 380), ("380", 380), ("0g/kWh", 0), ("12.5gCO2/kWh", 12.5)]
)
def test_an_intensity_is_grams_for_each_kwh(text, grams):
    assert carbon.intensity(text) == pytest.approx(grams)


@pytest.mark.parametrize("text", ["", "-1g/kWh", "380g", "380 t/kWh", "nan", "1e9", "380g/MWh", "abc"])
def test_any_other_intensity_is_refused(text):
    with pytest.raises(WattleError, match="such as 380g/kWh"):
        carbon.intensity(text)


def test_emissions_are_modelled_even_of_measured_joules():
    found = carbon.of(Joules(3.6e6, 3.6e5, Provenance.MEASURED, "powercap"), 400)
    assert (found.kwh, found.kwh_plus_minus, found.grams, found.grams_plus_minus) == (1, pytest.approx(0.1), 400, 40)
    assert found.as_dict()["provenance"] == "modelled"
    assert str(found) == "1.00 ± 0.10 kWh; 400 ± 40 g CO2 at 400 g/kWh as given, modelled"


def test_emissions_of_unknown_joules_are_unavailable():
    found = carbon.of(unavailable("cpu"), 400)
    assert (found.grams, found.as_dict()["provenance"]) == (None, "unavailable")


def test_carbon_is_shown_kept_and_in_json(wattle, tmp_path):
    program = str(fakes.script(tmp_path / "program", "#!/bin/sh\n"))
    profiles = {"FAKE_PROFILES": str(fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0, 1)]))}
    done = wattle("run", "--carbon", "380g/kWh", "-o", "kept", program, env=profiles)
    assert "g CO2 at 380 g/kWh as given, modelled" in " ".join(done.stderr.split())
    shown = wattle("run", "--carbon", "380g/kWh", "--json", program, env=profiles)
    assert json.loads(shown.stdout)["carbon"]["intensity_g_per_kwh"] == 380
    assert json.loads((tmp_path / "work" / "kept" / "manifest.json").read_text())["carbon_g_per_kwh"] == 380


def test_metrics_are_valid_for_openmetrics_and_for_node_exporter(tmp_path):
    run = runs.load(fakes.make_run(tmp_path / "run", carbon_g_per_kwh=100.0))
    text = openmetrics.text(metrics(run))
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {"wattle_run_pes", "wattle_node_energy_joules", "wattle_pe_energy_joules", "wattle_pe_state_seconds"} <= set(
        families
    )
    assert {family.name for family in prometheus_families(text)} == set(families)
    profile = run.middle.profile
    expected = sum(
        profile.node_joules(domain).joules for domain in profile.domains if profile.node_joules(domain).known
    )
    energy = families["wattle_node_energy_joules"].samples
    assert sum(s.value for s in energy if s.labels["part"] == "all") == pytest.approx(expected)
    assert {s.labels["provenance"] for s in energy} <= {"measured", "modelled"}
    grams = sum(s.value for s in families["wattle_node_co2_grams"].samples if s.labels["part"] == "all")
    assert grams == pytest.approx(expected / 3.6e6 * 100)


def test_an_unavailable_figure_is_no_metric(tmp_path):
    nothing = {"joules": [fakes.figure("cpu", None, provenance="unavailable")]}
    run = runs.load(fakes.make_run(tmp_path / "run", [fakes.pe_profile(0, 1, **nothing)]))
    text = openmetrics.text(metrics(run))
    assert "wattle_pe_energy_joules" not in text
    assert "wattle_run_pes" in text


def test_labels_may_hold_any_text():
    line = openmetrics._labels({"source": 'a "b" \\ c\nd'})
    parsed = next(iter(prometheus_families(f"x{line} 1\n"))).samples[0]
    assert parsed.labels["source"] == 'a "b" \\ c\nd'


def test_a_folder_that_is_missing_is_said_before_the_run(wattle, tmp_path):
    program = str(fakes.script(tmp_path / "program", "#!/bin/sh\ntouch ran\n"))
    done = wattle("run", "--metrics", "no/such.prom", program)
    assert "--metrics no/such.prom: the folder does not exist" in done.stderr
    assert not list(tmp_path.rglob("ran"))
