"""The generated MPI front end: in the house style, the same without clang-format, and made only of what exists."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from generators import assert_house_style, assert_same_code, written
from generators import generate as run
from tree import ROOT

TABLE = ROOT / "src/mpi/calls.toml"


def generate(out: Path, table: Path = TABLE, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(ROOT / "src/mpi/generate.py", table, out, **environment)


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
def test_generated_wrappers_are_in_the_house_style(tmp_path: Path) -> None:
    assert generate(tmp_path).returncode == 0
    assert_house_style(written(tmp_path))


def test_wrappers_without_clang_format_are_the_same(tmp_path: Path) -> None:
    assert generate(tmp_path / "styled").returncode == 0
    assert generate(tmp_path / "plain", PATH="/nowhere").returncode == 0
    assert_same_code(tmp_path / "styled", tmp_path / "plain")


def test_an_unknown_column_of_a_call_is_an_error(tmp_path: Path) -> None:
    table = tmp_path / "calls.toml"
    table.write_text(TABLE.read_text().replace("synchronizes = true", "synchronize = true", 1))
    done = generate(tmp_path, table)
    assert done.returncode == 1
    assert "there is no column synchronize" in done.stderr


def test_every_template_of_a_wrapper_is_how_some_call_is_wrapped() -> None:
    used = {row.get("how", "unchanged") for row in tomllib.loads(TABLE.read_text()).values()}
    assert used == {path.name.removesuffix(".c.j2") for path in (ROOT / "src/mpi/templates/how").glob("*.c.j2")}
