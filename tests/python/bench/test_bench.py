"""The benchmark driver's arithmetic: paired ratios, quartiles, bars, the fit of memory; and its command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import benches
import pytest
from tree import ROOT

from bench import (
    collectives,
    crowd,
    held,
    jobs,
    limits,
    load,
    memory,
    mpi,
    mpi_price,
    one_node,
    pairs,
    part,
    run,
    shaped,
    show,
    start,
    two_nodes,
    verdicts,
    waits,
)


def pairs_of(ratios: list[float]) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Pairs whose second side doubles its time in every pair: only ratios within a pair mean anything."""
    return [({"x": ratio * 2**i}, {"x": 1.0 * 2**i}) for i, ratio in enumerate(ratios)]


def test_ratios_are_taken_within_pairs() -> None:
    (found,) = pairs.compare([pairs.Row("x", "x")], pairs_of([0.5, 0.7, 0.6]))
    assert found.median == pytest.approx(0.6)
    assert found.quartiles == (pytest.approx(0.55), pytest.approx(0.65))


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([0.8, 0.9, 0.85], "met"),
        ([1.0, 1.0, 1.0], "met (close)"),
        ([1.2, 1.3, 1.25], "not met"),
        ([0.9, 1.05, 1.1], "not met (close)"),
    ],
)
def test_a_bar_is_met_by_the_median_and_called_close_where_the_quartiles_hold_it(
    ratios: list[float], verdict: str
) -> None:
    (found,) = pairs.compare([pairs.Row("x", "x", bar=1.0)], pairs_of(ratios * 3))
    assert found.verdict == verdict


def test_best_batches_are_compared_within_pairs_too() -> None:
    ours, theirs = [{"x": 2.0, "best:x": 1.0}, {"x": 6.0, "best:x": 3.0}], {"x": 2.0, "best:x": 2.0}
    both = [(run_of_ours, theirs) for run_of_ours in ours]
    (found,) = pairs.compare([pairs.Row("x", "x")], both)
    assert (found.ratios, found.best_ratios) == ([1.0, 3.0], [0.5, 1.5])


def test_two_figures_of_one_run_are_compared_where_a_row_says_so() -> None:
    figures = {"put": 3.0, "copy": 2.0, "best:put": 1.5, "best:copy": 1.0}
    (found,) = pairs.compare([pairs.Row("put", "put", against="copy")], [(figures, figures)])
    assert (found.ratios, found.best_ratios) == ([1.5], [1.5])


@pytest.mark.parametrize(("others", "disturbed"), [((0.5, 0.5, 0, 0), True), ((0.5, 0, 0, 0), False)])
def test_a_row_is_marked_where_other_work_ran_beside_more_than_a_third_of_its_pairs(
    others: tuple[float, ...], disturbed: bool
) -> None:
    both = [({"x": 1.0, jobs.OTHERS: share}, {"x": 1.0, jobs.OTHERS: 0.0}) for share in others]
    (found,) = pairs.compare([pairs.Row("x", "x")], both)
    assert found.disturbed is disturbed


def test_what_others_use_of_the_machine_is_a_share_of_it() -> None:
    watch = load.Watch()
    subprocess.run(["true"], check=True)
    assert 0 <= watch.others() <= 1


