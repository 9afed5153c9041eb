"""`wattle doctor` on the uncore's clock and the power limits of packages, on trees in the kernel's layouts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from wattle.doctor import clocks, packages
from wattle.doctor.finding import Finding, Roots, State

UNCORE = "devices/system/cpu/intel_uncore_frequency"
RANGE = {"min_freq_khz": "800000", "max_freq_khz": "2400000"}
ZONE = {
    "name": "package-0",
    "enabled": "1",
    "constraint_0_name": "long_term",
    "constraint_0_power_limit_uw": "165000000",
    "constraint_0_time_window_us": "999424",
    "constraint_1_name": "short_term",
    "constraint_1_power_limit_uw": "198000000",
    "constraint_1_time_window_us": "7808",
}


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("flags\t: fpu sse\n")
    return Roots(tmp_path / "sys", tmp_path / "proc")


def put(roots: Roots, folder: str, files: dict[str, str]) -> None:
    at = roots.sys / folder
    at.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (at / name).write_text(text + "\n")


def refuse(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Files with these names may not be opened for reading or writing, as for a user who is not root."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in names and real(path, mode))


def test_the_uncore_of_dies_that_may_be_set(roots: Roots) -> None:
    put(roots, f"{UNCORE}/package_00_die_00", RANGE)
    put(roots, f"{UNCORE}/package_01_die_00", RANGE | {"min_freq_khz": "1200000"})
    found = packages.uncore(roots)
    assert (found.state, found.says) == (State.YES, "2 dies, 0.8 to 2.4 GHz; WATTLE_UNCORE sets it")


def test_the_uncore_of_clusters_needs_their_packages_too(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    put(roots, f"{UNCORE}/package_00_die_00", RANGE | {"max_freq_khz": "0"})
    put(roots, f"{UNCORE}/uncore00", RANGE | {"package_id": "0"})
    assert packages.uncore(roots).says == "1 cluster, 0.8 to 2.4 GHz; WATTLE_UNCORE sets it"
    refuse(monkeypatch, "max_freq_khz", "package_id")
    found = packages.uncore(roots)
    assert found.state is State.NO
    assert found.why.endswith("uncore00/package_id is not readable")
    assert any("uncore*/max_freq_khz && sudo chmod g+w" in line for line in found.grant)
    assert any("uncore*/package_id && sudo chmod g+r" in line for line in found.grant)
    assert found.risk


def test_a_machine_without_either_says_why(roots: Roots) -> None:
    for found in (packages.uncore(roots), packages.limit(roots)):
        assert (found.state, found.says, found.grant) == (State.NO, "can be neither seen nor set", ())
    assert "intel_uncore_frequency" in packages.uncore(roots).why
    (roots.proc / "cpuinfo").write_text("flags\t: fpu hypervisor\n")
    assert "virtual machine" in packages.uncore(roots).why
    assert "virtual machine" in packages.limit(roots).why


def test_limits_of_packages_are_shown_with_their_times(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    put(roots, "class/powercap/intel-rapl:0", ZONE)
    put(roots, "class/powercap/intel-rapl-mmio:0", ZONE | {"constraint_0_power_limit_uw": "1"})
    put(roots, "class/powercap/intel-rapl:1", ZONE | {"name": "package-1", "enabled": "0"})
    put(roots, "class/powercap/intel-rapl:2", ZONE | {"name": "dram"})
    (roots.sys / "class/powercap/intel-rapl-mmio:0/name").write_text("dram\n")
    found = packages.limit(roots)
    assert found.state is State.YES
    both = "165 W over 0.999 s, 198 W over 0.00781 s"
    assert found.says == f"package-0: {both}; package-1: {both}, not enforced; WATTLE_PACKAGE_LIMIT sets it"
    refuse(monkeypatch, "constraint_1_power_limit_uw")
    found = packages.limit(roots)
    assert found.state is State.NO
    assert found.why.endswith("intel-rapl:0/constraint_1_power_limit_uw is not writable")
    assert "chmod g+w" in found.grant[1]


def test_constraints_are_known_by_their_names(roots: Roots) -> None:
    names = {"constraint_0_name": "peak_power", "constraint_1_name": "long_term"}
    put(roots, "class/powercap/intel-rapl:0", ZONE | names)
    assert packages.limit(roots).says == "package-0: 198 W over 0.00781 s; WATTLE_PACKAGE_LIMIT sets it"


def test_they_are_findings_on_clocks_with_and_without_cpufreq(roots: Roots) -> None:
    def names(findings: list[Finding]) -> set[str]:
        return {f.name for f in findings}

    both = {"uncore clock", "package limit"}
    assert both < names(clocks.examine(roots).findings)
    put(roots, "devices/system/cpu/cpufreq/policy0", {"scaling_max_freq": "1", "related_cpus": "0"})
    assert both < names(clocks.examine(roots).findings)
