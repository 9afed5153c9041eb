"""`wattle study tsp` and `mst`, with programs that only print given figures."""

from __future__ import annotations

import json
from pathlib import Path

import bare_rows
import mini_apps
import polars as pl
import pytest
from fakes import Wattle
from wattle.base.errors import DamagedFile, WattleError
from wattle.machine import nodes, paths
from wattle.study import launch
from wattle.study.mst import study as mst
from wattle.study.place import Place, Start
from wattle.study.published import Verdict
from wattle.study.site import Site, opened
from wattle.study.tsp import study as tsp
from wattle.study.versions.analysis import SCHEMA
from wattle.study.versions.course import parse_pes
from wattle.study.where import MPI_SAYS

OURS = ("bucket", "am", "steal")


@pytest.fixture
def says(home: Path, environment: dict[str, str], tmp_path: Path) -> Path:
    """Stand-ins for the programs, without MPI's; the file they write into what they were asked for."""
    mini_apps.programs(home, "tsp", *OURS)
    mini_apps.programs(home, "mst", "bucket", "am")
    environment["FAKE_SAYS"] = str(tmp_path / "says")
    return tmp_path / "says"


def verdicts(rows, analysis) -> dict[str, Verdict]:
    return {row.id: row.verdict for row in bare_rows.judge(rows, analysis)}


def test_a_study_leaves_samples_results_and_a_manifest(says, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "tsp", "--quick", "-o", out)
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(out / "samples.parquet")
    assert dict(frame.schema) == SCHEMA
    counts = dict(frame.group_by("series").len().iter_rows())
    # 2 rounds, 3 numbers of PEs, 3 versions, 3 inputs, 10 solutions and a first; and one held job of each version
    assert counts == {"runs": 2 * 3 * 3 * 3 * 10, "first": 2 * 3 * 3 * 3, "held": 3}
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["kind"], manifest["n_pes"], manifest["study"]["name"]) == ("study", 8, "tsp")
    results = json.loads((out / "results.json").read_text())
    assert results["verified"] is True
    assert {h["version"] for h in results["held"]} == set(OURS)


def test_both_studies_have_the_repeats_of_the_papers(says):
    assert tsp.STUDY.full.rounds * tsp.STUDY.full.each == 20
    assert tsp.STUDY.quick.rounds * tsp.STUDY.quick.each == 20
    assert mst.STUDY.full.rounds * mst.STUDY.full.each == 20
    assert tsp.STUDY.full.pes == (2, 4, 8, 16, 32)


