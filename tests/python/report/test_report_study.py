"""The report of a study: everything is in it, nothing is fetched, and a damaged directory is an error."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
import studies
from fakes import Wattle
from wattle.base.errors import WattleError
from wattle.record import manifest as manifests
from wattle.report.cli import write
from wattle.study import published
from wattle.study.patterns import study as patterns
from wattle.study.patterns.judges import ROWS
from wattle.study.place import Place
from wattle.study.published import Verdict

PLOTLY = re.compile(r'<script type="application/gzip" id="plotly">.*?</script>', re.DOTALL)


@pytest.fixture(scope="module")
def study_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return studies.make_study(tmp_path_factory.mktemp("study") / "dir")


@pytest.fixture(scope="module")
def page(study_dir: Path) -> str:
    """The report without the text of plotly.js."""
    text = write(study_dir, study_dir.parent / "report.html").read_text()
    without, found = PLOTLY.subn("", text)
    assert found == 1
    return without


def figures(page: str) -> dict[str, dict]:
    return json.loads(
        re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL).group(1)
    )


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_every_published_row_is_there_with_value_condition_ours_tolerance_verdict_and_why(study_dir, page):
    analysis = patterns.STUDY.load(study_dir, manifests.read(study_dir))
    rows = published.judge(ROWS, analysis)
    notes = published.notes(rows)
    on_one_node = {Verdict.OTHER_MACHINE, Verdict.PAPERS_DIFFER}  # in place of better and worse
    assert {row.verdict for row in rows} == {Verdict.SAME, *on_one_node, Verdict.CONSTRUCTION, Verdict.NOT_TESTABLE}
    for row in rows:
        entry = re.search(rf'<tbody id="row-{row.id}">(.*?)</tbody>', page, re.DOTALL)
        assert entry, row.id
        text = plain(entry.group(1))
        for part in (row.published, row.source, row.condition, row.ours, row.tolerance, str(row.verdict)):
            assert " ".join(part.split()) in text, (row.id, part)
        for reason in row.reasons:
            shared = reason in notes
            assert (f"Note {notes.index(reason) + 1}." if shared else reason) in text, (row.id, reason)


def test_each_reason_is_reported_once(study_dir, page):
    rows = published.judge(ROWS, patterns.STUDY.load(study_dir, manifests.read(study_dir)))
    text = plain(page)
    for reason in {reason for row in rows for reason in row.reasons}:
        assert text.count(reason) == 1, reason
    links = re.findall(r'href="#(note-\d+)"', page)
    assert links
    assert set(links) == set(re.findall(r'id="(note-\d+)"', page))


def test_the_summary_and_the_tiles_agree_on_savings(page):
    summary = plain(re.search(r'class="summary">(.*?)</p>', page, re.DOTALL).group(1))
    tile = re.search(r"<b>\+(\S+ %)</b><span>time saved by one quiet for all", page).group(1)
    assert f"non-blocking ones saved {tile} of the time" in summary
    assert "changed the time" not in summary


def test_a_loss_is_reported_in_words(tmp_path):
    slow = studies.make_study(tmp_path / "slow", studies.frame(lambda p, n: 2.0 if p == "PPQ" else 1.0))
    text = plain(write(slow).read_text())
    assert "non-blocking ones cost 100 % more time" in text


def test_a_verdict_in_the_report_turns_when_the_samples_do(tmp_path):
    def ordered(pattern: str, n: int) -> float:
        return {"MPQMPQ": 10.0, "PQPQ": 9.5, "MPMPQ": 5.0, "PPQ": 4.8, "MMPQAMM": 2.0}[pattern]

    seen = []
    for name, cost in (("same", ordered), ("papers differ", studies.shared_memory)):
        directory = studies.make_study(tmp_path / name, studies.frame(cost, dram=cost))
        text = write(directory).read_text()
        entry = re.search(r'<tbody id="row-order-latency-bulk">(.*?)</tbody>', text, re.DOTALL).group(1)
        seen.append(name in entry)
    assert seen == [True, True]


def test_the_six_metrics_and_the_four_transformations_are_drawn(page):
    drawn = figures(page)
    for name in ("cpu", "dram", "latency", "bandwidth", "rate", "edp"):
        assert len(drawn[f"metric-{name}"]["data"]) == 5, name
    for name in ("pin", "non-block", "aggregate", "payload"):
        for metric in ("cpu", "dram", "latency", "edp"):
            assert drawn[f"saving-{name}-{metric}"]["data"], (name, metric)
            assert f'id="plot-saving-{name}-{metric}"' in page


def test_published_numbers_are_drawn_beside_ours(page):
    marks = [t for t in figures(page)["saving-non-block-cpu"]["data"] if t["name"] == "published"]
    assert [(m["x"], m["y"]) for m in marks] == [([256, 131072], [80, 80])]


def test_every_point_shows_value_spread_number_and_provenance(page):
    for trace in figures(page)["metric-cpu"]["data"]:
        for text in trace["customdata"]:
            assert "CPU energy" in text
            assert "middle half" in text
            assert "repeats: 7" in text
            assert "modelled" in text


def test_the_summary_is_computed_from_the_samples(tmp_path):
    slower = studies.make_study(tmp_path / "slower", studies.frame(lambda p, n: 2 * studies.shared_memory(p, n)))
    same = studies.make_study(tmp_path / "same")
    texts = [re.search(r'class="summary">(.*?)</p>', write(d).read_text(), re.DOTALL).group(1) for d in (slower, same)]
    assert texts[0] != texts[1]


def test_nothing_is_fetched_from_anywhere(page):
    assert re.findall(r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:|//)""", page) == []
    assert re.findall(r"@import|url\(", page) == []
    assert "default-src 'none'" in page


