"""`wattle reproduce`: all studies in one directory, continued after an interruption, with one page and one archive."""

from __future__ import annotations

import json
import signal
import tarfile
from pathlib import Path

import fakes
import polars as pl
import pytest
import studies
from fakes import Wattle
from tree import ROOT
from wattle.base.errors import WattleError
from wattle.reproduce import archive, columns, gathered, guidelines, page, plan, state
from wattle.reproduce.plan import Step
from wattle.reproduce.state import Result, State
from wattle.study import registry


@pytest.fixture
def bench(home: Path) -> Path:
    """A made-up benchmark of the patterns, beside a shared folder that the other studies lack."""
    return fakes.script(home / "bin" / "wattle-bench-patterns", studies.BENCH)


def made(tmp_path: Path, *names: str) -> State:
    """A reproduction of finished studies of the patterns at places of these names."""
    wanted = State(tmp_path / "rep", True, list(names), ["patterns"], "A. Author")
    wanted.directory.mkdir()
    for name in names:
        step = Step("patterns", name, 1.0)
        studies.make_study(wanted.folder(step))
        wanted.results.append(Result("patterns", name, state.DONE, 12.5))
    return wanted


# ---- the plan ----


def test_every_study_is_run_here_and_simulated():
    found = plan.steps(plan.studies(None), ["local", "sim"], True)
    assert {step.name for step in found} == {
        f"{study}-{on}" for study in registry.commands() for on in ("local", "sim")
    }
    times = [step.usual_s for step in found if step.usual_s is not None]
    assert times == sorted(times)
    assert all(step.usual_s is None for step in found[len(times) :])


def test_the_estimate_names_the_studies_whose_time_is_not_known(monkeypatch):
    monkeypatch.setattr(plan, "USUAL", {"am": {"local": (30.0, 7200.0)}})
    known, unknown = Step("am", "hosts:a,b", *plan.usual("am", "hosts:a,b", False)), Step("new", "sim", None)
    assert plan.left_in_words([known, unknown]) == "about 2.0 h, and 1 whose time is not known"
    assert plan.left_in_words([known], 0.5) == "about 60 min"
    assert plan.left_in_words([unknown]) == "an unknown time for 1"


def test_a_time_says_whether_it_was_measured_at_its_place(monkeypatch, wattle: Wattle):
    monkeypatch.setattr(plan, "USUAL", {"am": {"local": (30.0, 7200.0), "sim": (7.0, 44.0)}})
    assert plan.usual("am", "local", True) == (30.0, plan.MEASURED)
    assert plan.usual("am", "local", False) == (7200.0, plan.IN_PART)
    assert plan.usual("am", "sim", False) == (44.0, plan.MEASURED)
    monkeypatch.setattr(plan, "SCALED", {("am", "local")})
    assert plan.usual("am", "local", False) == (7200.0, plan.BY_QUICK)
    assert plan.usual("am", "local", True) == (30.0, plan.MEASURED)
    for place in ("hosts:a,b", "two-nodes"):
        assert plan.usual("am", place, True) == (30.0, plan.AS_LOCAL)
    assert plan.usual("am", "sim:mine.toml", True) == (7.0, plan.AS_DEFAULT)
    assert plan.usual("new", "hosts:a,b", True) == (None, "")
    done = wattle("reproduce", "--hosts", "a,b", "--only", "am", "--list", "--quick")
    assert plan.AS_LOCAL in done.stderr and plan.MEASURED in done.stderr


def test_a_step_gives_the_study_its_place():
    assert Step("am", "hosts:a,b", 1).options(False) == ["am", "--hosts", "a,b"]
    assert Step("am", "sim:x.toml", 1).options(True) == ["am", "--on", "sim:x.toml", "--quick"]
    assert Step("am", "hosts:a,b", 1).name == "am-hosts-a"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on", "moon"], "--on moon: 'moon' is not a place; allowed: local, two-nodes, sim:CLUSTER"),
        (["--only", "none"], "--only none: 'none' is not a study; there are "),
        (["--hosts", "a,a"], "--hosts a,a: a is named twice"),
    ],
)
def test_wrong_options_are_one_line(wattle: Wattle, words, said):
    done = wattle("reproduce", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"wattle: {said}")
    assert done.stderr.count("\n") == 1


