"""`wattle study barrier`, `slack`, `race`, `receiver` and `pascol`, with programs that print given figures."""

from __future__ import annotations

import itertools
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import bare_rows
import fakes
import polars as pl
import pytest
import sweeps
from fakes import Wattle
from wattle.base.errors import DamagedFile
from wattle.study.barrier import judges as barrier_judges
from wattle.study.pascol import judges as pascol_judges
from wattle.study.place import TWO_NODES, Place
from wattle.study.published import Verdict
from wattle.study.race import judges as race_judges
from wattle.study.receiver import judges as receiver_judges
from wattle.study.site import HERE
from wattle.study.stats import line
from wattle.study.sweep import analysis as sweep_analysis
from wattle.study.sweep import course as sweep
from wattle.study.sweep.analysis import SCHEMA, WAITS
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.knob import Knob
from wattle.study.sweep.plan import MODES, SCALINGS, Job, Plan

STUDIES = tuple(sweeps.SWEEPS)


def clocks(knob: str, why: str = "") -> dict:
    return {"mode": "baseline", "scaling": "reactive", "knob": knob, "why": why}


@pytest.fixture
def says(home: Path, environment: dict[str, str], tmp_path: Path) -> Path:
    """Stand-ins for the programs, on a machine without a knob; the file they write into what they were asked for."""
    sweeps.programs(home)
    environment["FAKE_TEMPLATE"] = json.dumps(fakes.pe_profile(clocks=clocks("none", "no clocks here")))
    environment["FAKE_SAYS"] = str(tmp_path / "says")
    return tmp_path / "says"


def asked(says: Path) -> list[dict]:
    return [json.loads(text) for text in says.read_text().splitlines()]


def verdicts(study: str, physics: sweeps.Physics, **keywords: object) -> dict[str, Verdict]:
    made = sweeps.analysis(study, physics, **keywords)
    return {row.id: row.verdict for row in bare_rows.judge(sweeps.SWEEPS[study].rows, made)}


# ---- the command ----


def test_a_job_without_a_profile_has_no_known_knob(says, wattle: Wattle, tmp_path):
    done = wattle("study", "slack", "--quick", "-o", tmp_path / "out", env={"FAKE_TEMPLATE": ""})
    assert done.returncode == 2
    assert "nothing says how many PEs there were" in done.stderr or "reported no clocks" in done.stderr


