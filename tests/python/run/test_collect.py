"""`wattle collect` makes a run directory of profiles that another launcher's job left, and completes a killed run's."""

import json

import fakes
import pytest
from fakes import Wattle
from wattle.record import manifest


def profiles_alone(folder, profiles=None):
    fakes.write_profiles(
        folder / "profile", [fakes.pe_profile(0), fakes.pe_profile(1)] if profiles is None else profiles
    )
    return folder


def test_profiles_without_a_manifest_become_a_run(tmp_path, wattle: Wattle):
    folder = profiles_alone(tmp_path / "run")
    result = wattle("collect", folder, "--exit-code", "0", "--wall", "2.5", "--", "./halo", "64")
    assert result.returncode == 0 and "./halo 64 on 2 PEs: 2.50 s" in result.stderr, result
    record = manifest.read(folder)
    assert record.command == ["./halo", "64"] and record.exit_code == 0 and record.wall_s == 2.5
    assert record.extra["nodes"][0]["pes"] == [0, 1] and record.meter["name"] == "model"
    assert wattle("report", folder).returncode == 0
    assert wattle("compare", folder, folder).returncode == 0


def test_the_time_is_that_of_the_pes_where_nobody_gave_it(tmp_path, wattle: Wattle):
    folder = profiles_alone(tmp_path / "run")
    assert wattle("collect", folder / "profile").returncode == 0  # the folder of the profiles does as well
    record = manifest.read(folder)
    assert record.wall_s == max(fakes.pe_profile(pe)["wall_s"] for pe in range(2))
    assert record.exit_code is None and record.command == ["(unknown program)"]


def test_a_killed_run_keeps_its_manifest(tmp_path, wattle: Wattle):
    folder = fakes.make_run(tmp_path / "run", exit_code=None, wall_s=None, settings={"WATTLE_WAIT": "spin"})
    result = wattle("collect", folder, "--exit-code", "137")
    assert result.returncode == 0, result
    record = manifest.read(folder)
    assert record.exit_code == 137 and record.settings == {"WATTLE_WAIT": "spin"} and record.command == ["./halo", "64"]


def test_a_missing_pe_is_named(tmp_path, wattle: Wattle):
    folder = profiles_alone(tmp_path / "run", [fakes.pe_profile(0)])
    result = wattle("collect", folder)
    assert result.returncode == 0 and "No profile from PE 1" in result.stderr, result


def test_begin_makes_a_directory_for_profiles(tmp_path, wattle: Wattle):
    folder = tmp_path / "a" / "run"
    result = wattle("collect", "--begin", folder, "-n", "2", "--", "./halo", "64")
    assert result.returncode == 0 and (folder / "profile").is_dir(), result
    record = manifest.read(folder)
    assert record.exit_code is None and record.n_pes == 2 and "WATTLE_WAIT" in record.settings
    profiles_alone(folder)
    document = json.loads(wattle("collect", folder, "--exit-code", "0", "--json").stdout)
    assert document["manifest"]["exit_code"] == 0 and len(document["pes"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none"], "none: holds no profile folder; run the program with WATTLE_PROFILE_DIR=none/profile"),
        (["--begin", "new"], "--begin needs the program, after --"),
        (["--exit-code", "300", "none"], "--exit-code 300: expected 0 to 255"),
        (["--wall=-1", "none"], "--wall -1: expected seconds, 0 or more"),
        (["-n", "0", "none"], "-n 0: expected 1 to"),
    ],
)
def test_wrong_use_is_one_line(wattle: Wattle, arguments, words):
    result = wattle("collect", *arguments)
    assert result.returncode == 2 and words in result.stderr and len(result.stderr.splitlines()) == 1, result


def test_an_empty_folder_has_nothing_to_collect(tmp_path, wattle: Wattle):
    (tmp_path / "run" / "profile").mkdir(parents=True)
    result = wattle("collect", tmp_path / "run")
    assert result.returncode == 2 and "there is nothing to collect" in result.stderr, result


def test_a_study_and_repeats_are_refused(tmp_path, wattle: Wattle):
    folder = fakes.make_run(tmp_path / "run", repeats=["repeat-001"])
    result = wattle("collect", folder)
    assert result.returncode == 2 and "is not the directory of one run" in result.stderr, result
