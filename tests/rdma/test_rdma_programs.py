"""The list of programs that `make test-rdma` runs in its virtual machine. The machine itself is not started here."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from tree import HOME

HERE = Path(__file__).parent
KEYS = {"name", "on", "program", "hardware", "quick", "exit", "one_network", "environment", "loss", "cut_off"}
KEYS |= {"without_device", "wakes"}
PROGRAMS = tomllib.loads((HERE / "programs.toml").read_text())["program"]


def suite(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, HERE / "suite.py", *words], capture_output=True, text=True)


def test_each_program_is_built_and_its_place_is_known() -> None:
    for program in PROGRAMS:
        assert program.keys() <= KEYS, program
        assert (HOME / "bin" / program["program"].split()[0]).exists(), program
        nodes, pes = map(int, program["on"].split("x"))
        assert 2 <= nodes <= 3 and nodes * pes <= 16, program
        assert "loss" not in program or (nodes == 2 and not program.get("one_network")), program
        assert "loss" in program or not program.get("cut_off"), program


def test_the_quick_form_has_hardware_and_both_networks() -> None:
    quick = [program for program in PROGRAMS if program.get("quick")]
    assert 0 < len(quick) < len(PROGRAMS)
    assert any(program.get("hardware") for program in quick)
    assert any(program.get("environment", {}).get("WATTLE_NETWORK") == "ofi" for program in quick)


def test_a_word_that_no_program_has_is_an_error() -> None:
    done = suite("no-such-program")
    assert done.returncode == 2 and "no program of programs.toml has no-such-program in it" in done.stderr
