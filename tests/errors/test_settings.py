"""A wrong setting is an error before any PE starts, said once, whichever way the program is started."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from jobs import OSHRUN, Result, oshrun, program, run

MPIRUN = shutil.which("mpirun.openmpi")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

WRONG = [  # name, value, what is allowed
    ("WATTLE_CHECK", "maybe", "on or off"),
    ("WATTLE_CHECK", "", "on or off"),
    ("WATTLE_CHECK", "2", "on or off"),
    ("WATTLE_WAIT", "sometimes", "spin, yield, sleep or adaptive"),
    ("WATTLE_WAIT", "", "spin, yield, sleep or adaptive"),
    ("WATTLE_WAIT", "spin|yield", "spin, yield, sleep or adaptive"),
    ("WATTLE_BOOT", "pmi", "auto, pmix, mpi or single"),
    ("SHMEM_SYMMETRIC_SIZE", "lots", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "-1", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "1Q", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "20mb", "K, M, G or T may follow"),
    ("SHMEM_SYMMETRIC_SIZE", "1M ", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "0x100000", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "1e300", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "nan", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "inf", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "99999T", "0 to 17592186044416 bytes"),
    ("SHMEM_SYMMETRIC_SIZE", "", "0 to 17592186044416 bytes"),
    ("WATTLE_SLEEP_MAX", "0", "0.0001 to 1 seconds"),
    ("WATTLE_SLEEP_MAX", "2s", "0.0001 to 1 seconds"),
    ("WATTLE_SLEEP_MAX", "auto", "0.0001 to 1 seconds"),
    ("WATTLE_SLEEP_MAX", "20 ms", "0.0001 to 1 seconds"),
    ("WATTLE_SPIN_MAX", "5h", "auto, or 0 to 1 seconds"),
    ("WATTLE_METER", "guess", "auto, powercap, perf, cray, hwmon, redfish, nvml, model or none"),
]


def refused(result: Result, name: str, value: str, allowed: str) -> None:
    assert result.code == 78 and result.out == "", result
    assert len(result.said) == 1 and f"{name}={value} " in result.said[0] and allowed in result.said[0], result


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_oshrun_refuses_a_wrong_value(name: str, value: str, allowed: str) -> None:
    result = oshrun(2, "boot", env={name: value})
    refused(result, name, value, allowed)
    assert result.said[0].startswith("oshrun: ") and len(result.err.splitlines()) == 1, result


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG[::6])
def test_bare_program_refuses_a_wrong_value(name: str, value: str, allowed: str) -> None:
    refused(run(program("boot"), env={name: value}), name, value, allowed)


@pytest.mark.skipif(not MPIRUN, reason="no mpirun.openmpi here")
@pytest.mark.parametrize(("name", "value", "allowed"), WRONG[::8])
def test_under_plain_mpirun_a_wrong_value_is_reported_once(name: str, value: str, allowed: str) -> None:
    refused(
        run(MPIRUN, "--oversubscribe", "-n", "3", program("boot"), env={**AS_ROOT, name: value}), name, value, allowed
    )


@pytest.mark.parametrize("way", ["oshrun", "bare"])
def test_unknown_setting_is_refused_with_the_nearest_name(way: str) -> None:
    env = {"WATTLE_WIAT": "spin"}
    result = oshrun(2, "boot", env=env) if way == "oshrun" else run(program("boot"), env=env)
    assert result.code == 78 and result.out == "" and len(result.said) == 1, result
    assert "WATTLE_WIAT" in result.said[0] and "WATTLE_WAIT" in result.said[0], result


def test_all_wrong_settings_are_reported_at_once() -> None:
    result = oshrun(
        2, "boot", env={"WATTLE_WAIT": "x", "WATTLE_CHECK": "q", "SHMEM_SYMMETRIC_SIZE": "z", "WATTLE_NONE": "1"}
    )
    assert result.code == 78 and len(result.said) == 4, result


def test_very_long_values_are_refused_in_one_line_each() -> None:
    result = oshrun(2, "boot", env={"WATTLE_WAIT": "x" * 100_000})
    assert result.code == 78 and "WATTLE_WAIT" in result.err, result
    result = run(program("boot"), env={"WATTLE_" + "X" * 10_000: "1"})
    assert result.code == 78 and "WATTLE_X" in result.err, result


@pytest.mark.parametrize("way", ["oshrun", "bare"])
def test_machine_profile_that_is_missing_is_refused_before_any_pe_starts(way: str) -> None:
    env = {"WATTLE_MACHINE": "no-such-machine"}
    result = oshrun(2, "boot", env=env) if way == "oshrun" else run(program("boot"), env=env)
    assert result.code == 78 and result.out == "" and len(result.said) == 1, result
    assert "no-such-machine" in result.said[0], result


def test_machine_profile_that_is_damaged_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.yaml"
    damaged.write_text("name: [unfinished\n\x00\xff")
    result = oshrun(2, "boot", env={"WATTLE_MACHINE": str(damaged)})
    assert result.code == 78 and result.out == "" and len(result.said) == 1 and str(damaged) in result.said[0], result


def test_settings_list_refuses_wrong_values_too() -> None:
    assert run(OSHRUN, "--settings", env={"WATTLE_WAIT": "never"}).code == 78


RIGHT = {
    "WATTLE_CHECK": ("OFF", "no"),
    "WATTLE_WAIT": ("Spin", "yield", "sleep"),
    "SHMEM_SYMMETRIC_SIZE": ("1.5M", "2m", "0", "1", "65535"),
    "WATTLE_SPIN_MAX": ("auto",),
    "WATTLE_SLEEP_MAX": ("500us",),
    "WATTLE_METER": ("none",),
    "WATTLE_PROFILE": ("off",),
    "SHMEM_DEBUG": ("1", ""),
    "SHMEM_INFO": ("1", "si"),
    "SHMEM_VERSION": ("y",),
    "WATTLE_STATICS": ("on",),
    "WATTLE_HOME": ("/",),
    "SHMEM_UNKNOWN_TO_US": ("1",),
}


@pytest.mark.parametrize("which", range(max(map(len, RIGHT.values()))))
def test_right_values_are_taken(which: int) -> None:
    """Each job has another value of each setting that has one."""
    values = {name: values[which] for name, values in RIGHT.items() if which < len(values)}
    result = oshrun(2, "boot", env=values)
    assert result.code == 0 and result.out.count("good") == 2, result


def test_a_file_of_prices_that_cannot_be_used_is_reported_once_and_harms_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "prices.json"
    broken.write_text("{")
    for path, reason in ((tmp_path / "none.json", "No such file"), (broken, "is not a file of prices")):
        result = oshrun(2, "boot", env={"WATTLE_PRICES": str(path), "WATTLE_WAIT": "adaptive"})
        assert result.code == 0 and len(result.said) == 1, result
        assert "WATTLE_PRICES" in result.said[0] and str(path) in result.said[0] and reason in result.said[0], result
