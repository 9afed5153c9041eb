"""Profiles are checked when read: the damaged is named, the missing counted, the unknown stays unknown."""

import json

import fakes
import pytest
from wattle.base.errors import DamagedFile, WattleError
from wattle.record import manifest, profile, runs


def test_a_sound_directory_reads_as_it_was_written(run_dir):
    found = profile.load(run_dir, 2)
    assert [pe.pe for pe in found.pes] == [0, 1]
    assert found.complete
    assert found.wall_s == 2.0
    assert found.domains == ["cpu", "dram"]
    assert found.joules("cpu").joules == 21.0
    assert found.sum("time_s", "transfer") == pytest.approx(0.6)


def test_joules_of_pes_plus_idle_are_the_nodes(run_dir):
    found = profile.load(run_dir)
    for domain in found.domains:
        parts = found.joules(domain).joules + found.idle_joules(domain).joules
        assert parts == pytest.approx(found.node_joules(domain).joules)


def test_an_unknown_number_stays_unknown_in_sums(tmp_path):
    profiles = [fakes.pe_profile(0), fakes.pe_profile(1, wall_s=None, cpu_s=None)]
    profiles[1]["joules"][0] = fakes.figure("cpu", None)
    found = profile.load(fakes.make_run(tmp_path / "r", profiles))
    assert [pe.cpu_s for pe in found.pes] == [pytest.approx(1.6), None]
    assert profile.add(pe.cpu_s for pe in found.pes) is None
    assert not found.joules("cpu").known


def test_pes_without_a_profile_are_named_and_their_joules_are_a_gap(tmp_path):
    found = profile.load(fakes.make_run(tmp_path / "r", [fakes.pe_profile(1, 4), fakes.pe_profile(2, 4)], n_pes=4), 4)
    assert found.missing == [0, 3]
    assert not found.joules("cpu").known


def damage(directory, change):
    path = directory / "profile" / "pe-00001.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda d: d.pop("state_s"), "state_s is missing"),
        (lambda d: d["state_s"].pop("asleep"), "state_s.asleep is missing"),
        (lambda d: d.update(wall_s="2"), "wall_s: expected a number or null, found text"),
        (lambda d: d.update(wall_s=-1), "wall_s: expected at least 0, found -1"),
        (lambda d: d.update(wall_s=True), "wall_s: expected a number or null, found true or false"),
        (lambda d: d.update(schema=9), "schema 9 is unknown"),
        (lambda d: d.update(pe=0), "pe: says 0 of 2 in a file named pe-00001.json"),
        (lambda d: d.update(n_pes=3), "n_pes: says 3"),
        (lambda d: d.update(sites={}), "sites: expected a list, found an object"),
        (lambda d: d["sites"][1].update(kind="x"), r"sites\[1\].kind: expected one of transfer, wait, other"),
        (lambda d: d["sites"][0].update(module=4), r"sites\[0\].module: is 4, but there are only 1 modules"),
        (lambda d: d["sites"][0].update(offset="zz"), r"sites\[0\].offset: expected an address"),
        (lambda d: d["joules"][0].update(joules=None), r"joules\[0\]: joules are null"),
        (lambda d: d["sites"][1].pop("calls"), r"sites\[1\].calls is missing"),
        (lambda d: d["sites"][1].update(calls=-1), r"sites\[1\].calls: expected at least 0, found -1"),
        (lambda d: d["sites"][1].update(calls=1.5), r"sites\[1\].calls: expected a whole number, found a number"),
        (lambda d: d["sites"][1].update(time_s="2"), r"sites\[1\].time_s: expected a number or null, found text"),
        (lambda d: d["sites"][1].update(time_s=-2), r"sites\[1\].time_s: expected at least 0, found -2"),
        (lambda d: d["sites"][1]["wait_s"].pop("spin"), r"sites\[1\].wait_s.spin is missing"),
        (
            lambda d: d["sites"][1]["joules"].update(cpu="2"),
            r"sites\[1\].joules: expected a number or null, found text",
        ),
        (lambda d: d["sites"].append(1), r"sites\[2\]: expected an object, found a number"),
        (lambda d: d.update(paths=[[-1, 0]]), r"paths\[0\]: expected a list of 3 entries, found 2"),
        (lambda d: d.update(paths=[[0, 0, 1]]), r"paths\[0\]: the parent or the module does not exist: \[0, 0, 1\]"),
    ],
)
def test_a_damaged_profile_is_named_with_the_mistake(run_dir, change, wrong):
    damage(run_dir, change)
    with pytest.raises(DamagedFile, match=wrong) as error:
        profile.load(run_dir, 2)
    assert str(run_dir / "profile" / "pe-00001.json") in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (b"", "is empty"),
        (b'{"schema": 1, "pe"', "is not JSON"),
        (b"[]", "expected an object, found a list"),
        (b"\xff\xfe\x00", "is not text"),
        (b"NaN", "holds NaN"),
        (b"[" * 100000, "nested deeper than 32"),
    ],
)
def test_a_file_that_was_cut_off_or_is_something_else_is_named(run_dir, text, wrong):
    (run_dir / "profile" / "pe-00001.json").write_bytes(text)
    with pytest.raises(DamagedFile, match=wrong):
        profile.load(run_dir, 2)


