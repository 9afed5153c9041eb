"""`wattle compare` puts two of a kind side by side, and calls a difference real only beyond noise and uncertainty."""

import json

import fakes
import polars as pl
import pytest
import sweeps
from wattle.base.errors import DamagedFile, WattleError
from wattle.cli import main
from wattle.compare import of_runs, of_studies
from wattle.compare.verdict import Verdict, difference, saving, spread_says
from wattle.figures.metrics import spread_of
from wattle.record import manifest
from wattle.study.place import Place
from wattle.text.provenance import Joules, Provenance, unavailable


def joules(value, uncertainty):
    return Joules(value, uncertainty, Provenance.MODELLED, "model a", "process", "cpu")


@pytest.mark.parametrize(
    ("before", "after", "percent"), [(10.0, 9.0, 10.0), (10.0, 12.0, -20.0), (0.0, 1.0, None), (None, 1.0, None)]
)
def test_a_saving_is_positive(before, after, percent):
    assert saving(before, after) == percent


def test_few_repeats_leave_it_open():
    found = difference(spread_of([1.0, 1.0, 1.0]), spread_of([9.0, 9.1, 9.2]))
    assert found.verdict is Verdict.UNTESTED
    assert found.why == "3 of 4 repeats"


def test_separate_repeats_are_beyond_noise_and_mixed_ones_are_not():
    assert spread_says([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]).verdict is Verdict.BEYOND
    assert spread_says([1.0, 1.1, 1.2, 1.3], [1.05, 1.15, 1.25, 1.35]).verdict is Verdict.WITHIN
    assert spread_says([1.0] * 5, [1.0] * 5).verdict is Verdict.WITHIN


def test_joules_must_differ_by_more_than_both_uncertainties():
    one, other = [joules(10.0 + i / 100, 2.0) for i in range(5)], [joules(13.0 + i / 100, 2.0) for i in range(5)]
    assert difference(spread_of(one), spread_of(other)).verdict is Verdict.WITHIN
    far = [joules(20.0 + i / 100, 2.0) for i in range(5)]
    assert difference(spread_of(one), spread_of(far)).verdict is Verdict.BEYOND


def test_a_gap_makes_the_difference_unknown():
    found = difference(spread_of([joules(1.0, 0.1), unavailable("cpu")]), spread_of([joules(2.0, 0.1)] * 2))
    assert found.verdict is Verdict.UNKNOWN
    assert found.saving_percent is None


NUMBERS = [
    {"key": "idle.cpu", "value": 9.5, "plus_minus": 9.0},
    {"key": "clocks[0].active", "value": 6.0, "plus_minus": 1.0},
    {"key": "clocks[0].spin", "value": 5.0, "plus_minus": 1.0},
    {"key": "clocks[0].yield", "value": 5.0, "plus_minus": 1.0},
    {"key": "clocks[0].asleep", "value": 0.1, "plus_minus": 0.1},
]


def waiting_run(directory, spin, asleep, numbers=None):
    """Two PEs that compute for 10 s and wait for 10 s, with joules as NUMBERS give them."""
    state = {"active": 10.0, "spin": spin, "yield": 0.0, "asleep": asleep}
    joules = 6.0 * 10 + 5.0 * spin + 0.1 * asleep
    uncertainty = 1.0 * 10 + 1.0 * spin + 0.1 * asleep
    profiles = [
        fakes.pe_profile(
            pe,
            wall_s=20.0,
            cpu_s=10.0 + spin,
            state_s=state,
            joules=[fakes.figure("cpu", joules, uncertainty=uncertainty)],
            node=None,
            sites=[],
        )
        for pe in range(2)
    ]
    return fakes.make_run(directory, profiles, machine_numbers=NUMBERS if numbers is None else numbers)


def row(comparison, name):
    return next(r for r in comparison.rows if r.metric.name == name)


def test_an_error_of_the_profile_in_both_runs_does_not_hide_their_difference(tmp_path):
    spin, sleep = waiting_run(tmp_path / "a", 10.0, 0.0), waiting_run(tmp_path / "b", 9.0, 1.0)
    found = row(of_runs.compare(spin, sleep), "joules_cpu").difference
    assert found.saving_percent == pytest.approx(4.9 / 110 * 100)
    assert found.why == "beyond the ±, 1 of 4 repeats"


def test_without_the_same_profile_both_uncertainties_count_in_full(tmp_path):
    spin = waiting_run(tmp_path / "a", 10.0, 0.0)
    other = [number | {"value": number["value"] * 2} for number in NUMBERS]
    for numbers in ([], other):
        sleep = waiting_run(tmp_path / f"b{len(numbers)}", 9.0, 1.0, numbers)
        assert row(of_runs.compare(spin, sleep), "joules_cpu").difference.why == "within the ±"


