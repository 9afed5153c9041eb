"""The reports of the studies of waiting and clocks."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
import sweeps
from wattle.record import manifest as manifests
from wattle.report.cli import write
from wattle.study import published
from wattle.study.sweep.page import plain_axis
from wattle.study.sweep.plan import Job

PLOTLY = re.compile(r'<script type="application/gzip" id="plotly">.*?</script>', re.DOTALL)


def more(job: Job, x: float | None) -> dict:
    return {"compute_s": [0.001] * 8, "slack_s": [0.002] * 8, "phase_s": [0.001] * 7, "counted": [None] * 3}


def page_of(directory: Path) -> str:
    """The report without the text of plotly.js."""
    return PLOTLY.sub("", write(directory).read_text())


def figures(page: str) -> dict[str, dict]:
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


@pytest.fixture(scope="module", params=tuple(sweeps.SWEEPS))
def made(request, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, str]:
    """Study, its directory on a machine without a knob, and its page."""
    folder = sweeps.make_study(
        tmp_path_factory.mktemp(request.param) / "dir",
        request.param,
        sweeps.as_published,
        provenance="modelled",
        more=more,
        source="model made-up",
    )
    return request.param, folder, page_of(folder)


def test_every_published_row_is_there(made):
    study, folder, page = made
    analysis = sweeps.SWEEPS[study].load(folder, manifests.read(folder))
    for row in published.judge(sweeps.SWEEPS[study].rows, analysis):
        entry = re.search(rf'<tbody id="row-{re.escape(row.id)}">(.*?)</tbody>', page, re.DOTALL)
        assert entry, row.id
        text = plain(entry.group(1))
        for part in (row.published, row.source, row.condition, row.ours, row.tolerance, str(row.verdict)):
            assert " ".join(part.split()) in text, (row.id, part)


def test_it_is_reported_that_no_clock_can_be_set(made):
    study, _, page = made
    assert "No clock can be set here" in plain(page)
    assert study == "budget" or "The reasons are below." in plain(page)  # it has bars in place of published rows


def test_every_figure_has_something_to_show_and_its_place(made):
    study, _, page = made
    drawn = figures(page)
    assert drawn
    for name, figure in drawn.items():
        assert f'id="plot-{name}"' in page
        assert any(trace["y"] for trace in figure["data"]), (study, name)


def test_joules_are_shown_with_their_provenance(made):
    _, _, page = made
    assert "Joules are modelled, not measured" in plain(page)


def test_unknown_joules_are_said_to_be_unknown(tmp_path):
    dark = page_of(sweeps.make_study(tmp_path / "dark", "slack", sweeps.plain, provenance="unavailable", more=more))
    assert "Joules are not known here" in plain(dark)


def test_with_a_knob_the_lines_are_by_clock(tmp_path):
    keywords = {"knob": sweeps.KNOB, "more": more}
    race = figures(page_of(sweeps.make_study(tmp_path / "race", "race", sweeps.as_published, **keywords)))
    assert [t["name"] for t in race["phase-seconds"]["data"]] == ["fma", "copy", "scale", "add", "triad"]
    assert set(race["phase-seconds"]["data"][0]["x"]) == {*sweeps.KNOB.some(3), sweeps.KNOB.base}
    put = figures(page_of(sweeps.make_study(tmp_path / "put", "receiver", sweeps.as_published, **keywords)))
    assert [t["name"] for t in put["direct-latency"]["data"]] == ["spin, 1.2 GHz", "spin, 2.4 GHz", "spin, 2.9 GHz"]


def unnamed(page: str) -> set[tuple[str, str]]:
    """Lines that are missing in their section's legend: (figure, line). A line with a text needs no legend."""
    found = set()
    for section in re.findall(r"<section.*?</section>", page, re.DOTALL):
        legend = {plain(name) for name in re.findall(r"<li>.*?<b>(.*?)</b>", section, re.DOTALL)}
        for name in re.findall(r'id="plot-([^"]+)"', section):
            figure = figures(page)[name]
            lines = [t for t in figure["data"] if t["type"].startswith("scatter") and not t.get("text")]
            if not figure["layout"].get("showlegend"):
                found |= {(name, t["name"]) for t in lines} - {(name, known) for known in legend}
    return found


def test_every_line_is_named_in_its_legend(made, tmp_path):
    study, _, page = made
    assert not unnamed(page)
    folder = sweeps.make_study(tmp_path / "knob", study, sweeps.as_published, knob=sweeps.KNOB, more=more)
    assert not unnamed(page_of(folder))


def test_the_regression_stands_on_the_page(tmp_path):
    page = plain(page_of(sweeps.make_study(tmp_path / "b", "barrier", sweeps.as_published, more=more)))
    assert re.search(r"E = 33\.\d W x T [+-] [\d.e-]+ J, r2 = (0\.99|1\.0)", page)


def test_ticks_that_are_too_close_share_a_text():
    clocks = plain_axis("GHz", False, (1.2, 2.0, 2.6, 2.601))
    assert (clocks["tickvals"], clocks["ticktext"]) == ([1.2, 2.0, 2.6], ["1.2", "2", "2.6, 2.601"])
    assert plain_axis("PEs", False, (1, 2, 3, 1000))["ticktext"] == ["1 to 3", "1,000"]
    assert plain_axis("ms", True, (1, 2, 3, 1000))["ticktext"] == ["1", "2", "3", "1,000"]