def test_texts_of_a_directory_are_never_markup(page):
    assert "no sensor <here>" not in page
    assert "no sensor &lt;here&gt;" in page


def test_it_says_that_the_papers_plots_are_lost(page):
    assert "lack the plots" in plain(page)


def test_joules_without_a_meter_are_gaps_and_the_report_stands(tmp_path):
    directory = studies.make_study(tmp_path / "dark", studies.frame(provenance="unavailable"))
    text = PLOTLY.sub("", write(directory).read_text())
    assert all(value is None for trace in figures(text)["metric-cpu"]["data"] for value in trace["y"])
    assert "unavailable" in text
    assert "Joules are not known here" in text


def test_wrong_data_are_reported_first(tmp_path):
    frame = studies.frame().with_columns(verified=pl.lit(False))
    text = write(studies.make_study(tmp_path / "wrong", frame)).read_text()
    assert "no result below can be trusted" in text


def test_the_page_names_the_place_and_its_meaning(tmp_path, page):
    across = studies.make_study(tmp_path / "across", place=Place("two-nodes", "1gbit"))
    text = plain(PLOTLY.sub("", write(across).read_text()))
    assert "two nodes made of network namespaces on one machine" in text
    assert "held to 1gbit" in text
    assert "place two-nodes, link 1gbit :" in text
    assert "the model counts only the sender's node" in text
    assert "They measured all except the idle watts between two nodes over InfiniBand" in text
    assert "through shared memory" not in text
    assert "Measured on all PEs on this node" in plain(page)


def test_a_sensor_that_sees_both_nodes_is_reported(tmp_path):
    measured = studies.frame(provenance="measured")
    across = studies.make_study(tmp_path / "across", measured, Place("two-nodes"))
    text = plain(PLOTLY.sub("", write(across).read_text()))
    assert "its sensor measures both nodes" in text
    assert "Energy is that of both PEs" in text
    assert "Energy is the sender's" not in text