def test_a_damaged_profile_can_be_left_out_and_is_then_noted(run_dir):
    damage(run_dir, lambda d: d.pop("sites"))
    found = profile.load(run_dir, 2, allow_damaged=True)
    assert [pe.pe for pe in found.pes] == [0]
    assert found.damaged == {1: "sites is missing"}
    assert not found.complete


def test_profiles_of_another_run_among_them_are_noticed(run_dir):
    fakes.write_profiles(run_dir / "profile", [fakes.pe_profile(2, 3)])
    with pytest.raises(DamagedFile, match="two runs are mixed"):
        profile.load(run_dir, 2)


def test_a_directory_without_profiles_names_the_expected_one(tmp_path):
    with pytest.raises(WattleError, match="holds no profile directory"):
        profile.load(tmp_path)


def test_a_manifest_comes_back_as_it_was_written(tmp_path):
    written = manifest.start(
        "study", ["patterns"], 2, meter={"name": "model", "why": ""}, extra={"study": {"name": "patterns"}}
    )
    manifest.write(tmp_path, written)
    assert manifest.read(tmp_path) == written
    assert json.loads((tmp_path / "manifest.json").read_text())["study"] == {"name": "patterns"}


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"kind": "dream"}, "kind: expected one of run, study"),
        ({"n_pes": 0}, "n_pes: expected at least 1"),
        ({"started": "yesterday"}, "started: expected a time"),
        ({"settings": []}, "settings: expected an object"),
        ({"exit_code": "0"}, "exit_code: expected a whole number or null"),
        ({"schema": None}, "schema: expected a whole number"),
        ({"command": [1]}, r"command\[0\]: expected text"),
    ],
)
def test_a_damaged_manifest_is_named_with_the_mistake(tmp_path, changes, wrong):
    directory = fakes.make_run(tmp_path / "r", **changes)
    with pytest.raises(DamagedFile, match=wrong):
        manifest.read(directory)


def test_a_directory_of_something_else_is_refused(tmp_path):
    with pytest.raises(WattleError, match="holds no manifest"):
        runs.load(tmp_path)
    with pytest.raises(WattleError, match="does not exist"):
        runs.load(tmp_path / "nowhere")
    with pytest.raises(WattleError, match="directory of a study, not of a run"):
        runs.load(fakes.make_run(tmp_path / "s", kind="study"))


def test_a_repeated_run_shows_the_repeat_with_the_median_time(tmp_path):
    whole = fakes.make_run(tmp_path / "r", [], repeats=["repeat-001", "repeat-002", "repeat-003"])
    for name, wall_s in (("repeat-001", 3.0), ("repeat-002", 1.0), ("repeat-003", 2.0)):
        fakes.make_run(whole / name, wall_s=wall_s)
    found = runs.load(whole)
    assert len(found.samples) == 3
    assert found.middle.directory.name == "repeat-003"
    assert found.middle.profile.complete


def test_a_repeat_that_is_gone_is_named(tmp_path):
    whole = fakes.make_run(tmp_path / "r", [], repeats=["../elsewhere"])
    with pytest.raises(DamagedFile, match="is not a directory beside it"):
        runs.load(whole)
