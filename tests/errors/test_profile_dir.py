"""A profile that cannot be written is said, and changes nothing about the program's result."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import Result, oshrun, program, run


def program_went_well(result: Result, complaints: int) -> None:
    assert result.code == 0 and result.out.count("good") == 2, result
    assert len(result.said) == complaints and all("profile" in line for line in result.said), result


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(place)], check=False).returncode
    ):
        pytest.skip("may not mount a small disk here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_profile_of_each_pe_is_json(tmp_path: Path) -> None:
    program_went_well(oshrun(2, "boot", env={"WATTLE_PROFILE_DIR": str(tmp_path)}), 0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pe-00000.json", "pe-00001.json"]
    assert [json.loads((tmp_path / f"pe-0000{pe}.json").read_text())["pe"] for pe in (0, 1)] == [0, 1]


def test_missing_directory_is_reported_by_each_pe(tmp_path: Path) -> None:
    result = oshrun(2, "boot", env={"WATTLE_PROFILE_DIR": str(tmp_path / "missing")})
    program_went_well(result, 2)
    assert all("No such file or directory" in line and str(tmp_path / "missing") in line for line in result.said), (
        result
    )


def test_file_in_place_of_the_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = oshrun(2, "boot", env={"WATTLE_PROFILE_DIR": str(tmp_path / "file")})
    program_went_well(result, 2)


def test_a_read_only_directory_is_reported() -> None:
    result = oshrun(2, "boot", env={"WATTLE_PROFILE_DIR": "/proc/self/task"})
    program_went_well(result, 2)


def test_full_disk_is_reported_and_leaves_no_half_profile(small_disk: Path) -> None:
    (small_disk / "full").write_bytes(b"x" * 4096)
    result = oshrun(2, "boot", env={"WATTLE_PROFILE_DIR": str(small_disk)})
    program_went_well(result, 2)
    assert all("No space left on device" in line for line in result.said), result
    assert [p.name for p in small_disk.iterdir()] == ["full"]


def test_failing_program_keeps_its_exit_code(tmp_path: Path) -> None:
    result = run(program("ends"), "finalize_5", env={"WATTLE_PROFILE_DIR": str(tmp_path / "missing")})
    assert result.code == 5 and len(result.said) == 1, result


def test_global_exit_writes_what_is_known(tmp_path: Path) -> None:
    result = oshrun(2, "ends", "global_exit_7", env={"WATTLE_PROFILE_DIR": str(tmp_path)})
    assert result.code == 7, result
    profiles = sorted(tmp_path.glob("*.json"))
    assert profiles, "at least one PE wrote its profile"
    for path in profiles:
        assert json.loads(path.read_text())["n_pes"] == 2


def test_very_long_directory_is_reported() -> None:
    result = oshrun(2, "boot", env={"WATTLE_PROFILE_DIR": "/" + "long/" * 2000})
    program_went_well(result, 2)
