"""`wattle history` orders runs by commit, host and date, and a damaged directory does not stop the others."""

import json
import subprocess

import fakes
import pytest
from wattle.base.errors import DamagedFile
from wattle.history import found
from wattle.history.page import build
from wattle.html.page import render
from wattle.record import manifest, repository

COMMITS = [f"{k}" * 40 for k in range(1, 6)]


def make_run(directory, commit=None, day=1, factor=1.0, *, joules=1.0, repeat=0, dirty=False, known=True, **more):
    """A run of two PEs at a commit, with `factor` times the time and `joules` times the joules."""
    at = 1 + repeat / 1000

    def figure(domain, value):
        return fakes.figure(domain, value * joules * at if known else None, uncertainty=0.02)

    node = fakes.node([figure("cpu", 40.0), figure("dram", 8.0)], [figure("cpu", 19.0), figure("dram", 4.0)])
    own = {"joules": [figure("cpu", 10.0), figure("dram", 2.0)]}
    pes = [fakes.pe_profile(pe, node=node if pe == 0 else None, wall_s=2.0 * factor * at, **own) for pe in range(2)]
    git = {"git": {"commit": commit, "dirty": dirty}} if commit else {}
    return fakes.make_run(directory, pes, started=f"2026-01-{day:02d}T12:00:{repeat:02d}Z", **git, **more)


def make_commits(folder, factors=(1.0, 1.0, 1.2)):
    for day, factor in enumerate(factors, 1):
        for k in range(5):
            place = folder / f"day-{day}" / f"run-{k}"
            make_run(place, COMMITS[day], day, factor, joules=factor, repeat=k)
    return folder


def test_runs_of_a_commit_and_day_are_repeats_and_a_change_beyond_noise_is_shown(tmp_path):
    (series,) = found.read([make_commits(tmp_path)]).series
    assert series.title == "halo 64, 2 PEs on node0"
    assert [entry.commit for entry in series.entries] == ["22222222", "33333333", "44444444"]
    assert [entry.time.n for entry in series.entries] == [5, 5, 5]
    first, same, slower = (entry.changes for entry in series.entries)
    assert first is None
    assert {str(change.verdict) for change in same} == {"within uncertainty"}
    assert [round(change.saving_percent) for change in slower] == [-20, -20]
    assert {str(change.verdict) for change in slower} == {"beyond uncertainty"}


def test_runs_of_an_unknown_or_changed_commit_are_lines_of_their_own(tmp_path):
    for k in range(3):
        make_run(tmp_path / f"none-{k}", repeat=k)
        make_run(tmp_path / f"changed-{k}", COMMITS[0], repeat=10 + k, dirty=True)
    (series,) = found.read([tmp_path]).series
    assert [entry.commit for entry in series.entries] == ["-"] * 3 + ["11111111+"] * 3
    assert series.entries[-1].as_dict()["dirty"] is True


def test_other_programs_hosts_and_settings_are_other_tables(tmp_path):
    make_run(tmp_path / "a", COMMITS[0])
    make_run(tmp_path / "b", COMMITS[0], command=["/another/folder/halo", "64"])
    make_run(tmp_path / "c", COMMITS[0], command=["./halo", "65"])
    make_run(tmp_path / "d", COMMITS[0], host={"name": "node1"})
    make_run(tmp_path / "e", COMMITS[0], set={"WATTLE_WAIT": "spin", "WATTLE_PROFILE": "on"})
    titles = [series.title for series in found.read([tmp_path]).series]
    assert titles == [
        "halo 64, 2 PEs on node0",
        "halo 64, 2 PEs on node1",
        "halo 64, 2 PEs, WATTLE_WAIT=spin on node0",
        "halo 65, 2 PEs on node0",
    ]


def test_a_program_that_failed_is_shown_and_compared_with_none(tmp_path, wattle):
    make_run(tmp_path / "a", COMMITS[0], day=1)
    make_run(tmp_path / "b", COMMITS[1], day=2, exit_code=134, factor=0.1)
    make_run(tmp_path / "c", COMMITS[2], day=3)
    (series,) = found.read([tmp_path]).series
    assert series.entries[1].changes is None
    assert series.entries[2].changes[0].saving_percent == 0.0
    assert "exit code 134" in wattle("history", tmp_path).stdout


