"""The report of a study of a mini-app's versions."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import mini_apps
import pytest
from wattle.html.figures import fine_axis
from wattle.record import manifest as manifests
from wattle.report.cli import write
from wattle.study import published
from wattle.study.tsp import study as tsp

PLOTLY = re.compile(r'<script type="application/gzip" id="plotly">.*?</script>', re.DOTALL)


@pytest.fixture(scope="module")
def study_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mini_apps.make_study(tmp_path_factory.mktemp("tsp") / "dir")


def page_of(directory: Path) -> str:
    """The report without the text of plotly.js."""
    return PLOTLY.sub("", write(directory).read_text())


@pytest.fixture(scope="module")
def page(study_dir: Path) -> str:
    return page_of(study_dir)


def figures(page: str) -> dict[str, dict]:
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


@pytest.mark.parametrize(
    ("values", "unit", "labels"),
    [
        ([0.06, 2.5], "J", ["50mJ", "100mJ", "200mJ", "500mJ", "1J", "2J"]),
        ([3e-6, 2e-4], "s", ["5µs", "10µs", "20µs", "50µs", "100µs"]),
        ([0.4, 3.0], "", ["0.5", "1", "2"]),
    ],
)
def test_an_axis_of_few_decades_says_the_unit_at_each_label(values, unit, labels):
    axis = fine_axis(values, unit)
    assert axis["tickvals"][0] < values[0] and axis["tickvals"][-1] > values[-1]  # a zoomed one has some, too
    at = axis["ticktext"].index(labels[0])
    assert axis["ticktext"][at : at + len(labels)] == labels


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


@pytest.mark.parametrize(("load", "busy"), [(7.5, True), (0.4, False)])
def test_a_page_says_that_the_machine_was_busy(tmp_path, load, busy):
    directory = mini_apps.make_study(tmp_path / "dir", "tsp")
    path = directory / "manifest.json"
    document = json.loads(path.read_text())
    document["host"] |= {"load": load, "cores": 2}
    path.write_text(json.dumps(document))
    record = manifests.read(directory)
    assert record.busy == ("Other work was running: load 7.5 on 2 cores when this began" if busy else "")
    assert ("Other work was running" in page_of(directory)) == busy
    assert not replace(record, extra={"study": {"on": "sim:sandybridge-ib"}}).busy  # simulated times are as they are


def test_every_published_row_and_every_bar_is_there(study_dir, page):
    analysis = tsp.STUDY.load(study_dir, manifests.read(study_dir))
    for row in published.judge([*tsp.STUDY.rows, *tsp.STUDY.bars], analysis):
        entry = re.search(rf'<tbody id="row-{row.id}">(.*?)</tbody>', page, re.DOTALL)
        assert entry, row.id
        text = plain(entry.group(1))
        for part in (row.published, row.source, row.condition, row.ours, row.tolerance, str(row.verdict)):
            assert " ".join(part.split()) in text, (row.id, part)


def test_a_box_for_each_version_and_number_of_pes_holds_every_run(page):
    drawn = figures(page)
    for metric in ("seconds", "cpu-s", "energy"):
        for cities in (4, 14, 15):
            traces = drawn[f"{metric}-{cities}-cities"]["data"]
            assert [t["name"] for t in traces] == ["mpi", "bucket", "am", "steal"]
            for trace in traces:
                assert len(trace["y"]) == len(trace["x"]) == 5 * 8
                assert max(trace["y"]) < 10  # no first solution


def test_waits_are_drawn_by_stage(page):
    bars = figures(page)["waits"]["data"]
    assert [bar["name"] for bar in bars] == ["active", "spin", "yield", "asleep"]
    assert sum(bar["y"][0] for bar in bars) == pytest.approx(100)


def test_idle_workers_of_every_version_are_in_a_table(page):
    table = plain(re.search(r'<section id="waiting">(.*?)</table>', page, re.DOTALL).group(1))
    assert "mpi 4 3.00 s 1.50 s 50 %" in table
    assert "am 4 3.00 s 30.0 ms 1 %" in table


def test_joules_are_shown_with_their_provenance(tmp_path, page):
    assert "Joules are modelled, not measured" in plain(page)
    dark = page_of(mini_apps.make_study(tmp_path / "dark", provenance="unavailable"))
    assert "Joules are not known here" in plain(dark)
    assert figures(dark)["energy-4-cities"]["data"] == []


def test_a_version_left_out_is_reported_with_the_reason(tmp_path):
    left = {"mpi": "no mpicc <anywhere>"}
    text = page_of(mini_apps.make_study(tmp_path / "left", names=("bucket", "am", "steal"), left_out=left))
    assert "left out: no mpicc &lt;anywhere&gt;" in text
    assert "no mpicc <anywhere>" not in text


def test_wrong_answers_are_reported_first(tmp_path):
    text = page_of(mini_apps.make_study(tmp_path / "wrong", verified=False))
    assert "no result below can be trusted" in plain(text)


def test_nothing_is_fetched_from_anywhere(page):
    assert re.findall(r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:|//)""", page) == []


def test_the_study_of_spanning_trees_has_its_page_too(tmp_path):
    text = plain(page_of(mini_apps.make_study(tmp_path / "mst", "mst")))
    assert "A minimum spanning tree, three ways" in text
    assert "Kruskal" in text