def test_awake_sockets_and_second_threads_belong_to_the_model(tmp_path):
    numbers = [
        *NUMBERS,
        {"key": "wake", "value": 20.0, "plus_minus": 10.0},
        {"key": "second", "value": 1.0, "plus_minus": 1.0},
    ]
    runs = []
    for name, spin in (("a", 10.0), ("b", 9.0)):
        runs.append(waiting_run(tmp_path / name, spin, 10.0 - spin, numbers))
        for file in runs[-1].glob("**/pe-*.json"):
            document = json.loads(file.read_text())
            busy, second = 10.0 + spin, 4.0
            part = 1 - second / busy
            joules = 20.0 * 5 + 1.0 * second + part * (6.0 * 10 + 5.0 * spin) + 0.1 * (10 - spin)
            document |= {"wake_s": 5.0, "second_s": second, "joules": [fakes.figure("cpu", joules, uncertainty=90.0)]}
            file.write_text(json.dumps(document))
    found = row(of_runs.compare(*runs), "joules_cpu").difference
    assert found.why == "beyond the ±, 1 of 4 repeats"


def test_runs_of_different_programs_pes_or_meters_are_compared_with_a_warning(tmp_path):
    one = fakes.make_run(tmp_path / "a")
    profiles = [fakes.pe_profile(pe, 3) for pe in range(3)]
    for profile in profiles:
        profile["joules"] = [figure | {"source": "powercap"} for figure in profile["joules"]]
    other = fakes.make_run(tmp_path / "b", profiles, command=["./other"], exit_code=1)
    warnings = "\n".join(of_runs.compare(one, other).warnings)
    for words in ("different programs", "2 and 3", "different meters", "exit code 1"):
        assert words in warnings


def test_settings_that_differ_are_shown(tmp_path, capsys):
    one = fakes.make_run(tmp_path / "a", settings={"WATTLE_WAIT": "spin", "WATTLE_CHECK": "on"})
    other = fakes.make_run(tmp_path / "b", settings={"WATTLE_WAIT": "sleep", "WATTLE_CHECK": "on"})
    with pytest.raises(SystemExit, match="0"):
        main(["compare", str(one), str(other)])
    said = capsys.readouterr().out
    assert "WATTLE_WAIT: spin before, sleep after" in said
    assert "WATTLE_CHECK" not in said
    assert "modelled" in said


def test_json_has_every_figure_with_provenance(tmp_path, capsys):
    one, other = fakes.make_run(tmp_path / "a"), fakes.make_run(tmp_path / "b")
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "--json", str(one), str(other)])
    document = json.loads(capsys.readouterr().out)
    rows = {r["metric"]: r for r in document["rows"]}
    assert rows["wall_s"]["saving_percent"] == 0.0
    assert rows["joules_cpu"]["before"]["provenance"] == "modelled"
    assert rows["node_joules_dram"]["before"]["median"] == 8.0


def test_a_run_and_a_study_are_not_compared(tmp_path, capsys):
    run, study = fakes.make_run(tmp_path / "a"), fakes.make_run(tmp_path / "b", kind="study")
    with pytest.raises(SystemExit, match="2"):
        main(["compare", str(run), str(study)])
    assert "a run cannot be compared with a study" in capsys.readouterr().err


def test_an_incomplete_run_gives_no_sums(tmp_path):
    whole = fakes.make_run(tmp_path / "a")
    part = fakes.make_run(tmp_path / "b", [fakes.pe_profile(0)])
    found = of_runs.compare(whole, part)
    assert row(found, "cpu_s").after.median is None
    assert row(found, "joules_cpu").after.median is None
    assert any("1 of 2 PEs left no profile" in w for w in found.warnings)


def make_study(directory, factor=1.0, fragments=(1, 2, 4), **extra):
    """A made-up pattern study: five repeats at each point."""
    directory.mkdir()
    rows = [
        {
            "series": "patterns",
            "pattern": pattern,
            "payload": 524288,
            "fragments": f,
            "repeat": repeat,
            "latency_s": factor * f * 1e-6 * (1 + repeat / 1000),
            "cpu_J": factor * f * 1e-3,
            "cpu_uncertainty_J": f * 1e-5,
            "cpu_provenance": "modelled",
            "cpu_source": "model a",
            "dram_J": None,
            "dram_uncertainty_J": None,
            "dram_provenance": "unavailable",
            "dram_source": "",
        }
        for pattern in ("PQPQ", "PPQ")
        for f in fragments
        for repeat in range(5)
    ]
    pl.DataFrame(rows, schema_overrides={"dram_J": pl.Float64, "dram_uncertainty_J": pl.Float64}).write_parquet(
        directory / "samples.parquet"
    )
    written = manifest.start("study", ["patterns"], 2, extra={"study": {"name": "patterns"}} | extra)
    manifest.write(directory, written)
    return directory


