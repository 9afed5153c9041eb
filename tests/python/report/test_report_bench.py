"""The page of `make bench`: it says what the file says, and refuses a file that is not one."""

from __future__ import annotations

from pathlib import Path

import benches
import pytest
from wattle.base.errors import WattleError
from wattle.report import bench_figures, bench_file, bench_page
from wattle.report.cli import write

from bench import run


def test_the_page_stands_beside_its_file(tmp_path: Path) -> None:
    page = write(benches.make(tmp_path / "bench.json"))
    assert page == tmp_path / "bench.html"
    text = page.read_text(encoding="utf-8")
    assert "2 of 3 promises are met." in text and "fetch-add" in text and "41 GB/s" in text


def test_the_page_reads_the_schema_that_the_benchmark_writes() -> None:
    assert bench_file.SCHEMA == run.SCHEMA


def test_a_missed_bar_says_by_how_much_and_whether_the_older_one_holds(tmp_path: Path) -> None:
    path = benches.make(tmp_path / "bench.json", [benches.missed(no_slower=True)])
    (bar,) = bench_file.read(path).bars
    assert bench_page.verdict(bar) == "not met by 20 %; no slower"


def test_points_right_of_the_bar_are_those_that_miss_it(tmp_path: Path) -> None:
    bench = bench_file.read(benches.make(tmp_path / "bench.json"))
    figure = bench_figures.figures(bench)[0]
    points = {trace["name"]: trace["x"] for trace in figure.traces}
    assert points == {"met": [0.5], "not met": [pytest.approx(1.2)]}


def test_rows_beside_which_other_work_ran_have_open_marks_and_are_counted(tmp_path: Path) -> None:
    bench = bench_file.read(benches.make(tmp_path / "bench.json", [benches.bar(disturbed=True), benches.cpu_seconds()]))
    drawn = bench_figures.figures(bench)
    assert [trace["marker"]["symbol"] for figure in drawn[:2] for trace in figure.traces] == [
        ["circle-open"],
        ["circle"],
    ]
    assert "Other work ran during 1 of the rows" in bench_page.summary(bench)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": 2}, "schema 2 is unknown"),
        ({"bars": [benches.bar(value="fast")]}, r"bars\[0\].value: expected a number"),
        ({"bars": [benches.bar(disturbed=1)]}, r"bars\[0\].disturbed: expected true or false"),
        ({"limits": [{"label": "x"}]}, r"limits\[0\].bytes is missing"),
    ],
)
def test_a_file_that_is_not_one_is_refused_with_the_place(tmp_path: Path, changes: dict, words: str) -> None:
    with pytest.raises(WattleError, match=words):
        write(benches.make(tmp_path / "bench.json", **changes))
    assert not (tmp_path / "bench.html").exists()
