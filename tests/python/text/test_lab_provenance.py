"""A figure is never without its provenance, and a gap never becomes a number."""

import math
import random

import pytest
from wattle.base.checked import Checked
from wattle.base.errors import DamagedFile
from wattle.record.power_trace import PowerTrace
from wattle.text.provenance import Joules, Provenance, amount, joule_unit, read_joules, significant, total, unavailable


def joules(value, uncertainty=None, provenance=Provenance.MODELLED, source="model a"):
    return Joules(value, uncertainty, provenance, source, "process", "cpu")


@pytest.mark.parametrize(
    ("value", "uncertainty", "text"),
    [
        (12.3, 4.0, "12.3 ± 4 J modelled"),
        (0.0123, 0.004, "12.3 ± 4 mJ modelled"),
        (12345.0, 123.0, "12.3 ± 0.12 kJ modelled"),
        (1.0, 0.15, "1.00 ± 0.15 J modelled"),
        (0.0, 0.0, "0 ± 0 J modelled"),
        (99.96, 5.0, "100 ± 5 J modelled"),
        (5.0, None, "5.00 ± ? J modelled"),
        (343e-6, 413e-6, "343 (0–756) µJ modelled"),
        (1.07, 1.3, "1.07 (0–2.37) J modelled"),
        (1.3, 1.3, "1.30 ± 1.3 J modelled"),
        (-1.0, 2.0, "-1.00 ± 2 J modelled"),
    ],
)
def test_a_figure_reads_value_uncertainty_unit_provenance(value, uncertainty, text):
    assert str(joules(value, uncertainty)) == text


def test_what_is_unavailable_has_no_number():
    assert str(unavailable("cpu")) == "unavailable"
    assert unavailable("cpu").as_dict()["joules"] is None


@pytest.mark.parametrize(("value", "provenance"), [(None, Provenance.MEASURED), (0.0, Provenance.UNAVAILABLE)])
def test_a_number_without_provenance_or_the_other_way_round_cannot_be_made(value, provenance):
    with pytest.raises(ValueError, match="cannot be"):
        Joules(value, None, provenance)


def test_a_gap_poisons_a_sum():
    assert not total([joules(1.0, 0.1), unavailable("cpu"), joules(2.0, 0.1)]).known


def test_a_sum_of_nothing_is_a_gap():
    assert not total([]).known


def test_measured_and_modelled_together_are_modelled():
    measured = joules(1.0, 0.1, Provenance.MEASURED, "powercap")
    assert total([measured, measured]).provenance is Provenance.MEASURED
    mixed = total([measured, joules(2.0, 0.5)])
    assert mixed.provenance is Provenance.MODELLED
    assert mixed.source == "powercap + model a"
    assert mixed.joules == 3.0
    assert mixed.uncertainty == pytest.approx(0.6)


def test_an_unknown_uncertainty_makes_the_sums_unknown():
    assert total([joules(1.0, 0.1), joules(2.0)]).uncertainty is None


def test_a_share_is_modelled_and_as_uncertain_in_proportion():
    part = joules(10.0, 2.0, Provenance.MEASURED).share(3.0)
    assert (part.joules, part.provenance) == (3.0, Provenance.MODELLED)
    assert part.uncertainty == pytest.approx(0.6)
    assert not unavailable("cpu").share(3.0).known


def test_the_shares_of_a_whole_add_up_to_it_whatever_they_are():
    random.seed(7)
    for _ in range(100):
        parts = [random.uniform(0, 1e6) for _ in range(random.randint(1, 50))]
        whole = joules(math.fsum(parts), math.fsum(parts) * 0.2)
        again = total([whole.share(p) for p in parts])
        assert again.joules == pytest.approx(whole.joules)
        assert again.uncertainty == pytest.approx(whole.uncertainty)


def test_significant_digits_are_kept_over_all_sizes():
    for exponent in range(-12, 12):
        value = 1.2345 * 10.0**exponent
        assert float(significant(value, 3)) == pytest.approx(value, rel=5e-3)
        factor, _ = joule_unit(value)
        assert "e" not in amount(value, value / 7, factor)


def entry(**changes):
    figure = {
        "domain": "cpu",
        "provenance": "measured",
        "source": "powercap",
        "scope": "package",
        "joules": 1.0,
        "uncertainty": 0.1,
        "interval_s": 1.0,
        "covered_s": 1.0,
    }
    return Checked("f.json", figure | changes)


def test_an_unavailable_figure_of_a_file_has_no_number_even_if_one_stands_there():
    assert read_joules(entry(provenance="unavailable", joules=0.0)).joules is None


@pytest.mark.parametrize("changes", [{"provenance": "guessed"}, {"joules": None}, {"joules": "1"}, {"uncertainty": -1}])
def test_a_figure_that_makes_no_sense_is_refused(changes):
    with pytest.raises(DamagedFile, match=r"^f\.json: "):
        read_joules(entry(**changes))


def test_mean_power_is_that_of_the_time_that_the_source_covers():
    figure = Joules(6.0, 1.0, Provenance.MEASURED, "a", "node", "cpu", 4.0, 2.0)
    assert figure.mean_watts == "3.00 ± 0.5 W"
    assert Joules(6.0, 1.0, Provenance.MEASURED).mean_watts == unavailable().mean_watts == ""


def test_a_meters_readings_have_a_mean_and_a_peak():
    assert PowerTrace("package-0", "powercap", [0.0, 1.0], [100.0, 50.0]).mean_and_peak == (
        "package-0: 75.0 W on average, at most 100 W"
    )
    assert PowerTrace("package-0", "powercap", [], []).mean_and_peak == ""
