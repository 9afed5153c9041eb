"""`import wattle` reads what the commands left: the same numbers with their units and provenance, and each table only
when it is asked for."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import benches
import fakes
import made_paths
import polars as pl
import pytest
import studies
import wattle
from tree import PACKAGE
from wattle.frames.columns import TABLES

RECORDED = Path(__file__).parent / "recorded" / "halo-0.1.0"
OF_RUN = [name for name in TABLES if name not in ("comparison", "history", "energy")]


def in_python(code: str, *options: str) -> str:
    """The output of Python code in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(
        [sys.executable, *options, "-c", code], env=environment, text=True, stdout=-1, check=True
    ).stdout


def test_the_import_loads_no_package_but_its_own_and_pythons() -> None:
    code = "import sys, wattle; print([n for n in sys.modules if n.startswith('wattle.')])"
    assert in_python(code) == "[]\n"
    loaded = in_python("import sys, wattle; print(*{n.partition('.')[0] for n in sys.modules})", "-S").split()
    assert {"wattle"} == {name for name in loaded if name not in sys.stdlib_module_names and name != "__main__"}


def test_all_names_are_there_and_commands_are_packages_and_functions() -> None:
    for name in wattle.__all__:
        assert callable(getattr(wattle, name)), name
    code = (
        "import wattle.history.cli, wattle.energy.cli, wattle; print(callable(wattle.history), callable(wattle.energy))"
    )
    assert in_python(code) == "True True\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        wattle.nothing  # noqa: B018


def test_a_run_is_opened_without_reading_its_profiles(tmp_path: Path) -> None:
    directory = fakes.make_run(tmp_path / "run")
    for file in (directory / "profile").iterdir():
        file.write_text("damaged")
    run = wattle.open(directory)
    assert isinstance(run, wattle.Run)
    assert (run.exit_code, run.manifest["command"]) == (0, ["./halo", "64"])
    with pytest.raises(wattle.DamagedFile, match=r"pe-00000\.json"):
        run.processes  # noqa: B018


@pytest.mark.parametrize("table", OF_RUN)
def test_the_first_release_is_read_into_the_documented_columns(table: str) -> None:
    frame = getattr(wattle.open(RECORDED), table)
    assert frame.columns == [column.name for column in TABLES[table]]
    if "provenance" in frame.columns:
        assert set(frame["provenance"]) <= {"measured", "modelled", "unavailable"}
        figure = next(name for name in ("joules", "saved_joules", "watts") if name in frame.columns)
        unknown = frame.filter(pl.col("provenance") == "unavailable")
        assert unknown[figure].null_count() == unknown.height


@pytest.mark.parametrize("table", TABLES)
def test_a_columns_name_ends_in_its_unit(table: str) -> None:
    units = r"_(s|bytes|percent|messages)$|^(saved_)?(joules|watts)|^(before|after)|_s_(low|high)$|_percent_(low|high)$"
    numbers = [column.name for column in TABLES[table] if column.kind == "float"]
    assert [name for name in numbers if not re.search(units, name) and name != "bytes"] == []


def test_the_tables_have_the_numbers_of_the_run(tmp_path: Path) -> None:
    run = wattle.open(fakes.make_run(tmp_path / "run"))
    assert run.processes["joules"].to_list() == [12.0, 13.0]
    assert run.processes.select("joules_low", "joules_high").row(0) == (9.0, 15.0)
    assert run.processes["wait_s"].to_list() == [pytest.approx(0.5), pytest.approx(0.6)]
    assert run.sites.filter(call="shmem_double_put").select("calls", "bytes", "joules", "module").rows() == [
        (2000, 16_000_000, 6.0, "/opt/halo")
    ]
    nodes = run.by_domain.filter(part="node")
    assert dict(zip(nodes["domain"], nodes["joules"], strict=True)) == {"cpu": 40.0, "dram": 8.0}
    assert (run.joules.joules, str(run.joules.provenance), run.wall_s) == (48.0, "modelled", 2.0)
    assert run.machine.select("host", "cpu", "meter").rows() == [("node0", "a CPU", "model")]
    assert run.findings.height == len(run.advice.findings)


def test_joules_of_one_sensor_that_two_nodes_read_are_not_added_up(tmp_path: Path) -> None:
    profiles = fakes.on_nodes(2, boot_id="same")
    for pe in profiles:
        for figures in (pe["joules"], *((pe["node"]["joules"], pe["node"]["idle"]) if pe["node"] else ())):
            for figure in figures:
                figure["provenance"] = "measured"
    run = wattle.open(fakes.make_run(tmp_path / "r", profiles))
    assert set(run.processes["provenance"]) == {"unavailable"}
    assert set(run.sites["joules"]) == {None}
    assert set(run.by_domain.filter(part="node")["provenance"]) == {"measured"}


def test_the_call_tree_has_the_sums_of_the_nodes_below(tmp_path: Path) -> None:
    run = wattle.open(fakes.make_run(tmp_path / "r", [made_paths.phases(0), made_paths.phases(1)]))
    paths, sites = run.paths, run.sites
    assert (paths["parent"].drop_nulls() < paths.filter(pl.col("parent").is_not_null())["node"]).all()
    for key in ("calls", "wait_s", "joules"):
        whole = pytest.approx(sites[key].sum())
        assert paths.filter(pl.col("parent").is_null())[key].sum() == whole
        assert paths.filter(kind="call")[key].sum() == whole


