"""Figures that a machine profile was derived from are no evidence for it: profile and rows name each other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bare_rows
import polars as pl
import pytest
import studies
import sweeps
from tree import ROOT
from wattle.study import energy, published, registry
from wattle.study.papers import Published
from wattle.study.patterns.analysis import Analysis as Patterns
from wattle.study.published import Evidence, Outcome, Verdict
from wattle.text.provenance import Joules, Provenance

PAPERS = re.compile(r"[DEPS] ")  # a source that is one of the papers: "D 7.2.1, figure 7.3a"
PROFILES = sorted((ROOT / "machines").glob("*.yaml"))
OTHERS = sorted((ROOT / "machines").glob("*/*.toml"))


def numbers_of_profile(path: Path) -> Iterator[dict[str, str]]:
    """The numbers of a machine profile: tag, source, rows as the text of their lines."""
    lines = path.read_text().splitlines()
    for k, line in enumerate(lines):
        if not line.strip().startswith("value:"):
            continue
        indent = len(line) - len(line.lstrip())
        found = {}
        for other in lines[k:]:
            if other.strip() and len(other) - len(other.lstrip()) < indent:
                break
            if len(other) - len(other.lstrip()) == indent:
                key, _, text = other.strip().partition(": ")
                found[key] = text
        yield found


def rows_of(number: dict[str, str]) -> list[str]:
    return [name.strip() for name in number["rows"].strip("[]").split(",") if name.strip()]


def all_rows() -> dict[str, Published]:
    """All published figures of all studies, by STUDY/ID."""
    found = {}
    for name in registry.names():
        if (registry.HERE / name / "published.toml").exists():
            found |= {f"{name}/{row.id}": row for row in registry.part(name, "judges").ROWS}
    return found


def from_the_papers(number: dict[str, str]) -> bool:
    return number.get("tag") in ("cited", "derived") and bool(PAPERS.match(number.get("source", "")))


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_each_number_that_comes_from_the_papers_names_the_rows_of_its_figures_and_they_name_the_profile(path):
    numbers = [number for number in numbers_of_profile(path) if from_the_papers(number)]
    assert all("rows" in number for number in numbers), (
        "a number from the papers needs `rows`; [] if no row has its figure"
    )
    named = {name for number in numbers for name in rows_of(number)}
    profile = re.search(r"^name: (\S+)", path.read_text(), re.MULTILINE).group(1)
    assert named == {name for name, row in all_rows().items() if profile in row.fit}


def test_each_number_of_a_simulated_cluster_that_comes_from_the_papers_names_rows_too():
    for path in OTHERS:
        for key, number in tomllib.loads(path.read_text()).items():
            if isinstance(number, dict) and from_the_papers(number):
                assert set(number["rows"]) <= set(all_rows()), f"{path.stem}: {key}"


def test_every_profile_that_a_row_names_exists():
    known = {path.stem for path in PROFILES}
    assert {profile for row in all_rows().values() for profile in row.fit} <= known


class Modelled(Evidence):
    """An analysis with joules of these profiles."""

    def __init__(self, *profiles: str, provenance: str = "modelled", simulated: bool = False) -> None:
        self.names, self.provenance, self.is_simulated = profiles, provenance, simulated

    @property
    def profiles(self) -> frozenset[str]:
        return frozenset(self.names)

    @property
    def simulated(self) -> bool:
        return self.is_simulated


def verdict_of(row: Published, agrees: bool, analysis: Modelled) -> Verdict:
    outcome = Outcome("", published.verdict_of(agrees), (), analysis.provenance)
    (judged,) = bare_rows.judge([replace(row, judge=lambda a: outcome)], analysis)
    return judged.verdict


@pytest.mark.parametrize("name", [name for name, row in all_rows().items() if row.fit])
def test_a_row_of_a_profile_is_a_fit_with_that_profile_and_judged_with_another_meter(name):
    row = all_rows()[name]
    for profile in row.fit:
        assert verdict_of(row, True, Modelled("here", profile)) is Verdict.FIT
        assert verdict_of(row, False, Modelled(profile)) is Verdict.WORSE
        assert verdict_of(row, True, Modelled(profile, provenance="measured")) is Verdict.SAME
    if not row.construction:
        assert verdict_of(row, True, Modelled("another")) is Verdict.SAME


@pytest.mark.parametrize(("profile", "verdict"), [("sandybridge-e5-2670", "fit"), ("unknown", "not testable")])
def test_the_idle_draw_of_the_papers_node_is_a_fit_and_that_of_another_machine_is_not_judged(profile, verdict):
    source = f"model {profile}"
    frame = studies.frame(fragments=[1, 2]).with_columns(pl.lit(source).alias("cpu_source"))
    idle = Joules(0.2 * 2 * 3.786, 0.1, Provenance.MODELLED, source, "node", "cpu-idle", 0.2, 0.2)
    row = all_rows()["patterns/floor"]
    (judged,) = published.judge([row], Patterns(frame, [idle]))
    assert str(judged.verdict) == verdict


def test_what_any_model_gives_is_by_construction_and_only_where_it_is_modelled():
    constructed = [row for row in all_rows().values() if row.construction]
    assert {"scale-linear", "time-linear", "power-constant", "phase-compute"} <= {row.id for row in constructed}
    for row in constructed:
        assert verdict_of(row, True, Modelled("any")) is Verdict.CONSTRUCTION
        assert verdict_of(row, False, Modelled("any")) is Verdict.WORSE
        assert verdict_of(row, True, Modelled(provenance="measured")) is Verdict.SAME
        assert verdict_of(row, True, Modelled(provenance="measured", simulated=True)) is Verdict.CONSTRUCTION


def test_the_profile_of_joules_is_found_in_their_source():
    for source in ("model nw-ice", "simulation, nw-ice-core"):
        made = sweeps.analysis("pascol", sweeps.as_published, provenance="modelled", source=source)
        assert made.profiles == {"nw-ice"}
    assert not sweeps.analysis("pascol", sweeps.as_published, source="powercap package-0").profiles


def test_a_tally_counts_fits_apart_and_leaves_them_out_where_there_are_none():
    row = next(iter(all_rows().values()))
    made = published.judge(
        [replace(row, fit=("a",), judge=lambda a: Outcome("", Verdict.SAME, (), "modelled"))] * 2, Modelled("a")
    )
    assert published.table(made)["verdicts"] == dict.fromkeys(map(str, Verdict), 0) | {"fit": 2}
    tally = published.tally(made)
    assert published.counted(tally) == {"same": 0, "worse": 0, "fit": 2}
    assert "2 are a fit of the model to them" in published.sentence_of(tally)


# ---- half-widths ----


def test_a_modelled_verdict_holds_for_all_numbers_within_the_half_widths_or_is_none():
    """The published 17 W lie between the ends of 15.85 ± 5 W, so they do not agree, and do not differ either."""
    row = all_rows()["protocols/tcp-rendezvous-sender"]

    class Off(Modelled):
        def __init__(self, watts: float, half_width: float) -> None:
            super().__init__("a")
            self.watts, self.half_width = watts, half_width

        def corners(self) -> Iterator[Off]:
            return (Off(self.watts + part * self.half_width, 0) for part, _ in energy.PLACES)

    def judge(a: Off) -> Outcome:
        return Outcome(f"{a.watts:.2f} W", published.verdict_of(17 <= a.watts <= 18), (), "modelled")

    def of(watts: float, half_width: float) -> published.Row:
        return bare_rows.judge([replace(row, judge=judge)], Off(watts, half_width))[0]

    assert of(15.85, 5).verdict is Verdict.NOT_TESTABLE
    assert "half-widths leave the verdict open" in of(15.85, 5).why
    assert of(15.85, 0.5).verdict is Verdict.WORSE
    assert of(17.5, 0.2).verdict is Verdict.SAME
    assert of(17.5, 2).verdict is Verdict.NOT_TESTABLE


def test_corners_move_modelled_joules_by_their_half_widths_and_no_others():
    frame = studies.frame(fragments=[1], repeats=1)  # joules ± 25 %
    moved = list(energy.corners(frame))
    assert len(moved) == len(energy.PLACES)
    factors = {
        (round(m["cpu_J"][0] / frame["cpu_J"][0], 3), round(m["dram_J"][0] / frame["dram_J"][0], 3)) for m in moved
    }
    assert {(0.75, 0.75), (1.25, 1.25), (0.75, 1.25), (1.25, 0.75)} <= factors
    assert all(m["latency_s"].to_list() == frame["latency_s"].to_list() for m in moved)
    measured = frame.with_columns(pl.lit("measured").alias("cpu_provenance"))
    assert all(m["cpu_J"].to_list() == frame["cpu_J"].to_list() for m in energy.corners(measured))
    both = measured.with_columns(pl.lit("measured").alias("dram_provenance"))
    assert list(energy.corners(both)) == []