@pytest.mark.soak  # by the engine of all studies: test_study_patterns.py
def test_samples_are_kept_without_a_reader(says, unheard, tmp_path):
    unheard("study", "slack", "--quick", "--rounds", 1, "-o", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 0
    assert pl.read_parquet(tmp_path / "out" / "samples.parquet").height > 0


def test_without_a_knob_every_wait_policy_runs_and_it_is_reported(says, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "receiver", "--quick", "--rounds", 1, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "no clock can be set here (no clocks here)" in " ".join(done.stderr.split())
    assert "The reasons are in the report." in " ".join(done.stdout.split())
    frame = pl.read_parquet(out / "samples.parquet")
    assert dict(frame.schema) == SCHEMA
    assert set(frame["wait"]) == set(WAITS)
    assert frame["clock"].null_count() == frame.height
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["study"]["knob"]["acts"] is False
    results = json.loads((out / "results.json").read_text())
    assert {row["verdict"] for row in results["published"]} == {"not testable"}
    assert all("no clock can be set here" in row["why"] for row in results["published"])
    assert [e["settings"]["WATTLE_PROGRESS"] for e in asked(says) if "agent" in e["words"]] == ["agent"] * (
        len(WAITS) + 1  # its phases are metered in a job of their own
    )


def test_modes_run_with_a_knob_that_records_where_none_acts(says):
    for study in ("barrier", "slack"):
        jobs = sweeps.SWEEPS[study].jobs(Plan(True, 1, sweeps.NO_KNOB))
        governed = [job for job in jobs if job.mode in MODES]
        assert {(j.mode, j.scaling) for j in governed} == {(m, s) for m in MODES for s in SCALINGS}
        assert {job.wait for job in jobs if job.mode == "off"} == set(WAITS)
        assert all(job.environment(False)["WATTLE_KNOB"] == "record" for job in governed)
        assert all("WATTLE_KNOB" not in job.environment(True) for job in governed)


def test_with_a_knob_every_clock_is_asked_for(says):
    jobs = sweeps.SWEEPS["race"].jobs(Plan(False, 1, sweeps.KNOB))
    for series in (race_judges.JOBS, race_judges.PROCESSES, race_judges.PHASES):
        some = [j for j in jobs if j.series == series and j.clock is not None]
        assert {j.clock for j in some} == set(sweeps.KNOB.clocks)
        assert all(dict(j.settings)["WATTLE_CLOCKS"].endswith(f"={j.clock:g}") for j in some)
    assert {j.mode for j in jobs} == {"off", "standard", "reduced", "hybrid"}


def test_jobs_are_judged_up_to_the_base_clock_and_say_why_they_differ(says):
    """Uses a machine whose programs depend on the clock alone, so that all of them gain."""
    jobs = sweeps.SWEEPS["race"].jobs(Plan(True, 1, sweeps.KNOB))
    assert {j.clock for j in jobs if j.series == race_judges.JOBS} >= {None, 1.2, 2.6}
    made = sweeps.analysis("race", lambda job, *_: (2.6 / (job.clock or 2.6), 1.0))
    rows = {row.id: row for row in bare_rows.judge(sweeps.SWEEPS["race"].rows, made)}
    for name in ("job-time", "job-plateau"):
        assert rows[name].verdict == Verdict.WORSE
        assert "solvers" in rows[name].why
    assert "+53.8 %" in rows["job-time"].ours and "to 2.9 GHz" not in rows["job-time"].ours


def test_rings_run_in_the_papers_four_schemes_and_by_size(monkeypatch):
    monkeypatch.delenv("WATTLE_MACHINE", raising=False)
    for knob, records in ((sweeps.KNOB, {None}), (sweeps.NO_KNOB, {"record"})):
        jobs = sweeps.SWEEPS["pascol"].jobs(Plan(True, 1, knob))
        asked_for = {(j.wait, dict(j.settings).get("WATTLE_TRANSFERS")) for j in jobs}
        assert asked_for == {
            ("spin", None),
            ("sleep", None),
            ("spin", "scale"),
            ("sleep", "scale"),
            ("adaptive", "aware"),
        }
        assert {dict(j.settings).get("WATTLE_KNOB") for j in jobs if j.mode == "scale"} == records
        assert {dict(j.settings)["WATTLE_MACHINE"] for j in jobs} == {"nw-ice"}
        assert {j.arguments[1] for j in jobs} == set(pascol_judges.OPS)


def test_a_crossover_holds_for_all_larger_sizes():
    def once_more(job, name, who, x, y):
        seconds, joules = sweeps.as_published(job, name, who, x, y)
        return seconds, joules * (1.5 if x == 4**9 and job.wait == "sleep" else 1)

    usual = sweeps.analysis("pascol", sweeps.as_published, quick=False)
    assert {op: pascol_judges.crossover(usual, op) for op in pascol_judges.OPS} == pascol_judges.OPS
    dented = sweeps.analysis("pascol", once_more, quick=False)
    assert {pascol_judges.crossover(dented, op) for op in pascol_judges.OPS} == {2**19}
    assert pascol_judges.learned(usual, "get") == pascol_judges.OPS["get"]


def test_samples_that_spread_too_far_give_no_crossover():
    turns = itertools.count()

    def now_and_then_more(job, name, who, x, y):
        seconds, joules = sweeps.as_published(job, name, who, x, y)
        is_it = x == 4**10 and job.wait == "sleep" and job.mode == "off" and next(turns) % 4 == 0
        return seconds, joules * (1.5 if is_it else 0.5)

    found = sweeps.analysis("pascol", now_and_then_more, quick=False, knob=sweeps.NO_KNOB)
    assert {pascol_judges.crossover_words(found, op) for op in pascol_judges.OPS} == {"unclear"}
    rows = {row.id: row for row in bare_rows.judge(sweeps.SWEEPS["pascol"].rows, found)}
    assert rows["crossover-put"].verdict is Verdict.NOT_TESTABLE
    assert {bar.verdict for bar in sweeps.SWEEPS["pascol"].judge_bars(found)} == {Verdict.NOT_TESTABLE}
    assert "x polling's energy at 1.00 MiB" in rows["crossover-put"].why


def test_reasons_say_in_which_direction_samples_differ():
    def sleeping_always_wins(job, name, who, x, y):
        seconds, joules = sweeps.as_published(job, name, who, x, y)
        share = 0.1 if job.wait == "sleep" else 1
        return seconds * share, joules * share

    across = sweeps.analysis("pascol", sleeping_always_wins, quick=False, place=Place("two-nodes", "1gbit"))
    rows = {row.id: row for row in bare_rows.judge(sweeps.SWEEPS["pascol"].rows, across)}
    for name in ("crossover-put", "saved-put-off", "small-energy"):
        assert rows[name].verdict is Verdict.WORSE
        assert "a transfer takes longer" in rows[name].why


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ((1.04,), Verdict.SAME),
        ((0.96,), Verdict.SAME),
        ((1.2,), Verdict.WORSE),
        ((0.54,), Verdict.WORSE),  # as much shorter is no convergence either
        ((0.5, 1.5, 0.6, 1.4, 1.0), Verdict.NOT_TESTABLE),
    ],
)
def test_latencies_converge_from_both_sides(times, verdict):
    turns = itertools.count()

    def other_latency(job, name, who, x, y):
        slept = job.wait == "sleep"
        small = 3 if x <= 1024 else 1  # before it converges
        return 1e-4 * (small * times[next(turns) % len(times)] if slept else 1), 1e-3

    found = verdicts("pascol", other_latency, quick=False)
    assert {v for name, v in found.items() if name.startswith("latency-")} == {verdict}