def test_spans_and_partners_are_rows(tmp_path: Path) -> None:
    spans = wattle.open(RECORDED).timeline
    assert set(spans["process"]) == {0, 1}
    assert (spans["end_s"] >= spans["begin_s"]).all()
    assert {"compute", "call"} <= set(spans["kind"])
    partners = {"pe": [1], "calls": [3], "bytes": [24], "wait_s": [0.5]}
    profiles = [fakes.pe_profile(0, partners=partners), fakes.pe_profile(1)]
    assert wattle.open(fakes.make_run(tmp_path / "r", profiles)).traffic.rows() == [(1, 0, 1, 3, 24.0, 0.5)]


def test_each_repeat_has_its_rows(tmp_path: Path) -> None:
    whole = fakes.make_run(tmp_path / "run", repeats=["repeat-001", "repeat-002"])
    for name, wall_s in (("repeat-001", 1.0), ("repeat-002", 3.0)):
        fakes.make_run(whole / name, [fakes.pe_profile(0, 1, wall_s=wall_s)])
    run = wattle.open(whole)
    assert run.repeats.select("repeat", "wall_s").rows() == [(1, 1.0), (2, 3.0)]
    assert run.processes["repeat"].to_list() == [1, 2]


def test_comparison_history_and_advice_are_those_of_the_commands(tmp_path: Path) -> None:
    one, other = fakes.make_run(tmp_path / "a"), tmp_path / "b"
    fakes.make_run(other, [fakes.pe_profile(pe, wall_s=1.0) for pe in range(2)])
    compared = wattle.compare(wattle.open(one), other)
    (wall,) = compared.filter(metric="wall_s").iter_rows(named=True)
    assert (wall["before"], wall["after"], wall["saving_percent"], wall["verdict"]) == (2.0, 1.0, 50.0, "not tested")
    assert compared.filter(metric="joules_cpu")["before_provenance"].item() == "modelled"
    assert wattle.history(one, other)["wall_s"].to_list() == [2.0, 1.0]
    assert wattle.advise(one).equals(wattle.open(one).findings)


def test_studies_and_benchmarks_are_opened(tmp_path: Path) -> None:
    bench = wattle.open(benches.make(tmp_path / "bench.json"))
    assert isinstance(bench, wattle.Bench)
    assert {"label", "value", "low", "high", "bar"} <= set(bench.bars.columns)
    assert bench.limits["median_s"].to_list() == [4e-5, 1e-7]
    study = wattle.open(studies.make_study(tmp_path / "study"))
    assert isinstance(study, wattle.Study)
    assert study.samples.height > 0
    assert study.results["study"] == study.name


def test_errors_have_the_words_of_the_commands(tmp_path: Path) -> None:
    with pytest.raises(wattle.WattleError, match="does not exist; expected a directory that `wattle run`"):
        wattle.open(tmp_path / "none")
    with pytest.raises(wattle.WattleError, match="holds no manifest"):
        wattle.open(tmp_path)
    run = wattle.open(fakes.make_run(tmp_path / "r"))
    with pytest.raises(wattle.WattleError, match="left no timeline; run it with `wattle run --timeline`"):
        run.timeline  # noqa: B018
    with pytest.raises(wattle.WattleError, match="expected one of run, region"):
        wattle.compare(run, run, by="site")
    with pytest.raises(wattle.WattleError, match="does not exist"):
        wattle.history(tmp_path / "none")
    bare = wattle.open(fakes.make_run(tmp_path / "s", profile=False))
    with pytest.raises(wattle.WattleError, match="was run without a profile"):
        bare.processes  # noqa: B018


def test_without_polars_a_table_is_an_error_that_names_the_remedy(run_dir: Path) -> None:
    code = f"""
import importlib.util, wattle
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "polars" else found(name, *more)
run = wattle.open({str(run_dir)!r})
print(run.joules)
try:
    run.processes
except wattle.WattleError as error:
    print(error)
"""
    assert in_python(code).splitlines() == [
        "48.0 ± 12 J modelled",
        "the table processes needs the Python package polars, which is not installed; Wattle's extra `lab` has it: "
        "pip install '.[lab]' in Wattle's sources",
    ]


def test_a_notebook_shows_the_summary_and_no_markup_of_the_run(tmp_path: Path) -> None:
    run = wattle.open(fakes.make_run(tmp_path / "run", command=["<script>"]))
    text = run._repr_html_()
    assert "40.0 ± 10 J modelled (model sandybridge-e5-2670)" in text
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert text.count("<rect") == 2 * 6


def test_the_reader_leaves_the_programs_garbage_collector_as_it_was(run_dir: Path) -> None:
    gc.unfreeze()
    assert wattle.open(run_dir).processes.height == 2
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()


def test_a_run_without_the_command_is_opened_by_its_profiles(tmp_path: Path) -> None:
    folder = fakes.write_profiles(tmp_path / "bare", [fakes.pe_profile(0, 1)])
    assert wattle.open(folder).manifest["n_pes"] == 1
    assert wattle.open(str(folder)).processes.height == 1
    json.dumps(wattle.open(folder).manifest)
