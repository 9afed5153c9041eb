"""The generated front end: in the house style, the same without clang-format, and made only of columns that exist."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tree import HOME, ROOT

GENERATOR, TABLE = ROOT / "src/shmem/generate.py", ROOT / "src/shmem/api.toml"


def generate(out: Path, table: Path = TABLE, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, GENERATOR, table, out, "0.1.0"]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


def tokens(path: Path) -> list[str]:
    """Without white space, which is all that clang-format changes, and the \\ that ends a macro's line."""
    return path.read_text().replace("\\\n", "").split()


def made_by(out: Path) -> list[Path]:
    return sorted([*out.glob("generated/*.c"), *out.glob("include/**/*.h")])


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
    style = f"--style=file:{ROOT / '.clang-format'}"
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", style, *made_by(tmp_path)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[:2000]


def test_code_without_clang_format_is_the_same(without_style: Path, tmp_path: Path) -> None:
    assert generate(tmp_path).returncode == 0
    names = [path.relative_to(tmp_path) for path in made_by(tmp_path)]
    assert names == [path.relative_to(without_style) for path in made_by(without_style)]
    for name in names:
        assert "".join(tokens(tmp_path / name)) == "".join(tokens(without_style / name)), name


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
    rows = TABLE.read_text()
    signal = rows.index('name = "shmem_putmem_signal"')
    table.write_text(rows[:signal] + rows[signal:].replace('"align sig_addr", ', "", 1))
    done = generate(tmp_path, table)
    assert done.returncode == 1
    assert "its worker do_put_signal is another function for other rows" in done.stderr


def test_every_macro_of_the_routines_is_the_work_of_a_row() -> None:
    work = {row["work"] for row in tomllib.loads(TABLE.read_text())["routine"] if "work" in row}
    kinds = {path.name.removesuffix(".c.j2") for path in (ROOT / "src/shmem/templates/routines").glob("*.c.j2")}
    assert {word.split(".")[0] for word in work} == kinds
    assert all((HOME / f"generated/shmem_api_{kind}.c").exists() for kind in kinds)
