"""`make release-check` fails for a broken ABI, a name without a version, and versions that differ."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tree import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import release_check

ABI = [sys.executable, ROOT / "tools/abi.py"]
HEADER = """
#define WATTLE_OK 0
#define WATTLE_WIDTH 8
typedef struct wattle_figure { double joules; int count; } wattle_figure_t;
typedef struct wattle_handle wattle_handle_t;
wattle_handle_t *wattle_open(const char *name);
int wattle_read(wattle_handle_t *handle, wattle_figure_t *figure);
void wattle_close(wattle_handle_t *handle);
"""
CODE = """
#include <stdlib.h>
#include "wattle.h"
struct wattle_handle { int own; };
wattle_handle_t *wattle_open(const char *name) { return name ? malloc(sizeof(wattle_handle_t)) : NULL; }
int wattle_read(wattle_handle_t *handle, wattle_figure_t *figure) { return handle->own + figure->count; }
void wattle_close(wattle_handle_t *handle) { free(handle); }
void wtl_own(void) {}
"""
NEW = "int wattle_new(void);\n"
NEW_CODE = "int wattle_new(void) { return 1; }\n"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1200)]
needs_libabigail = pytest.mark.skipif(not shutil.which("abidiff"), reason="no abidiff here (abigail-tools)")


def run(*command: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, done
    return done


Library = Callable[..., Path]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Makes build folders that have a small libwattle with its header."""

    def build(header: str = HEADER, code: str = CODE, added: str = "", number: int = 0) -> Path:
        folder = tmp_path / f"build-{len(list(tmp_path.iterdir()))}"
        for part in ("include", "lib"):
            (folder / part).mkdir(parents=True)
        (folder / "include/wattle.h").write_text(header, encoding="utf-8")
        (folder / "wattle.c").write_text(code, encoding="utf-8")
        (folder / "added.txt").write_text(added, encoding="utf-8")
        script = folder / "wattle.map"
        table = folder / "include/wattle.h"
        run(sys.executable, ROOT / "cmake/version_script.py", script, "0.2.0", folder / "added.txt", table)
        options = ("-g", "-shared", "-fPIC", f"-Wl,--version-script={script}", f"-Wl,-soname,libwattle.so.{number}")
        source = ("-I", folder / "include", folder / "wattle.c")
        run("cc", *options, *source, "-o", folder / "lib/libwattle.so")
        return folder

    return build


@pytest.fixture
def kept(library: Library, tmp_path: Path) -> Path:
    run(*ABI, "keep", library(), tmp_path / "kept", "wattle")
    return tmp_path / "kept"


# --- the check of the ABI ---


@needs_libabigail
def test_the_same_library_passes(library: Library, kept: Path) -> None:
    done = run(*ABI, "check", library(), kept, "wattle")
    assert "libwattle.so.0: programs compiled with kept/" in done.stdout and done.stderr == "", done


BROKEN = {
    "a function is gone": ("wattle_close", "wattle_end", "libwattle.so.0: wattle_close of WATTLE_0.1 is gone"),
    "an argument has another type": ("const char *name", "const int *name", "wattle_open"),
    "a structure has another size": ("double joules;", "double joules, watts;", "wattle_read"),
    "a result has another type": ("int wattle_read", "long wattle_read", "wattle_read"),
    "a constant has another value": ("WATTLE_OK 0", "WATTLE_OK 1", "WATTLE_OK was 0, and is 1"),
    "a constant is gone": ("#define WATTLE_WIDTH 8", "", "WATTLE_WIDTH was 8, and is gone"),
}


@needs_libabigail
@pytest.mark.parametrize("change", BROKEN)
def test_a_broken_abi_fails(change: str, library: Library, kept: Path) -> None:
    old, new, message = BROKEN[change]
    changed = library(HEADER.replace(old, new), CODE.replace(old, new))
    done = run(*ABI, "check", changed, kept, "wattle", code=1)
    assert message in done.stderr, done


@needs_libabigail
def test_a_broken_abi_passes_under_another_number_and_must_be_kept(library: Library, kept: Path) -> None:
    changed = library(HEADER.replace("double joules;", "float joules;"), CODE, number=1)
    done = run(*ABI, "check", changed, kept, "wattle", code=1)
    assert "libwattle.so.1: a number of its own" in done.stdout and "abi/ has an older ABI" in done.stderr, done
    run(*ABI, "keep", changed, kept, "wattle")
    run(*ABI, "check", changed, kept, "wattle")