def test_a_version_that_is_not_built_is_left_out_and_reported(says, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "mst", "--quick", "--pes", "2", "--rounds", 1, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "version mpi is left out" in done.stderr
    assert "libopenmpi-dev" in done.stderr
    assert set(pl.read_parquet(out / "samples.parquet")["version"]) == {"bucket", "am"}
    assert "mpi" in json.loads((out / "results.json").read_text())["left_out"]
    assert "version mpi is left out" in " ".join(done.stdout.split()).replace("Version", "version")


def test_nothing_built_is_an_error_that_names_the_remedy(home, wattle: Wattle, tmp_path):
    done = wattle("study", "tsp", "--quick", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "make build" in done.stderr
    assert not (tmp_path / "out").exists()


def test_versions_take_turns_and_another_begins_each_round(says, wattle: Wattle, tmp_path):
    wattle("study", "tsp", "--quick", "--pes", "2", "-o", tmp_path / "out")
    asked = [line.split() for line in says.read_text().splitlines()]
    assert [words[0] for words in asked if words[2] == "runs"] == ["bucket", "am", "steal", "am", "steal", "bucket"]


def test_json_is_one_document(says, wattle: Wattle, tmp_path):
    done = wattle("study", "tsp", "--quick", "--pes", "2,4", "--rounds", 1, "-o", tmp_path / "out", "--json")
    document = json.loads(done.stdout)
    assert {"published", "bars", "points", "held", "manifest", "directory"} <= set(document)
    assert all(row["verdict"] in set(Verdict) for row in document["published"] + document["bars"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pes", "1"], ["--pes 1", "2 to 512"]),
        (["--pes", "2,x"], ["--pes 2,x", "2,4,8"]),
        (["--rounds", "0"], ["--rounds 0", "1 to 1000"]),
        (["--on", "moon"], ["moon", "not a place"]),
        (["--link", "1gbit"], ["--link 1gbit", "--on two-nodes"]),
    ],
)
def test_a_wrong_argument_is_named_with_the_allowed_values(says, wattle: Wattle, tmp_path, arguments, words):
    done = wattle("study", "tsp", *arguments, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, word
    assert not (tmp_path / "out").exists()


def test_numbers_of_pes_are_sorted_and_each_is_there_once():
    assert parse_pes("8, 2,8", Place()) == (2, 8)


def test_two_nodes_have_as_many_pes_each():
    with pytest.raises(WattleError, match="--pes 2,3: two nodes have the same number of PEs each"):
        parse_pes("2,3", Place("two-nodes"))


def test_both_mpis_are_started_on_two_nodes(monkeypatch, tmp_path):
    starts = [Start(lambda launcher, n, name=name: [name, launcher]) for name in ("ours", "mpi", "mpich")]
    site = Site(*starts, None, "", True)
    monkeypatch.setattr(launch.shutil, "which", lambda name: name)
    for library, words in (("libmpich.so.12", ["mpich", "mpirun.mpich"]), ("libmpi.so.40", ["mpi", "mpirun.openmpi"])):
        monkeypatch.setattr(launch.elf, "libraries", lambda path, library=library: {library: None})
        found = launch.of_program(paths.Home(tmp_path, "a test"), tmp_path / "tsp-mpi").start(site, {"A": "1"})("", 2)
        passed = ["-x", "A"] if words[0] == "mpi" else []
        end = [*words, *passed, *MPI_SAYS]
        assert found[-len(end) :] == end
        assert "A=1" in found


@pytest.mark.skipif(nodes.unavailable() is not None, reason=str(nodes.unavailable()))
def test_a_study_on_two_nodes_says_so(says, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "tsp", "--quick", "--on", "two-nodes", "--pes", "2", "--rounds", "1", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "Two nodes made of network namespaces" in done.stdout
    results = json.loads((out / "results.json").read_text())
    assert results["place"]["name"] == "two-nodes"
    assert {p["version"] for p in results["points"]} == set(OURS)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("fails", ["exit code 1", "no memory for anything"]),
        ("babbles", ["not a JSON object", "hello"]),
        ("forgets", ["gave", "where"]),
        ("odd", ["seconds", "expected a number"]),
    ],
)
def test_a_program_that_misbehaves_ends_the_study_with_its_own_words(says, wattle: Wattle, tmp_path, mode, words):
    done = wattle("study", "tsp", "--quick", "-o", tmp_path / "out", env={"FAKE_APP": mode})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, word
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 2


def test_a_wrong_answer_is_reported_first(says, wattle: Wattle, tmp_path):
    command = ("study", "mst", "--quick", "--pes", "2", "-o", tmp_path / "out")
    done = wattle(*command, env={"FAKE_APP": "wrong"})
    assert done.stdout.split("\n")[1].startswith("The answer was wrong in ")
    assert json.loads((tmp_path / "out" / "results.json").read_text())["verified"] is False


@pytest.mark.soak  # by the engine of all studies: test_study_patterns.py
def test_samples_are_kept_without_a_reader(says, unheard, tmp_path):
    unheard("study", "tsp", "--quick", "--pes", "2", "-o", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 0
    assert pl.read_parquet(tmp_path / "out" / "samples.parquet").height > 0


@pytest.mark.soak  # by the engine of all studies: test_study_patterns.py
def test_an_interrupted_study_says_how_far_it_came(says, interrupted, wattle: Wattle, tmp_path):
    done = interrupted("tsp", tmp_path / "out", FAKE_APP="stops")
    assert done.returncode == 130
    assert "interrupted after 0 of" in done.stderr
    assert "was interrupted" in wattle("report", tmp_path / "out").stderr


def test_mpi_yields_while_it_waits_and_is_not_bound(monkeypatch, tmp_path):
    monkeypatch.setattr(launch.elf, "libraries", lambda path: {"libmpi.so.40": "/usr/lib/libmpi.so.40"})
    monkeypatch.setattr(launch.shutil, "which", lambda name: f"/usr/bin/{name}")
    with opened(Place()) as site:
        command = launch.of_program(paths.Home(tmp_path, "a test"), tmp_path / "tsp-mpi").start(site, {})("", 8)
    assert command[0] == "env"
    assert "OMPI_MCA_mpi_yield_when_idle=1" in command
    assert command[-5 - len(MPI_SAYS) :] == ["/usr/bin/mpirun.openmpi", "--bind-to", "none", "-n", "8", *MPI_SAYS]


def test_an_mpi_without_its_launcher_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(launch.elf, "libraries", lambda path: {"libmpich.so.12": "/usr/lib/libmpich.so.12"})
    monkeypatch.setattr(launch.shutil, "which", lambda name: None)
    with pytest.raises(WattleError, match="mpich, whose mpirun is not on PATH"):
        launch.of_program(paths.Home(tmp_path, "a test"), tmp_path / "tsp-mpi")


# ---- what the samples say ----


def test_bars_hold_and_fail_as_the_samples_do():
    good = verdicts(tsp.STUDY.bars, mini_apps.analysis(seconds=mini_apps.as_promised))
    assert set(good.values()) == {Verdict.SAME}
    bad = verdicts(tsp.STUDY.bars, mini_apps.analysis(seconds=mini_apps.backwards, held_share=0.5))
    assert set(bad.values()) == {Verdict.WORSE}


def test_one_number_of_pes_that_misses_a_bar_is_enough_and_is_named():
    def seconds(version: str, given: str, pes: int) -> float:
        return 0.02 if version == "am" and pes == 4 else mini_apps.as_promised(version, given, pes)

    rows = bare_rows.judge(tsp.STUDY.bars, mini_apps.analysis(seconds=seconds))
    row = next(row for row in rows if row.id == "bar-mpi-14")
    assert row.verdict is Verdict.WORSE
    assert row.why == "Missed at 4 PEs."


def test_a_bar_for_more_pes_than_were_run_is_no_bar_held():
    made = mini_apps.analysis(seconds=mini_apps.as_promised)
    made.pes = [n for n in made.pes if n < 32]
    rows = {row.id: row for row in bare_rows.judge(tsp.STUDY.bars, made)}
    for name in ("bar-mpi-14", "bar-bucket-15"):
        assert rows[name].verdict is Verdict.NOT_TESTABLE
        assert "at 8 PEs" in rows[name].ours and rows[name].why == "Not run with 32 PEs."


def test_a_ratio_is_that_of_the_medians():
    found = mini_apps.analysis().ratio("seconds", "am", "mpi", "14 cities", 8)
    assert found.median == pytest.approx(1 / 1.2)
    assert found.n == 8


def test_first_solutions_count_nowhere():
    analysis = mini_apps.analysis()
    assert max(analysis.values("seconds", "am", "4 cities", 2)) < 1
    assert analysis.repeats == 8


def test_waits_are_shares_and_unknown_if_not_counted():
    analysis = mini_apps.analysis()
    assert analysis.waits("am", 4) == pytest.approx({"active": 0.5, "spin": 0.1, "yield": 0.0, "asleep": 0.4})
    assert analysis.waits("mpi", 4) is None


def test_unknown_joules_are_gaps():
    analysis = mini_apps.analysis(provenance="unavailable")
    assert analysis.center("energy", "am", "4 cities", 2) is None
    assert analysis.provenance("energy") == "unavailable"


def test_statements_about_a_version_left_out_cannot_be_tested():
    analysis = mini_apps.analysis(names=("bucket", "am", "steal"), left_out={"mpi": "no mpicc"})
    found = {row.id: row for row in bare_rows.judge(tsp.STUDY.rows, analysis)}
    assert found["mpi-worst"].verdict is Verdict.NOT_TESTABLE
    assert "no mpicc" in found["mpi-worst"].why
    assert found["bucket-trend-14"].verdict is Verdict.SAME


def test_statements_about_more_pes_than_were_run_cannot_be_tested():
    few = verdicts(tsp.STUDY.rows, mini_apps.analysis(pes=(2, 4)))
    assert few["bucket-behind-14"] is Verdict.NOT_TESTABLE
    many = verdicts(tsp.STUDY.rows, mini_apps.analysis(pes=(2, 64)))
    assert many["bucket-behind-14"] is Verdict.SAME


def test_too_few_runs_give_no_verdict():
    found = verdicts(tsp.STUDY.rows, mini_apps.analysis(repeats=3))
    assert set(found.values()) == {Verdict.NOT_TESTABLE}


def test_every_published_row_agrees_and_differs_as_the_samples_do():
    pes = (2, 8, 64)
    theirs = mini_apps.analysis(seconds=mini_apps.as_published, apart=mini_apps.varies_with_few, pes=pes)
    other = mini_apps.analysis(seconds=mini_apps.backwards, pes=pes)
    assert set(verdicts(tsp.STUDY.rows, theirs).values()) == {Verdict.SAME}
    assert set(verdicts(tsp.STUDY.rows, other).values()) == {Verdict.WORSE}


def test_samples_of_a_version_that_does_not_exist_are_refused(tmp_path):
    directory = mini_apps.make_study(tmp_path / "dir")
    frame = pl.read_parquet(directory / "samples.parquet").with_columns(version=pl.lit("carrier pigeon"))
    frame.write_parquet(directory / "samples.parquet")
    from wattle.record import manifest

    with pytest.raises(DamagedFile, match="a version that tsp does not have"):
        tsp.STUDY.load(directory, manifest.read(directory))


def test_two_studies_are_compared_point_by_point(wattle: Wattle, tmp_path):
    before = mini_apps.make_study(tmp_path / "before")
    after = mini_apps.make_study(tmp_path / "after", seconds=mini_apps.backwards)
    done = wattle("compare", before, after, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["at"]["version"] for row in rows} == set(tsp.STUDY.versions)
