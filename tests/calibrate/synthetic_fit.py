"""Fits a machine profile to a synthetic meter whose true profile is known, writes it, and lets the runtime read it.

usage: synthetic_fit.py SYNTHETIC_WATTS WATTLE_INFO WATTLE_CALIBRATE
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.calibrate import watts

SHARE = {"active": 1.0, "spin": 0.75, "yield": 0.875, "asleep": 0.0625}
CORES = 4


def truth(state: str, ghz: float) -> float:
    """As in synthetic_watts.c."""
    return SHARE[state] * (ghz * ghz + ghz)


def expect(holds: bool, what: str, *more: object) -> None:
    if not holds:
        sys.exit(f"not true: {what}: {' '.join(map(str, more))}")


def near(got: watts.Number, want: float, what: str) -> None:
    expect(abs(got.value - want) <= 1e-3 * want + 1e-5, f"{what} is {want}", got)
    expect(got.plus_minus > 0, f"{what} has a half-width", got)


def measured(program: str, *words: str) -> Checked:
    result = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return Checked(program, json.loads(result.stdout))


def check_every_clock(program: str) -> watts.Fit:
    found = watts.fit(measured(program), 1, None)
    expect(list(found.clocks) == [1.0, 2.0, 3.0] and found.base == 2.0, "the clocks are those of the machine", found)
    near(found.idle_cpu, 20, "idle")
    near(found.idle_dram, 4, "idle memory")
    expect(abs(found.per_byte.value - 0.25e-9) < 1e-12, "a byte costs what it does", found.per_byte)
    for ghz, by_state in found.clocks.items():
        for state, number in by_state.items():
            near(number, truth(state, ghz), f"{state} at {ghz} GHz")
    return found


def check_one_clock(program: str) -> None:
    found = watts.fit(measured(program, "noclocks"), 1, 3.0)
    expect(list(found.clocks) == [3.0], "without a knob there is one clock, the one given", found)
    near(found.clocks[3.0]["active"], truth("active", 3.0), "active")


def holds(got: watts.Number, want: float, what: str) -> None:
    expect(abs(got.value - want) <= got.plus_minus, f"{what}, {want}, lies within the half-width", got)


def check_awkward_clocks_and_sensors(program: str) -> None:
    valley = watts.fit(measured(program, "valley"), 1, None)
    near(valley.clocks[1.0]["active"], 9, "what the lowest clock draws")
    near(valley.clocks[2.0]["active"], 6, "what a higher one draws")
    for how in ("noisy", "wandering", "warming"):
        found = watts.fit(measured(program, how), 1, None)
        holds(found.idle_cpu, 20, f"{how}: idle")
        holds(found.per_byte, 0.25e-9, f"{how}: a byte")
        for ghz, by_state in found.clocks.items():
            for state, number in by_state.items():
                holds(number, truth(state, ghz), f"{how}: {state} at {ghz} GHz")
    gaps = watts.fit(measured(program, "gaps"), 1, None)
    expect(list(gaps.clocks) == [1.0, 2.0, 3.0] and not gaps.doubts, "what fails now and then is measured again", gaps)
    near(gaps.clocks[2.0]["active"], truth("active", 2.0), "active")


def check_what_is_left_out_is_said(program: str) -> None:
    found = watts.fit(measured(program, "blind:3000000"), 1, None)
    expect(list(found.clocks) == [1.0, 2.0] and found.base == 2.0, "the other clocks are there", found)
    expect(any("some states could not be measured there: 3 GHz" in w for w in found.doubts), "it is said", found.doubts)
    for how, why in (("blind:2000000", "idle node's watts could not be read"), ("stuck:1000000", "cannot write")):
        try:
            found = watts.fit(measured(program, how), 1, None)
        except WattleError as error:
            expect(why in str(error), "without the base clock nothing is fitted, and it is said why", how, error)
        else:
            expect(False, "no other clock is taken for the base clock", how, found)


def check_a_hint_is_no_clock(program: str) -> None:
    document = measured(program, "hint")
    expect(document.text("knob") == "cpufreq" and document.number("base_ghz") is None, "no clock is named", document)
    expect(list(watts.fit(document, 1, 3.0).clocks) == [3.0], "so there is one clock, the one given")


def check_memory_is_counted_once(program: str, info: str) -> None:
    found = watts.fit(measured(program, "node"), 1, None)
    near(found.idle_cpu, 24, "what the idle node draws, memory with it")
    near(found.clocks[2.0]["active"], truth("active", 2.0), "active")
    expect(found.contains == "node" and found.idle_dram.value == 0, "memory has no watts beside those", found.idle_dram)
    numbers = read_by_runtime(found, info)["numbers"]
    expect(any(n["key"] == "idle.dram" and n["value"] == 0 for n in numbers), "so the runtime reads it", numbers)


def check_socket_with_its_memory_is_said(calibrate: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "class" / "hwmon" / "hwmon0"
        folder.mkdir(parents=True)
        files = {"name": "power_meter", "power1_oem_info": "Grace Power Socket 0", "power1_average": "380000000"}
        for name, text in files.items():
            (folder / name).write_text(text + "\n")
        environment = {**os.environ, "WATTLE_SYSFS": root}
        words = [calibrate, "watts", "--budget", "100"]
        result = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    document = json.loads(result.stdout)
    expect((document["meter"], document["contains"]) == ("hwmon", "memory"), "its memory is in its watts", document)


def read_by_runtime(found: watts.Fit, info: str) -> dict:
    """The profile, as wattle-info shows it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fitted.yaml"
        processor = {"name": 'a "quoted" CPU: 3 GHz', "vendor": "GenuineX", "family": "6", "model": "143"}
        file.write_text(watts.text(found, "fitted", processor))
        result = subprocess.run(
            [info], env={**os.environ, "WATTLE_MACHINE": str(file)}, capture_output=True, text=True, check=True
        )
    machine = json.loads(result.stdout)["machine"]
    expect("error" not in machine, "the runtime takes it", machine)
    return machine


def check_runtime_reads_it(found: watts.Fit, info: str) -> None:
    machine = read_by_runtime(found, info)
    numbers = {row["key"]: row for row in machine["numbers"]}
    expect(abs(numbers["clocks[2].active"]["value"] - 12) < 0.02, "with the numbers that were fitted", numbers)
    expect(machine["base_ghz"] == 2.0, "and the base clock", machine)


def check_no_sensor_is_said(calibrate: str) -> None:
    with tempfile.TemporaryDirectory() as empty:
        result = subprocess.run(
            [calibrate, "watts", "--budget", "10"],
            env={**os.environ, "WATTLE_SYSFS": empty},
            capture_output=True,
            text=True,
            check=False,
        )
    expect(result.returncode == 69 and not result.stdout, "nothing is fitted without a sensor", result)
    expect("no sensor of this node can be read" in result.stderr, "and it is said why", result)


def main() -> None:
    synthetic, info, calibrate = sys.argv[1:4]
    found = check_every_clock(synthetic)
    check_one_clock(synthetic)
    check_awkward_clocks_and_sensors(synthetic)
    check_what_is_left_out_is_said(synthetic)
    check_a_hint_is_no_clock(synthetic)
    check_runtime_reads_it(found, info)
    check_memory_is_counted_once(synthetic, info)
    check_socket_with_its_memory_is_said(calibrate)
    check_no_sensor_is_said(calibrate)


if __name__ == "__main__":
    main()
