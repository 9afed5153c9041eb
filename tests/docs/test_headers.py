"""Doxygen reads the comments of the public headers, and each function has a contract."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = Path(os.environ.get("WATTLE_HOME") or ROOT / "build/release") / "include"
CONTRACTS = ("wattle.h", "shmemx.h", "armci.h", "armcix.h", "message.h", "mp3.h", "wattle_sim.h")

# Doxygen 1.9 knows the arguments of a comment only once it has written HTML.
DOXYFILE = """\
QUIET = YES
GENERATE_LATEX = NO
HAVE_DOT = NO
OPTIMIZE_OUTPUT_FOR_C = YES
WARN_IF_UNDOCUMENTED = {contracts}
WARN_IF_INCOMPLETE_DOC = {contracts}
WARN_NO_PARAMDOC = {contracts}
"""
# Twins of routines for profiling tools, members that belong to the library, and ARMCI's numbered failures.
WITHOUT_CONTRACT = re.compile(r"Member (PARMCI_|parmci_|pshmemx_|wtl_|FAIL)|Member \w+\(?.*\(macro definition\)")


def warnings(headers: list[Path], folder: Path, contracts: str) -> list[str]:
    inputs = " ".join(map(str, headers))
    doxyfile = f"{DOXYFILE.format(contracts=contracts)}INPUT = {inputs}\nOUTPUT_DIRECTORY = {folder}\n"
    done = subprocess.run(["doxygen", "-"], input=doxyfile, text=True, capture_output=True, timeout=350, check=True)
    return [line for line in done.stderr.splitlines() if line.strip()]


@pytest.fixture(autouse=True)
def doxygen() -> None:
    if shutil.which("doxygen") is None:
        pytest.skip("doxygen is not installed")
    if not (INCLUDE / "shmemx.h").exists():
        pytest.skip("build/release is not built")


def test_every_function_states_each_argument_and_its_result(tmp_path: Path) -> None:
    found = warnings([INCLUDE / name for name in CONTRACTS], tmp_path, "YES")
    assert [line for line in found if not WITHOUT_CONTRACT.search(line)] == []


def test_comments_of_the_openshmem_header_are_well_formed(tmp_path: Path) -> None:
    assert warnings([INCLUDE / "shmem.h"], tmp_path, "NO") == []


def test_a_missing_argument_is_found(tmp_path: Path) -> None:
    header = tmp_path / "short.h"
    header.write_text(
        "/** @file\n * A header. */\n/** Adds.\n * @param[in] a  a number\n */\nvoid add(int a, int b);\n"
    )
    assert "parameter 'b'" in "".join(warnings([header], tmp_path, "YES"))