def test_the_command_writes_the_file_and_names_it(wattle: Wattle, study_dir, tmp_path):
    done = wattle("report", study_dir, "-o", tmp_path / "mine.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_text().startswith("<!doctype html>")


def test_the_same_directory_gives_the_same_report(study_dir, tmp_path):
    first, second = write(study_dir, tmp_path / "a.html"), write(study_dir, tmp_path / "b.html")
    assert first.read_bytes() == second.read_bytes()


def _cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _edit(path: Path, change) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


DAMAGES = {
    "manifest gone": (lambda d: (d / "manifest.json").unlink(), "manifest.json"),
    "manifest cut": (lambda d: _cut_in_half(d / "manifest.json"), "manifest.json"),
    "manifest of another kind": (lambda d: _edit(d / "manifest.json", lambda m: m.update(kind="tea")), "kind"),
    "study unknown": (lambda d: _edit(d / "manifest.json", lambda m: m["study"].update(name="tea")), "tea"),
    "study missing": (lambda d: _edit(d / "manifest.json", lambda m: m.pop("study")), "study"),
    "floor is text": (lambda d: _edit(d / "manifest.json", lambda m: m["study"].update(floor="x")), "floor"),
    "plan incomplete": (lambda d: _edit(d / "manifest.json", lambda m: m["study"].pop("gap")), "gap"),
    "samples gone": (lambda d: (d / "samples.parquet").unlink(), "samples.parquet"),
    "samples cut": (lambda d: _cut_in_half(d / "samples.parquet"), "samples.parquet"),
    "samples empty": (lambda d: (d / "samples.parquet").write_bytes(b""), "samples.parquet"),
    "samples are text": (lambda d: (d / "samples.parquet").write_text("hello"), "samples.parquet"),
    "results gone": (lambda d: (d / "results.json").unlink(), "results.json"),
    "results cut": (lambda d: _cut_in_half(d / "results.json"), "results.json"),
    "results of another study": (lambda d: _edit(d / "results.json", lambda m: m.update(study="tea")), "tea"),
    "results of another schema": (lambda d: _edit(d / "results.json", lambda m: m.update(schema=9)), "schema 9"),
    "column gone": (
        lambda d: pl.read_parquet(d / "samples.parquet").drop("latency_s").write_parquet(d / "samples.parquet"),
        "latency_s",
    ),
    "column of another type": (
        lambda d: (
            pl.read_parquet(d / "samples.parquet")
            .with_columns(pl.col("fragments").cast(pl.String))
            .write_parquet(d / "samples.parquet")
        ),
        "fragments",
    ),
    "no patterns": (
        lambda d: (
            pl.read_parquet(d / "samples.parquet")
            .filter(pl.col("series") == "payloads")
            .write_parquet(d / "samples.parquet")
        ),
        "no sample of the five patterns",
    ),
    "no fragments": (
        lambda d: (
            pl.read_parquet(d / "samples.parquet")
            .with_columns(fragments=pl.lit(0, dtype=pl.Int64))
            .write_parquet(d / "samples.parquet")
        ),
        "of no fragments",
    ),
    "no latency": (
        lambda d: (
            pl.read_parquet(d / "samples.parquet")
            .with_columns(latency_s=pl.lit(None, dtype=pl.Float64))
            .write_parquet(d / "samples.parquet")
        ),
        "without its pattern",
    ),
    "no rows": (
        lambda d: pl.read_parquet(d / "samples.parquet").clear().write_parquet(d / "samples.parquet"),
        "holds no sample",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_directory_is_an_error_that_names_the_mistake(study_dir, tmp_path, damage):
    directory = tmp_path / "copy"
    shutil.copytree(study_dir, directory)
    harm, word = DAMAGES[damage]
    harm(directory)
    with pytest.raises(WattleError) as caught:
        write(directory)
    assert caught.value.exit_code == 2
    assert word in str(caught.value)
    assert not (directory / "report.html").exists()


def test_a_damaged_directory_ends_the_command_with_2_and_one_line(wattle: Wattle, study_dir, tmp_path):
    directory = tmp_path / "copy"
    shutil.copytree(study_dir, directory)
    _cut_in_half(directory / "samples.parquet")
    done = wattle("report", directory)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_what_is_no_directory_is_refused(wattle: Wattle, tmp_path, name):
    (tmp_path / "file").write_text("x")
    done = wattle("report", tmp_path / name)
    assert done.returncode == 2
    assert name in done.stderr


@pytest.mark.parametrize("fault", [KeyError, TypeError, ValueError])
def test_a_fault_of_the_page_itself_is_not_taken_for_a_damaged_directory(study_dir, monkeypatch, fault):
    def broken(*_: object) -> None:
        raise fault("a fault of ours")

    monkeypatch.setattr("wattle.study.patterns.page._cards", broken)
    with pytest.raises(fault):
        write(study_dir)