def test_studies_are_compared_point_by_point(tmp_path):
    found = of_studies.compare(make_study(tmp_path / "a"), make_study(tmp_path / "b", 0.5, fragments=(2, 4, 8)))
    assert {c.at["fragments"] for c in found.cells} == {2, 4}
    for cell in found.of("PPQ", "latency_s") + found.of("PPQ", "cpu_J"):
        assert cell.difference.saving_percent == pytest.approx(50.0)
        assert cell.difference.verdict is Verdict.BEYOND
    assert all(c.difference.verdict is Verdict.UNKNOWN for c in found.of("PPQ", "dram_J"))


def test_studies_at_different_places_are_compared_with_a_warning(tmp_path):
    def at(name, place):
        return make_study(tmp_path / name, study={"name": "patterns", "on": place.name, "place": place.as_dict()})

    def warnings(one, other):
        return [words for words in of_studies.compare(one, other).warnings if "places" in words]

    local, across = at("a", Place()), at("b", Place("two-nodes"))
    shaped = at("c", Place("two-nodes", "1gbit"))
    assert warnings(local, at("d", Place())) == []
    (words,) = warnings(local, across)
    assert "different places: local (all PEs on this node) and two-nodes (two nodes made of" in words
    (words,) = warnings(across, shaped)
    assert "and two-nodes, link 1gbit (" in words
    assert warnings(make_study(tmp_path / "e"), local) == []  # written before there were places


def test_runs_on_different_numbers_of_nodes_are_compared_with_a_warning(tmp_path):
    one = fakes.make_run(tmp_path / "a", [fakes.pe_profile(pe, 4) for pe in range(4)])
    two = fakes.make_run(tmp_path / "b", fakes.on_nodes(2))
    assert "different numbers of nodes: 1 and 2" in of_runs.compare(one, two).warnings


def test_a_study_comparison_reads_well(tmp_path, capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["compare", str(make_study(tmp_path / "a")), str(make_study(tmp_path / "b", 0.5))])
    said = capsys.readouterr().out
    assert "+50.0 % (3/3)" in said
    assert max(len(line) for line in said.splitlines() if "before" not in line and "after" not in line) <= 80


def test_a_study_comparison_counts_each_verdict_and_names_the_figures_that_changed(tmp_path, capsys):
    one, other = make_study(tmp_path / "a"), make_study(tmp_path / "b", 0.5)
    for directory, verdicts in ((one, ("same", "fit")), (other, ("worse", "fit"))):
        rows = [{"id": f"row-{k}", "verdict": verdict} for k, verdict in enumerate(verdicts)]
        (directory / "results.json").write_text(json.dumps({"published": rows}))
    facts = of_studies.compare(one, other).as_dict()["published"]
    assert (facts["before"]["same"], facts["before"]["fit"], facts["after"]["worse"]) == (1, 1, 1)
    assert facts["changed"] == [{"id": "row-0", "before": "same", "after": "worse"}]
    with pytest.raises(SystemExit, match="0"):
        main(["compare", str(one), str(other)])
    shown = capsys.readouterr().out
    assert "before: 1 same, 1 fit" in shown and "row-0: same before, worse after" in shown


def test_studies_of_waiting_and_clocks_are_compared_with_their_verdicts(tmp_path):
    directories = [sweeps.make_study(tmp_path / name, "slack", sweeps.as_published) for name in "ab"]
    found = of_studies.compare(*directories)
    assert {cell.figure for cell in found.cells} == {"seconds", "cpu_s", "cpu_J", "dram_J"}
    assert len(found.verdicts.before) == len(sweeps.SWEEPS["slack"].rows)
    assert found.verdicts.changed == []


def test_studies_without_a_common_point_or_of_other_names_are_refused(tmp_path):
    one = make_study(tmp_path / "a")
    with pytest.raises(WattleError, match="no point of the sweep in common"):
        of_studies.compare(one, make_study(tmp_path / "b", fragments=(64,)))
    with pytest.raises(WattleError, match="study 'network' cannot be compared"):
        of_studies.compare(one, make_study(tmp_path / "c", study={"name": "network"}))


@pytest.mark.parametrize("damage", ["gone", "text", "columns"])
def test_damaged_samples_are_named(tmp_path, damage):
    one, other = make_study(tmp_path / "a"), make_study(tmp_path / "b")
    path = other / "samples.parquet"
    if damage == "gone":
        path.unlink()
    elif damage == "text":
        path.write_text("not parquet")
    else:
        pl.read_parquet(path).drop("latency_s").write_parquet(path)
    with pytest.raises(DamagedFile, match=r"samples\.parquet: "):
        of_studies.compare(one, other)
