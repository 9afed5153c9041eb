"""A network that is fitted to two nodes: the search finds what made the times, what it is scored on was not among
what it was fitted to, and the page and the file say what came of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import Wattle
from networks import BEGIN, OF_FIT, TRUTH, analysis, make_directory, times
from wattle.base.errors import DamagedFile, WattleError
from wattle.record import manifest
from wattle.report.cli import write
from wattle.sim import cluster as clusters
from wattle.study import samples
from wattle.study.network import fit as network
from wattle.study.network import study
from wattle.study.network.fit import CASES, FIT, HELD

# ---- the fit ----


def test_the_search_finds_the_numbers_that_made_the_times() -> None:
    found = network.fit(lambda values: times(values, OF_FIT), times(TRUTH, OF_FIT), BEGIN)
    for key, value in TRUTH.items():
        assert found.values[key] == pytest.approx(value, rel=0.05), key
    assert all(found.plus_minus[key] < 0.2 * TRUTH[key] for key in network.FITTED)


def test_what_is_scored_was_not_fitted_to() -> None:
    fitted = {(c.program, c.name, c.bytes) for c in CASES if c.role == FIT}
    held = {(c.program, c.name, c.bytes) for c in CASES if c.role == HELD}
    assert not fitted & held
    assert {c.program for c in CASES if c.role == HELD} > {"network"} == {c.program for c in CASES if c.role == FIT}


def test_every_case_is_read_off_one_job_and_a_silent_program_is_named() -> None:
    jobs = network.jobs()
    read = [case for job in jobs for case in job.cases]
    assert len(read) == len(CASES) and set(read) == set(CASES)
    facts = {(case, 2e-6 * (k + 1)) for k, case in enumerate(jobs[0].cases)}
    lines = [json.dumps({"kind": "sample", "what": c.name, "bytes": c.bytes, "seconds": s}) for c, s in facts]
    assert jobs[0].read("\n".join(["hello", *lines])) == dict(facts)
    with pytest.raises(WattleError, match=r"output of network lacks .*copy"):
        jobs[0].read("\n".join(line for line in lines if '"copy"' not in line))
    halo = "halo: 512 x 512, 1000 steps on 2 PEs: 1.250 s, 209.7 M points/s, largest error 1e-9: {}\n"
    assert list(jobs[-1].read(halo.format("correct")).values()) == [1.25]
    with pytest.raises(WattleError, match="output of halo lacks"):
        jobs[-1].read(halo.format("WRONG"))


def test_the_file_is_a_network_that_simulation_reads_with_every_number_measured(tmp_path: Path) -> None:
    fitted = network.Fit(dict(TRUTH), {key: value / 10 for key, value in TRUTH.items()}, 12)
    path = tmp_path / "mine.toml"
    path.write_text(network.text(fitted, 'a "host"', "a host, a CPU", 0.031))
    found = clusters.network(str(path))
    for key in network.OF_FILE:
        number = found[key]
        assert number.value == pytest.approx(TRUTH[key], rel=1e-5)
        assert number.plus_minus == pytest.approx(TRUTH[key] / 10, rel=1e-2)
        if key in network.NONE:
            assert number.tag == "assumed" and "latency" in number.how
        else:
            assert number.tag == "measured" and number.source == "a host, a CPU" and "median error 3.1 %" in number.how


# ---- the score ----


def test_the_score_is_the_median_of_what_was_held_back() -> None:
    made = analysis(0.1)
    assert made.error(HELD) == pytest.approx(0.1)
    assert made.error(FIT) == pytest.approx(0.01)
    held = [case.program for case in CASES if case.role == HELD]
    assert {name: n for name, (n, _) in made.programs().items()} == {name: held.count(name) for name in set(held)}


@pytest.mark.parametrize("off", [0.1, 0.4])
def test_the_page_says_how_near_the_simulation_comes(tmp_path: Path, off: float) -> None:
    page = write(make_directory(tmp_path / "s", off)).read_text()
    held = sum(c.role == HELD for c in CASES)
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert f"median error of the simulation is {100 * off:.1f} %; {held if off < 0.15 else 0} are within 15.0 %" in text
    rows = re.search(r'id="times".*?</section>', page, re.DOTALL)
    assert rows and rows[0].count("<tr>") == len(CASES) + 1
    assert (f"<b>+{100 * off:.1f} %</b>" in rows[0]) == (off > study.BAR)


@pytest.mark.parametrize(
    ("column", "value", "wrong"),
    [
        ("real_s", 0.0, "not positive"),
        ("role", "other", "neither"),
        ("simulated_s", None, "lacks times"),
    ],
)
def test_a_damaged_directory_is_named(tmp_path: Path, column: str, value: object, wrong: str) -> None:
    folder = make_directory(tmp_path / "s")
    rows = [study.row(m) for m in analysis(0.1).found]
    rows[0][column] = value
    samples.write(folder, rows, study.SCHEMA)
    with pytest.raises(DamagedFile, match=wrong):
        study.load(folder, manifest.read(folder))


# ---- the command ----


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--network", "mine.yaml"], ["--network mine.yaml", ".toml"]),
        (["--network", "mine.toml"], ["--network mine.toml", "libsimgrid-dev"]),  # the made-up home has no simulator
        (["--network", "mine.toml", "--profile", "mine.yaml"], ["--profile and --network"]),
        (["-o", "here"], ["--output here", "--network"]),
        (["--network", "mine.toml", "--ghz", "2"], ["--ghz 2", "--profile"]),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_made(
    wattle: Wattle, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    done = wattle("calibrate", *arguments)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
    assert list((tmp_path / "work").iterdir()) == []