def test_the_table_fits_80_columns_and_has_no_colour_in_a_pipe(tmp_path, wattle):
    make_commits(tmp_path)
    make_run(tmp_path / "x", COMMITS[4], day=9, label="a release", known=False)
    done = wattle("history", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "-20.0 %" in done.stdout and "joules, mixed" in done.stdout and "~48.1" in done.stdout


def test_a_directory_that_cannot_be_read_is_one_line_and_does_not_stop_the_others(tmp_path, wattle):
    make_run(tmp_path / "runs/a", COMMITS[0])
    damaged, other = make_run(tmp_path / "runs/b"), fakes.make_run(tmp_path / "runs/c", kind="study")
    (damaged / "profile/pe-00001.json").write_text("{")
    (tmp_path / "empty").mkdir()
    done = wattle("history", "--json", tmp_path / "runs", tmp_path / "empty", tmp_path / "nowhere")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert [run["commit"] for series in document["series"] for run in series["runs"]] == [COMMITS[0]]
    whys = {skipped["directory"]: skipped["why"] for skipped in document["skipped"]}
    assert set(whys) == {str(path) for path in (damaged, other, tmp_path / "empty", tmp_path / "nowhere")}
    assert "not of a run" in whys[str(other)] and "does not exist" in whys[str(tmp_path / "nowhere")]
    assert done.stderr.count("\n") == 4 and done.stderr.count("; left out") == 4


def test_no_run_at_all_ends_with_one_line(tmp_path, wattle):
    done = wattle("history", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "holds no directory of `wattle run`" in done.stderr


def test_a_run_given_twice_counts_once(tmp_path):
    place = make_run(tmp_path / "runs/a", COMMITS[0])
    (series,) = found.read([place, tmp_path / "runs", tmp_path]).series
    assert series.entries[0].time.n == 1


def test_the_page_has_a_chart_of_time_and_of_joules_for_each_table(tmp_path, wattle):
    make_commits(tmp_path / "runs")
    make_run(tmp_path / "runs/x", COMMITS[4], day=9, host={"name": "node1"}, known=False)
    page = build(found.read([tmp_path / "runs"]))
    assert [figure.id for figure in page.figures] == ["time-1", "joules-1", "time-2"]
    assert "time rose by 20.0 % at 44444444" in page.summary
    html = render(page)
    assert "Manifest</h2>" not in html and "model sandybridge-e5-2670" in html
    target = tmp_path / "history.html"
    assert wattle("history", tmp_path / "runs", "--html", target).returncode == 0
    assert "44444444" in target.read_text(encoding="utf-8")
    done = wattle("history", tmp_path / "runs", "--html", tmp_path)
    assert done.returncode == 2 and "is a directory; give a file with --html" in done.stderr


# ---- the commit in the manifest ----


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one commit."""
    place = tmp_path / "checkout"
    place.mkdir()
    (place / "halo.c").write_text("int main(void) { return 0; }\n")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "halo.c"], ["commit", "-q", "-m", "First"]):
        subprocess.run([*git, *words], cwd=place, check=True)
    monkeypatch.chdir(place)
    monkeypatch.setattr(repository, "LONGEST_S", 300.0)  # git starts late where other programs use all cores
    repository.here.cache_clear()
    yield place
    repository.here.cache_clear()


def test_the_manifest_has_the_commit_and_whether_files_differ_from_it(checkout, tmp_path):
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    (checkout / "notes").write_text("not under version control\n")
    assert repository.here() == {"commit": head, "dirty": False}
    (checkout / "halo.c").write_text("changed\n")
    repository.here.cache_clear()
    record = manifest.start("run", ["./halo"], 2)
    assert record.git == {"commit": head, "dirty": True}
    manifest.write(tmp_path, record)
    assert manifest.read(tmp_path).git == record.git


def test_outside_a_repository_or_before_the_first_commit_there_is_none(tmp_path, monkeypatch):
    for place in ("plain", "begun"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        if place == "begun":
            subprocess.run(["git", "init", "-q"], check=True)
        repository.here.cache_clear()
        assert repository.here() is None
    repository.here.cache_clear()


def test_a_commit_that_is_none_is_refused(tmp_path):
    for commit in ("", "HEAD", "1" * 39, None):
        with pytest.raises(DamagedFile, match=r"manifest\.json: git"):
            manifest.read(fakes.make_run(tmp_path, git={"commit": commit}))


def test_run_keeps_its_label_and_refuses_a_long_one(wattle, tmp_path):
    assert wattle("run", "--label", "a release", "-o", tmp_path / "run", "--", "/bin/true").returncode == 0
    assert manifest.read(tmp_path / "run").extra["label"] == "a release"
    for label in ("", "x" * 65):
        done = wattle("run", "--label", label, "--", "/bin/true")
        assert done.returncode == 2 and "expected 1 to 64 characters" in done.stderr