def test_cpu_time_of_a_daemon_that_outlives_its_launcher_is_the_job_s_own() -> None:
    script = """
import subprocess
from bench import load
load.adopt_orphans()
before, own = load.children(), load.own_seconds()
work = "n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done"
subprocess.run(["sh", "-c", f"({work}) & exit 0"], check=True)
adopted = load.children() - before
load.wait_for(set(adopted), 60)
print(len(adopted), load.children() == before, load.own_seconds() > own)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True", "True"]


def test_a_bar_that_is_missed_says_by_how_much_and_whether_the_older_one_holds() -> None:
    row = pairs.Row("x", "x", bar=0.5, lenient=1.0)
    (found,) = verdicts.of_comparisons("here", "peer", pairs.compare([row], pairs_of([0.6] * 7)))
    assert str(verdicts.said(found)) == "not met by 20 %; no slower"


def test_a_bar_that_is_met_says_so_and_no_more() -> None:
    row = pairs.Row("x", "x", bar=0.5, lenient=1.0)
    (found,) = verdicts.of_comparisons("here", "peer", pairs.compare([row], pairs_of([0.4] * 7)))
    assert str(verdicts.said(found)) == "met"


def test_cpu_seconds_are_held_against_the_bar_at_their_worst() -> None:
    found = verdicts.of_cpu_seconds("waiting", "lock", [0.001, 0.02], 0.01, disturbed=False, judge=True)
    assert (found.verdict, found.value) == ("not met", 0.02)
    assert str(verdicts.said(found)) == "not met by 100 %"


def test_every_promise_is_in_the_table_that_ends_the_run_and_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = verdicts.of_comparisons(
        "here", "peer", pairs.compare([pairs.Row("x", "promise", bar=1.0)], pairs_of([0.5] * 7))
    )

    def measures(found: part.Part) -> None:
        found.bars, found.limits = facts, [("memcpy", 4096, [1e-7])]

    monkeypatch.setattr(
        run, "prepare", lambda _: (None, json.loads(benches.make(tmp_path / "x.json").read_text())["about"])
    )
    monkeypatch.setattr(run, "SECTIONS", {"local": measures})
    assert run.main(["--only", "local", "--out", str(tmp_path / "bench.json")]) == 0
    kept = json.loads((tmp_path / "bench.json").read_text())
    assert kept["schema"] == run.SCHEMA
    assert [(bar["label"], bar["value"], bar["verdict"]) for bar in kept["bars"]] == [("promise", 0.5, "met")]
    assert kept["limits"] == [{"label": "memcpy", "bytes": 4096, "s": [1e-7], "median_s": 1e-7}]
    said = capsys.readouterr().out
    assert "promise" in said and "41 GB/s" in said


def test_latencies_are_read_from_what_perftest_prints() -> None:
    text = "iterations,50.0_percentile_lat,avg_lat\n3000,0.145,0.146\n"
    assert limits.value_of("50.0_percentile_lat", text, "ucx_perftest") == 0.145
    with pytest.raises(jobs.BenchError, match="no 50"):
        limits.value_of("50.0_percentile_lat", "Failed to connect", "ucx_perftest")


def test_what_binds_a_pe_stands_between_mpirun_s_options_and_the_program() -> None:
    words = ["-x", "WATTLE_WAIT", "/bin/micro", "all", "-x"]
    assert jobs.split_options(words, ["taskset"]) == ["-x", "WATTLE_WAIT", "taskset", "/bin/micro", "all", "-x"]


def test_too_few_pairs_give_no_verdict() -> None:
    (found,) = pairs.compare([pairs.Row("x", "x", bar=1.0)], pairs_of([0.5] * (pairs.FEWEST - 1)))
    assert found.verdict == ""


def test_a_row_that_one_side_lacks_is_left_out() -> None:
    assert pairs.compare([pairs.Row("x", "x")], [({"x": 1.0}, {})]) == []


def test_a_transfer_is_shown_as_bandwidth() -> None:
    assert show.shown(pairs.Row("x", "x", bytes=1 << 20), 1e-4) == "10.5 GB/s"
    assert show.shown(pairs.Row("x", "x"), 5e-8) == "50 ns"


def test_fewer_than_seven_pairs_are_refused_but_for_development() -> None:
    with pytest.raises(SystemExit):
        run.parse(["--pairs", "6"])
    assert run.parse(["--pairs", "2", "--quick"]).pairs == 2


def test_sections_are_picked_by_name_and_run_in_their_own_order() -> None:
    assert run.parse(["--only", "memory,local"]).only == ["local", "memory"]
    assert run.parse([]).only == list(run.SECTIONS)


def test_an_unknown_section_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.parse(["--only", "lokal"])
    said = capsys.readouterr().err
    assert "lokal" in said and "local" in said and "memory" in said


def test_of_several_pes_the_slowest_counts(tmp_path: Path) -> None:
    program = tmp_path / "program"
    line = '{"test": "empty", "pe": %d, "init_s": %g, "finalize_s": %g}'
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line % row}'\n" for row in ((0, 0.5, 0.1), (1, 0.25, 0.2))))
    program.chmod(0o755)
    figures = jobs.Side("x", program, lambda words: words).run()
    assert (figures["init"], figures["finalize"]) == (0.5, 0.2)


def test_a_job_that_fails_is_an_error_with_its_words(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho no room >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(jobs.BenchError, match=r"(?s)exit code 3.*no room"):
        jobs.Side("x", program, lambda words: words).run()


def test_a_library_that_would_do_nothing_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLE_HOME", str(tmp_path))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libwattle-mpi.so").touch()
    (tmp_path / "lib/libwattle-mpi-mpich.so").touch()
    assert mpi.preloaded("mpich") == {"LD_PRELOAD": str(tmp_path / "lib/libwattle-mpi.so")}
    with pytest.raises(jobs.BenchError, match=r"libwattle-mpi-openmpi\.so is missing"):
        mpi.preloaded("openmpi")


def samples_of(rounds: int, once: float, per_pe: float, per_pair: float) -> list[dict]:
    """The result of `held.take` for a job of exactly this size."""
    return [
        {"side": side, "pes": n, "total": {"pss": total, "anonymous": total, "shared": 0, "page_tables": 4096 * n}}
        for _ in range(rounds)
        for n in memory.PES
        for side in memory.COMPARED
        for total in [once + per_pe * n + per_pair * n * n]
    ]


def test_the_fit_finds_what_a_pe_and_a_pair_cost() -> None:
    data = memory.growth(samples_of(2, 3e6, 1e6, 100), judge=True)
    for found in data["fits"]["PSS"]["Wattle"]:
        assert found == {"once": pytest.approx(3e6), "per_pe": pytest.approx(1e6), "per_pair": pytest.approx(100)}
    (found, _) = data["fits"][memory.CONTROL]["Wattle"]
    assert found["per_pe"] == pytest.approx(1e6 + 4096)
    assert data["verdicts"] == {"pss_per_pe": "met", "per_pair": "met"}


def test_memory_beyond_the_promises_is_reported() -> None:
    data = memory.growth(samples_of(1, 0, 9 << 20, 300), judge=True)
    assert data["verdicts"] == {"pss_per_pe": "not met", "per_pair": "not met"}


def test_a_footprint_is_read_of_a_live_process_and_its_children() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            assert child.pid in held.with_children(os.getpid())
            taken = held.footprint(child.pid)
        finally:
            child.kill()
    assert 0 < taken.anonymous <= taken.pss
    assert taken.page_tables > 0


def test_a_section_that_fails_keeps_no_other_from_being_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: part.Part) -> None:
        raise jobs.BenchError("no room")

    monkeypatch.setattr(
        run, "prepare", lambda _: (None, json.loads(benches.make(tmp_path / "x.json").read_text())["about"])
    )
    monkeypatch.setattr(run, "SECTIONS", {"local": fails, "nodes": lambda found: found.found.update(raw=[1.5])})
    assert run.main(["--only", "local,nodes", "--out", str(tmp_path / "bench.json")]) == 1
    kept = json.loads((tmp_path / "bench.json").read_text())
    assert kept["nodes"]["raw"] == [1.5] and "local" not in kept


def test_an_application_that_fails_is_reported_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = '[[program]]\nname = "{}"\npackages = "x"\nrun = "sh"\nsetup = "cat {}"\n'
    (tmp_path / "table.toml").write_text(row.format("first", tmp_path / "none") + row.format("second", "/dev/null"))
    measured: list[str] = []
    monkeypatch.setattr(mpi_price, "TABLE", tmp_path / "table.toml")
    monkeypatch.setattr(mpi_price, "LONGER", dict.fromkeys(("first", "second"), ("", "", "")))
    monkeypatch.setattr(mpi_price, "installed", lambda _: [])
    monkeypatch.setattr(mpi_price, "preloaded", lambda _: {})
    monkeypatch.setattr(mpi_price.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(part, "alternate", lambda sides, *_: measured.append(sides[0].name) or [])
    measuring = part.Part(run.parse([]), None)
    mpi_price.run(measuring)
    assert list(measuring.found["raw"]) == ["second"] and measured == ["Wattle"]
    assert measuring.failed == ["first"]
    assert re.search(r"bench: first: its input cannot be made: .*none", " ".join(capsys.readouterr().err.split()))


def test_a_section_of_which_a_part_failed_is_kept_and_the_exit_code_is_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise jobs.BenchError("no room")

    def measure(found: part.Part) -> None:
        found.attempt("first", fails)
        found.found.update(raw=[1.5])

    about = json.loads(benches.make(tmp_path / "x.json").read_text())["about"]
    monkeypatch.setattr(run, "prepare", lambda _: (None, about))
    monkeypatch.setattr(run, "SECTIONS", {"local": measure})
    assert run.main(["--only", "local", "--out", str(tmp_path / "bench.json")]) == 1
    assert json.loads((tmp_path / "bench.json").read_text())["local"]["raw"] == [1.5]


@pytest.mark.parametrize(("name", "remedy"), [("--out", "--out names"), ("BENCH_OUT", "BENCH_OUT names")])
def test_what_cannot_be_written_is_one_line_before_anything_is_measured(name: str, remedy: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    wrong, good = tmp_path / "file" / "x", tmp_path / "good"
    out, programs = (wrong, good) if name == "--out" else (good / "bench.json", wrong)
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "run.py"), "--out", str(out)],
        env={**os.environ, "BENCH_OUT": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (73, "", 1)
    assert f"{wrong}" in done.stderr and "be written" in done.stderr and remedy in done.stderr


def test_programs_are_not_built_where_every_user_may_put_others_in_their_place(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "run.py"), "--only", "start", "--out", str(tmp_path / "bench.json")],
        env={**os.environ, "BENCH_OUT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (73, "", 1), done
    assert "every user may write to it; BENCH_OUT names another folder" in done.stderr


@pytest.mark.parametrize(("ended", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_sections_that_are_complete_are_kept_when_the_run_is_ended(
    ended: BaseException, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: part.Part) -> None:
        raise ended

    about = json.loads(benches.make(tmp_path / "x.json").read_text())["about"]
    monkeypatch.setattr(run, "prepare", lambda _: (None, about))
    monkeypatch.setattr(run, "SECTIONS", {"local": lambda found: found.found.update(raw=[1.5]), "nodes": fails})
    assert run.main(["--only", "local,nodes", "--out", str(tmp_path / "bench.json")]) == code
    assert json.loads((tmp_path / "bench.json").read_text())["local"]["raw"] == [1.5]


def test_nodes_that_cannot_be_made_are_a_reason_and_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(part, "unavailable", lambda: "network namespaces need root")
    measuring = part.Part(run.parse([]), None)
    two_nodes.run(measuring)
    assert measuring.found == {"raw": {}, "skipped": "network namespaces need root"}
    assert "network namespaces need root" in capsys.readouterr().out


@pytest.mark.parametrize(
    "rows",
    [
        one_node.ROWS,
        one_node.LIMITS,
        crowd.rows_of(8),
        collectives.rows_of("32 PEs", collectives.BAR),
        two_nodes.ROWS,
        two_nodes.LARGE,
        shaped.ROWS,
        waits.SHORT,
        start.rows_of(32, 1.5),
    ],
)
def test_comparisons_fit_80_columns(
    rows: list[pairs.Row], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show.out, "width", 80)
    keys = [best + key for row in rows for key in (row.key, row.against) for best in ("", jobs.BEST)]
    close = [
        (dict.fromkeys(keys, 1e-4 * x) | {jobs.OTHERS: 0.5}, dict.fromkeys(keys, 1.01e-4))
        for x in (1, 1, 1, 2, 2, 2, 2)
    ]
    best = rows in (two_nodes.ROWS, two_nodes.LARGE)
    show.section("x", show.comparison_table("Wattle", "peer", pairs.compare(rows, close), best=best))
    said = capsys.readouterr().out
    assert "missed" in said and "…" not in said
    assert max(len(line.rstrip()) for line in said.splitlines()) <= 80
    assert [row.label for row in rows if row.label not in said] == []


def test_growth_of_memory_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show.out, "width", 80)
    show.section("x", memory.growth_table(memory.growth(samples_of(2, 3e6, 1e6, 300), judge=True)))
    said = capsys.readouterr().out
    assert "256 B missed" in said and "…" not in said
    assert max(len(line.rstrip()) for line in said.splitlines()) <= 80