def test_on_one_node_no_row_is_judged_and_no_crossover_reported():
    here = sweeps.analysis("pascol", sweeps.as_published, quick=False, place=Place())
    rows = bare_rows.judge(sweeps.SWEEPS["pascol"].rows, here)
    assert {row.verdict for row in rows} == {Verdict.NOT_TESTABLE}
    assert all("by chance only" in row.why for row in rows)
    assert {pascol_judges.crossover_words(here, op) for op in pascol_judges.OPS} == {"-"}
    assert "there is no crossover" in sweeps.SWEEPS["pascol"].says(here)
    simulated = replace(sweeps.KNOB, name="simgrid")
    assert pascol_judges.crossover(sweeps.analysis("pascol", sweeps.as_published, simulated), "put")


def test_simulated_rings_are_more_than_one():
    for quick in (False, True):
        simulated = replace(Plan(quick, 1, sweeps.KNOB), machine=SimpleNamespace())
        for job in sweeps.SWEEPS["pascol"].jobs(simulated):
            assert float(job.arguments[job.arguments.index("--least") + 1]) > 0


def test_thresholds_that_too_few_trials_were_made_for_are_not_learned(tmp_path):
    folder = tmp_path / "profile"
    folder.mkdir()
    for trials, facts in ((0, {}), (3, {}), (4, {"thresholds": pascol_judges.OPS})):
        transfers = fakes.transfers(**pascol_judges.OPS, trials=trials)
        (folder / "pe-00000.json").write_text(json.dumps(fakes.pe_profile(n_pes=1, transfers=transfers)))
        assert sweep_analysis.thresholds_of(tmp_path, 1) == facts
    never = sweeps.analysis("pascol", sweeps.as_published, learns=False)
    assert pascol_judges.learned(never, "put") is None
    _, heads, lines = sweeps.SWEEPS["pascol"].table(never)
    assert {line[heads.index("learned")] for line in lines} == {"-"}
    assert "No threshold was learned for put, get, acc, strided" in sweeps.SWEEPS["pascol"].says(never)