@needs_libabigail
def test_a_new_name_needs_the_version_that_brings_it(library: Library, kept: Path) -> None:
    unlisted = library(HEADER + NEW, CODE + NEW_CODE)
    done = run(*ABI, "check", unlisted, kept, "wattle", code=1)
    assert "wattle_new came into WATTLE_0.1: list it in abi/added.txt" in done.stderr, done
    listed = library(HEADER + NEW, CODE + NEW_CODE, added="0.2 wattle_new\n")
    done = run(*ABI, "check", listed, kept, "wattle", code=1)
    assert "came into" not in done.stderr and "abi/ has an older ABI" in done.stderr, done
    run(*ABI, "keep", listed, kept, "wattle")
    run(*ABI, "check", listed, kept, "wattle")


@needs_libabigail
def test_what_is_private_may_change(library: Library, kept: Path) -> None:
    code = CODE.replace("int own;", "int own, other;").replace("wtl_own(void)", "wtl_another(int a)")
    run(*ABI, "check", library(HEADER, code), kept, "wattle")


@needs_libabigail
def test_an_abi_that_nobody_kept_is_an_error(library: Library, tmp_path: Path) -> None:
    done = run(*ABI, "check", library(), tmp_path / "nothing", "wattle", code=1)
    assert "has no kept ABI of this library" in done.stderr, done


# --- the whole check ---


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that name the version, apart from the sources."""
    others = ("CMakeLists.txt", "CHANGELOG.md", *release_check.NAMES_ADDRESS)
    for name in {*release_check.NAMES_VERSION, *others}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    return tmp_path


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_version_is_the_same_in_all_files(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release_check.passes("version"), capsys.readouterr().out


@pytest.mark.parametrize("name", release_check.NAMES_VERSION)
def test_a_version_that_differs_fails(name: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(tree / name, release_check.version(), "7.8.9")
    assert not release_check.passes("version")
    assert f"FAILED  version    CMakeLists.txt has 0.1.0, but {name} has 7.8.9" in capsys.readouterr().out


def test_the_changelog_must_have_the_version(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = ("README.md", "SECURITY.md", "docs/release-notes.md")
    for name in pages:
        (tree / name).write_text("It is not released yet.\n", encoding="utf-8")
    section = f"## [{release_check.version()}] - 2026-12-01\n\n- All.\n"
    for text, message in (
        ("# Changelog\n\n## [Unreleased]\n\n- All.\n", "has no section"),
        (f"# Changelog\n\n## [Unreleased]\n\n- More.\n\n{section}", "has lines under [Unreleased]"),
        (f"# Changelog\n\n## [Unreleased]\n\n{section}", "is not released yet"),
    ):
        (tree / "CHANGELOG.md").write_text(text, encoding="utf-8")
        assert not release_check.passes("changelog")
        assert message in capsys.readouterr().out
    for name in pages:
        replace(tree / name, "not released yet", "released")
    assert release_check.passes("changelog")


def test_the_address_is_set_in_one_place(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not release_check.passes("address")
    assert "address and contact in [tool.wattle] of pyproject.toml: not set yet" in capsys.readouterr().out
    file = tree / "pyproject.toml"
    text = file.read_text(encoding="utf-8").replace(
        'address = "https://example.invalid/wattle"', 'address = "https://a.org/w"'
    )
    file.write_text(text.replace("contact@example.invalid", "c@a.org"), encoding="utf-8")
    assert not release_check.passes("address")
    assert "pyproject.toml has another address than pyproject.toml" in capsys.readouterr().out
    release_check.set_address()
    replace(tree / "README.md", "placeholders until", "those of")
    assert release_check.passes("address")
    assert all(
        "example.invalid" not in (tree / name).read_text(encoding="utf-8") for name in release_check.NAMES_ADDRESS
    )


def test_wrong_usage_names_the_checks() -> None:
    done = run(sys.executable, ROOT / "tools/release_check.py", "speed", code=64)
    assert "speed: the checks are version changelog address names abi docs packages wheel" in done.stderr


def test_a_failed_check_ends_with_code_1_and_a_line_for_each(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "CITATION.cff").write_text("version: 7.8.9\n", encoding="utf-8")
    (tree / "CHANGELOG.md").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["release_check.py", "version", "changelog"])
    assert release_check.main() == 1
