"""The table, the page and the comparison of the regions that a program marks: their figures add up to the run's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fakes
import made_regions
import pytest
from test_report_run import plain
from wattle import cli
from wattle.base.errors import DamagedFile
from wattle.figures import call_paths, sites, user_regions
from wattle.record import profile
from wattle.report.cli import write

SUMS = ("time_s", "calls_s", "waiting_s")


def written(folder: Path, **changes: float) -> Path:
    fakes.make_run(folder, [made_regions.profile(pe, **changes) for pe in range(2)])
    return folder


def shown(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main([*map(str, words)])
    out = capsys.readouterr()
    assert ended.value.code == 0, out.err
    return out.out


def test_regions_add_up_to_the_run(tmp_path: Path) -> None:
    found = {r.name: r for r in user_regions.merge(profile.load(written(tmp_path)))}
    assert list(found) == [("solve",), ("end",), ("solve", "halo"), ()]
    assert [found["solve", "halo"].times, found["solve",].times, found[()].times] == [20, 2, None]
    assert {name: [getattr(r, key) for key in SUMS] for name, r in found.items()} == {
        ("solve",): pytest.approx([2.0, 0.0, 0.0]),
        ("end",): pytest.approx([1.2, 0.0, 0.0]),
        ("solve", "halo"): pytest.approx([0.6, 0.4, 0.4]),
        (): pytest.approx([0.2, 0.2, 0.2]),
    }
    # 10 of the 16 J of a process are not in calls. They are divided by the time outside calls: 1 s, 0.6 s, 0.1 s, 0 s.
    cpu = {name: r.joules[0].joules for name, r in found.items()}
    assert cpu == {
        ("solve",): pytest.approx(2 * 10 * 1.0 / 1.7),
        ("end",): pytest.approx(2 * 10 * 0.6 / 1.7),
        ("solve", "halo"): pytest.approx(2 * (4 + 10 * 0.1 / 1.7)),
        (): pytest.approx(2 * 2),
    }
    assert {str(j.provenance) for r in found.values() for j in r.joules} == {"modelled"}


def test_sites_of_two_regions_are_told_apart(tmp_path: Path) -> None:
    merged = sites.merge(profile.load(written(tmp_path)))
    assert sorted((s.region, s.path_end, s.calls) for s in merged) == [
        ((), "", 2000),
        (("solve", "halo"), "(deeper callers)", 2000),
    ]
    rows = call_paths.rows(merged, "/opt/halo", by="region")
    assert [(row.place.label, row.site.calls) for row in rows] == [("solve > halo", 2000), ("(outside regions)", 2000)]
    folded = call_paths.folded(call_paths.stacks(merged, "waiting"))
    assert "solve;halo;(deeper callers);halo+0x10;MPI_Recv 400000\n" in folded


def test_tables_show_regions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "run")
    text = shown(capsys, "report", "--text", folder)
    rows = [line.split() for line in text[text.index("By region, sum over") :].splitlines()]
    assert ["solve", ">", "halo", "20", "600", "ms", "400", "ms", "400", "ms"] in [row[:10] for row in rows]
    assert ["(outside", "regions)", "200", "ms", "200", "ms", "200", "ms"] in [row[:8] for row in rows]
    assert {"50.0", "30.0", "15.0", "5.0"} <= {row[-2] for row in rows if row and row[-1] == "%"}
    assert (
        "solve > halo" in shown(capsys, "report", "--text", "--by", "region", folder).split("Costliest call sites")[1]
    )
    page = plain(write(folder).read_text())
    assert "By region" in page and "solve > halo" in page
    assert "share of time" in page and "50.0 %" in page and "15.0 %" in page


@pytest.mark.parametrize("n", [1023, 1024])
def test_tables_say_that_a_process_has_all_regions_that_it_can_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], n: int
) -> None:
    made = [made_regions.profile(pe) for pe in range(2)]
    made[1]["regions"] += [
        {"name": f"r{k}", "outer": -1, "times": 0, "time_s": 0.0} for k in range(n - len(made[1]["regions"]))
    ]
    fakes.make_run(tmp_path, made)
    words = "PE 1 marked 1024 regions or more; each further one counts as the region around it"
    assert (words in " ".join(shown(capsys, "report", "--text", tmp_path).split())) == (n == 1024)
    assert (f"{words}." in plain(write(tmp_path).read_text())) == (n == 1024)


def test_a_run_without_marks_has_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fakes.make_run(tmp_path, [fakes.pe_profile(0, 2), fakes.pe_profile(1, 2)])
    assert "By region" not in shown(capsys, "report", "--text", tmp_path)


def test_regions_of_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = written(tmp_path / "before"), written(tmp_path / "after", solve_s=0.5)
    found = json.loads(shown(capsys, "compare", before, after, "--by", "region", "--json"))
    by_name = {row["metric"]: row for row in found["rows"]}
    assert (by_name["region_s:solve"]["before"]["median"], by_name["region_s:solve"]["after"]["median"]) == (2.0, 1.0)
    assert by_name["region_waiting_s:solve/halo"]["after"]["median"] == pytest.approx(0.4)
    assert by_name["region_joules:end"]["after"]["provenance"] == "modelled"
    assert "solve > halo: time" in shown(capsys, "compare", before, after, "--by", "region")


def of_runs(folder: Path, n: int = 4, **changes: float) -> Path:
    for k in range(n):
        made = [made_regions.profile(pe, **changes) for pe in range(2)]
        fakes.make_run(folder / f"run-{k}", made, started=f"2026-01-31T12:00:{k:02d}Z")
    return folder


def limited(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[object, str]:
    """The exit code, and standard output with standard error."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["compare", *map(str, words)])
    return ended.value.code, "".join(capsys.readouterr())


@pytest.mark.parametrize("name", ["solve: time", "region_s:solve"])
def test_a_limit_names_a_region_as_the_table_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    sides = of_runs(tmp_path / "a", solve_s=0.5), of_runs(tmp_path / "b")
    code, out = limited(capsys, *sides, "--by", "region", "--fail-above", f"{name}=3%,time=3%,cpu=3%,joules=3%")
    assert code == 1 and f"exceeded: {name} rose by 100 % (limit 3 %, p = " in out
    assert all(f"holds: {short} is the same (limit 3 %" in out for short in ("time", "cpu", "joules"))


def test_a_message_on_a_limit_names_regions_as_the_table_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = of_runs(tmp_path)
    code, out = limited(capsys, side, side, "--by", "region", "--fail-above", "solve=3%")
    assert code == 2 and "known: time, cpu, joules, solve: time, solve: waiting, solve: joules, end: time" in out


@pytest.mark.parametrize(("words", "said"), [(("region",), "mark no regions"), (("function",), "expected one of")])
def test_a_comparison_by_region_needs_regions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    fakes.make_run(tmp_path, [fakes.pe_profile(0, 2), fakes.pe_profile(1, 2)])
    with pytest.raises(SystemExit) as ended:
        cli.main(["compare", str(tmp_path), str(tmp_path), "--by", *words])
    assert ended.value.code != 0 and said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [("regions", [{"name": "a", "outer": 0, "times": 1, "time_s": 1.0}]), ("paths", [[-1, -6, 4]]), ("regions", [])],
)
def test_a_damaged_region_is_refused(tmp_path: Path, key: str, value: list[Any]) -> None:
    made = made_regions.profile(0, 1)
    fakes.write_profiles(tmp_path / "profile", [made | {key: value}])
    with pytest.raises(DamagedFile):
        profile.load(tmp_path)