def test_rings_between_nodes_count_both_nodes_idle_draw(says, monkeypatch, home):
    line = {"kind": "sample", "name": "put", "x": 8.0, "repeat": 0, "seconds": 0.1, "cpu_s": 0.1, "verified": True}
    figure = {"source": "model made-up", "provenance": "modelled", "uncertainty": 0.1, "interval_s": 1, "covered_s": 1}
    line["energy"] = [
        {"domain": domain, "scope": scope, "joules": 1.0, **figure}
        for domain, scope in (("cpu", "process"), ("dram", "process"), ("cpu-idle", "node"), ("dram-idle", "node"))
    ]
    monkeypatch.setattr(sweep.sweep_jobs, "run", lambda *words: iter([line]))
    job = Job("ring", "pascol", (), 1)
    made = Sweep(name="pascol", title="", question="", jobs=lambda plan: [job], rows=(), table=lambda a: ("", [], []))
    found = {}
    for place in (Place(), Place(TWO_NODES)):
        monkeypatch.setattr(sweep, "opened", lambda place: nullcontext(HERE))
        gathered = sweep.Gathered()
        sweep._gather(made.name, [job], Plan(True, 1, sweeps.NO_KNOB, place=place), gathered)
        found[place.across] = gathered.rows[0]["idle_J"]
    assert found == {False: 2.0, True: 4.0}


def test_the_receivers_clocks_are_the_papers_as_near_as_there_are():
    assert receiver_judges.wanted_clocks(sweeps.KNOB) == (1.2, 2.4, 2.9)
    assert receiver_judges.wanted_clocks(sweeps.NO_KNOB) == ()
    jobs = sweeps.SWEEPS["receiver"].jobs(Plan(True, 1, sweeps.KNOB))
    assert {dict(j.settings).get("WATTLE_CLOCK_DOMAIN") for j in jobs} == {None, "package"}


def test_all_jobs_are_given_the_same_amount_of_work(home, monkeypatch):
    """The work of a millisecond is measured once, so that it takes longer at a slower clock."""
    words: list[list[str]] = []

    def run(home, name, arguments, pes, environment, folder, machine, at=None):
        words.append(list(arguments))
        yield {"kind": "setup", "turns": 1234.5}
        for job in jobs:
            if "--turns" in arguments and job.arguments[-1] == arguments[-1]:
                line = {"kind": "sample", "repeat": 0, "seconds": 0.1, "cpu_s": 0.1, "verified": True, "energy": None}
                yield from [line] * job.samples
                return

    plan = Plan(True, 1, sweeps.NO_KNOB)
    jobs = [job for job in sweeps.SWEEPS["slack"].jobs(plan) if job.pes == 2][:3]
    monkeypatch.setattr(sweep.sweep_jobs, "run", run)
    made = Sweep(name="slack", title="", question="", jobs=lambda plan: jobs, rows=(), table=lambda a: ("", [], []))
    gathered = sweep.Gathered()
    sweep._gather(made.name, jobs, plan, gathered)
    assert "--turns" not in words[0]
    assert [w[w.index("--turns") + 1] for w in words[1:]] == ["1234.5"] * 3
    assert len(gathered.rows) == sum(job.samples for job in jobs)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("fails", ["exit code 1", "no memory for anything"]),
        ("forgets", ["gave", "where"]),
        ("odd", ["seconds", "expected a number"]),
    ],
)
def test_a_program_that_misbehaves_ends_the_study_with_its_own_words(says, wattle: Wattle, tmp_path, mode, words):
    done = wattle("study", "receiver", "--quick", "-o", tmp_path / "out", env={"FAKE_SWEEP": mode})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, word


@pytest.mark.soak  # by the engine of all studies: test_study_versions.py
def test_a_wrong_result_is_reported_first(says, wattle: Wattle, tmp_path):
    done = wattle("study", "receiver", "--quick", "--rounds", 1, "-o", tmp_path / "out", env={"FAKE_SWEEP": "wrong"})
    assert "no result below can be trusted" in " ".join(done.stdout.split())
    assert json.loads((tmp_path / "out" / "results.json").read_text())["verified"] is False


@pytest.mark.soak  # by the engine of all studies: test_study_patterns.py
def test_an_interrupted_study_says_how_far_it_came(says, interrupted, wattle: Wattle, tmp_path):
    done = interrupted("receiver", tmp_path / "out", FAKE_SWEEP="stops")
    assert done.returncode == 130
    assert "interrupted after 0 of" in done.stderr
    assert "was interrupted" in wattle("report", tmp_path / "out").stderr