def test_the_list_gives_an_estimate_and_starts_nothing(wattle: Wattle, tmp_path):
    done = wattle("reproduce", "--list", "--hosts", "n1,n2", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert "hosts:n1,n2" in done.stderr
    assert ", on two cores that other work keeps busy" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


# ---- a run ----


def test_a_reproduction_leaves_a_page_an_archive_and_every_study(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("reproduce", "--only", "patterns", "--on", "local", "--quick", "--author", "A. B.", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 studies complete" in done.stdout
    text = (out / page.FILE).read_text()
    assert "Verdicts by chapter" in text
    with tarfile.open(out / f"{archive.NAME}.tar.gz") as packed:
        files = {m.name.removeprefix(f"{archive.NAME}/"): packed.extractfile(m).read() for m in packed.getmembers()}
    assert {"README.md", "CITATION.cff", page.FILE, state.FILE} <= set(files)
    assert {f"studies/patterns-local/{name}" for name in archive.KEPT} <= set(files)
    assert 'name: "A. B."' in files["CITATION.cff"].decode()
    frame = pl.read_parquet(out / "studies/patterns-local/samples.parquet")
    assert all(f"| `{name}` |" in files["README.md"].decode() for name in frame.columns)


def test_an_interrupted_one_continues_with_the_studies_that_are_not_complete(bench, environment, wattle, tmp_path):
    out, ready = tmp_path / "out", tmp_path / "ready"
    words = ["reproduce", "--only", "patterns", "--on", "local", "--quick", "-o", str(out)]
    process = fakes.started(words, environment | {"FAKE_BENCH": "stops 12", "FAKE_READY": str(ready)})
    fakes.until_there(ready, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert f"interrupted; 1 of 1 studies left: `wattle reproduce -o {out}` continues" in err
    assert "has not run yet" in (out / page.FILE).read_text()
    done = wattle("reproduce", "-o", out)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / state.FILE).read_text())["quick"] is True
    before = (out / "studies/patterns-local/manifest.json").read_text()
    assert json.loads(before)["exit_code"] == 0
    done = wattle("reproduce", "-o", out)
    assert done.returncode == 0
    assert (out / "studies/patterns-local/manifest.json").read_text() == before  # complete: not run again


def test_options_that_differ_from_those_it_began_with_are_refused(bench, wattle: Wattle, tmp_path):
    made(tmp_path, "local").write()
    done = wattle("reproduce", "-o", tmp_path / "rep", "--on", "sim")
    assert done.returncode == 2
    assert "was begun with another --hosts or --on (local); leave the option out to continue" in done.stderr
    done = wattle("reproduce", "-o", tmp_path / "rep", "--only", "slack")
    assert "was begun with another --only (patterns)" in done.stderr


def test_a_study_that_fails_is_on_the_page_and_the_others_go_on(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    words = ("reproduce", "--only", "patterns", "--on", "local,sim", "--quick", "-o", out)  # no simulator in this home
    done = wattle(*words)
    assert done.returncode == 1
    assert "patterns on sim: exit code 2: wattle: wattle sim is unavailable" in " ".join(done.stderr.split())
    found = {r["on"]: r["state"] for r in json.loads((out / state.FILE).read_text())["results"]}
    assert found == {"local": "done", "sim": "failed"}
    assert "wattle sim is unavailable" in (out / page.FILE).read_text()


# ---- the page ----


def test_places_stand_side_by_side_with_their_verdicts_and_figures(tmp_path):
    wanted = made(tmp_path, "local", "sim")
    steps = [Step("patterns", name, 1.0) for name in wanted.on]
    (study,) = gathered.read(wanted, steps)
    assert [found.step.on for found in study.done] == ["local", "sim"]
    assert all(len(row["at"]) == 2 and all(row["at"]) for row in study.rows)
    assert all([figure.title.rpartition(", ")[2] for figure in group] == wanted.on for group in study.figures)
    ids = [figure.id for group in study.figures for figure in group]
    assert len(set(ids)) == len(ids) > 0
    built = page.build(wanted, [study])
    tiles = built.content["rows_of_tiles"]
    assert [(head, [place["on"] for place in places]) for head, places in tiles] == [
        (page.REAL, ["local"]),
        (page.SIMULATED, ["sim"]),
    ]
    for tile in (tile for _, places in tiles for place in places for tile in place["tiles"]):
        assert tile["chapter"] == "D 8"
        assert sum(tile["tally"].values()) == len(study.rows)
    text = page.write(wanted, steps).read_text()
    assert text.count('<details class="plots">') == 1
    assert text.count('<details class="why">') == sum(bool(at["why"]) for row in study.rows for at in row["at"])


def test_a_finished_study_that_is_damaged_is_named(tmp_path):
    wanted = made(tmp_path, "local")
    step = Step("patterns", "local", 1.0)
    (wanted.folder(step) / "samples.parquet").write_bytes(b"no table")
    (study,) = gathered.read(wanted, [step])
    assert not study.done
    assert "is not a Parquet file" in study.failed[0][1].why


def test_a_damaged_state_is_named(tmp_path):
    (tmp_path / state.FILE).write_text("{}")
    with pytest.raises(WattleError, match=r"reproduce\.json"):
        state.read(tmp_path)


# ---- guidelines and columns ----


def test_each_guideline_names_published_figures_that_exist_or_is_said_to_have_no_test():
    parts = (ROOT / "docs" / "guidelines.md").read_text().split("\n**")
    for rule in guidelines.rules():
        (part,) = (part for part in parts if " ".join(part.split()).startswith(" ".join(rule.rule.split())))
        assert ("*Tested by:*" in part, "*Not tested:*" in part) == (bool(rule.rows), not rule.rows), rule.rule
        for study, key, _ in rule.rows:
            assert key in {figure.id for figure in registry.study(study).rows}, f"{study} {key}"


def test_the_page_of_guidelines_has_every_rule():
    text = " ".join((ROOT / "docs" / "guidelines.md").read_text().split())
    for rule in guidelines.rules():
        assert rule.source.partition(" (")[0] in text
        assert " ".join(rule.rule.split()) in text, rule.rule


def test_a_rule_gives_the_figures_of_each_place_and_not_those_that_cannot_be_tested(tmp_path):
    wanted = made(tmp_path, "local")
    found = guidelines.found(gathered.read(wanted, [Step("patterns", "local", 1.0)]))
    words = {rule.source: rule.found for rule in found if any(study == "patterns" for study, *_ in rule.rows)}
    assert words["D 8.4 (c)"][0][0] == "local"
    assert "up to 1024 fragments: " in words["D 8.4 (c)"][0][1]
    assert all(not rule.found for rule in found if all(study == "receiver" for study, *_ in rule.rows))


def test_every_column_of_every_study_is_described():
    for name in {column for study in registry.commands() for column in registry.study(study).layout.columns}:
        assert columns.words(name), name
        if name.endswith(("_s", "_J")):
            assert columns.unit(name), name


def test_the_author_of_a_citation_may_have_any_characters(tmp_path):
    wanted = made(tmp_path, "local")
    wanted.author = 'O"Neil: "#\n{x}'
    lines = archive.citation(wanted).splitlines()
    (author,) = [line for line in lines if line.startswith("  - name: ")]
    assert json.loads(author.removeprefix("  - name: ")) == wanted.author  # a JSON string is one in YAML
    assert "type: dataset" in lines
