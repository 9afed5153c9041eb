"""The generated front end: in the house style, the same without clang-format, and made only of columns that exist."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from generators import assert_house_style, assert_same_code, written
from generators import generate as run
from tree import HOME, ROOT

TABLE = ROOT / "src/shmem/api.toml"


def generate(out: Path, table: Path = TABLE, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(ROOT / "src/shmem/generate.py", table, out, "0.1.0", **environment)


@pytest.fixture(scope="module")
def without_style(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front end as a machine without clang-format makes it."""
    out = tmp_path_factory.mktemp("plain")
    done = generate(out, PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
def test_generated_code_is_in_the_house_style(tmp_path: Path) -> None:
    assert generate(tmp_path).returncode == 0
    assert_house_style(written(tmp_path))


def test_code_without_clang_format_is_the_same(without_style: Path, tmp_path: Path) -> None:
    assert generate(tmp_path).returncode == 0
    assert_same_code(tmp_path, without_style)


def test_code_without_clang_format_has_no_line_at_the_margin(without_style: Path) -> None:
    """The templates are C that a person can read: a statement stands in from its function's brace."""
    for path in without_style.glob("generated/*.c"):
        inside = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line == "{":
                inside = True
            elif line.startswith("}"):
                inside = False
            elif inside and line:
                assert line.startswith("  "), f"{path.name}:{number}: {line}"


def test_a_column_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    table = tmp_path / "api.toml"
    table.write_text(TABLE.read_text().replace("nbi = true", "nib = true", 1))
    done = generate(tmp_path, table)
    assert done.returncode == 1
    assert "there is no column nib" in done.stderr


def test_rows_that_share_a_worker_are_the_same_function(tmp_path: Path) -> None:
    table = tmp_path / "api.toml"
    name = 'name = "shmem_fcollectmem"\n'
    table.write_text(TABLE.read_text().replace(name, name + 'checks = ["team", "count nelems"]\n'))
    done = generate(tmp_path, table)
    assert done.returncode == 1
    assert "its worker do_fcollect is another function for other rows" in done.stderr


def test_every_macro_of_the_routines_is_the_work_of_a_row() -> None:
    work = {row["work"] for row in tomllib.loads(TABLE.read_text())["routine"] if "work" in row}
    kinds = {path.name.removesuffix(".c.j2") for path in (ROOT / "src/shmem/templates/routines").glob("*.c.j2")}
    assert {word.split(".")[0] for word in work} == kinds
    assert all((HOME / f"generated/shmem_api_{kind}.c").exists() for kind in kinds)