def test_a_wrong_number_of_rounds_is_named(says, wattle: Wattle, tmp_path):
    done = wattle("study", "barrier", "--rounds", 0, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "--rounds 0: allowed are 1 to 1000" in done.stderr


# ---- what the samples say ----


@pytest.mark.parametrize("study", ["slack", "race", "receiver", "pascol"])
def test_modelled_joules_judge_no_row_about_clocks(study):
    measured = verdicts(study, sweeps.as_published)
    modelled = verdicts(study, sweeps.as_published, provenance="modelled")
    lost = {k for k, v in modelled.items() if v is Verdict.NOT_TESTABLE}
    assert lost
    assert all(measured[k] is modelled[k] for k in set(measured) - lost)


@pytest.mark.parametrize("study", STUDIES)
def test_a_meter_without_joules_leaves_the_rows_about_time(study):
    found = verdicts(study, sweeps.as_published, provenance="unavailable")
    assert Verdict.SAME in found.values() or study in ("barrier", "budget")  # without a published row about time
    assert found.get("time-linear", Verdict.NOT_TESTABLE) is Verdict.NOT_TESTABLE


def test_counted_instructions_rise_with_the_wait():
    def more(job: Job, x: float | None) -> dict:
        return {"counted": [1e6 * (x or 0), 2e5 * (x or 0), None]}

    found = verdicts("barrier", sweeps.as_published, more=more)
    assert found["instructions"] is found["branches"] is Verdict.SAME


@pytest.mark.parametrize(("not_taken", "verdict"), [(0.25, Verdict.SAME), (0.75, Verdict.WORSE)])
def test_more_branches_must_be_taken_than_not_where_that_is_counted(not_taken, verdict):
    def more(job: Job, x: float | None) -> dict:
        return {"counted": [1e6 * (x or 0), 2e5 * (x or 0), not_taken * 2e5 * (x or 0)]}

    assert verdicts("barrier", sweeps.as_published, more=more)["branches"] is verdict


def test_the_line_through_the_samples_is_the_line_they_lie_on():
    made = line([1.0, 2.0, 3.0, 4.0], [32.0, 65.0, 98.0, 131.0])
    assert (made.slope, made.intercept, made.r2) == pytest.approx((33.0, -1.0, 1.0))
    assert line([1.0, 2.0], [1.0, 2.0]) is None
    assert line([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]) is None


def test_a_fit_is_printed_with_its_r2_and_provenance():
    fits = barrier_judges.fits(sweeps.analysis("barrier", sweeps.as_published))
    spin = next(f for f in fits if f.policy == "spin" and f.what == "time, node")
    assert spin.slope == pytest.approx(33.1446, rel=0.01)
    assert "r2 = 0.99" in spin.words or "r2 = 1.0" in spin.words
    assert {f.provenance for f in fits} == {"measured"}


@pytest.mark.parametrize(("study", "head"), [("barrier", "clock changes in a job"), ("slack", "changes in a job")])
def test_changes_of_a_knob_that_only_records_are_reported_to_be_only_recorded(study, head):
    def last_head(knob: Knob) -> str:
        return sweeps.SWEEPS[study].table(sweeps.analysis(study, sweeps.as_published, knob=knob))[1][-1]

    assert last_head(sweeps.KNOB) == head
    assert last_head(Knob("record", "")) == last_head(sweeps.NO_KNOB) == f"{head}, only recorded"


def test_some_of_the_clocks_have_both_ends():
    knob = Knob("cpufreq", "", tuple(1 + k / 10 for k in range(16)))
    assert (knob.some(3)[0], knob.some(3)[-1], len(knob.some(3))) == (1.0, 2.5, 3)
    assert knob.some(99) == knob.clocks


def test_a_damaged_study_is_named_with_the_mistake(tmp_path):
    out = sweeps.make_study(tmp_path / "out", "barrier", sweeps.as_published)
    frame = pl.read_parquet(out / "samples.parquet").with_columns(pl.lit("nap").alias("wait"))
    frame.write_parquet(out / "samples.parquet")
    from wattle.record import manifest

    with pytest.raises(DamagedFile, match="wait policy"):
        sweeps.SWEEPS["barrier"].load(out, manifest.read(out))
