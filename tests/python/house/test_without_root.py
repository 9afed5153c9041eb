"""Building and installing need no root, no network and no writable home (docs/without-root.md)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import script
from tree import ROOT

pytestmark = pytest.mark.soak


def run(command: list[object], cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, timeout=360, check=False
    )


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with the tools and lists alone."""
    folder = tmp_path / "sources"
    for name in ("tools", "packages"):
        shutil.copytree(ROOT / name, folder / name)
    for file in [*ROOT.glob("requirements*.txt"), ROOT / "Makefile"]:
        shutil.copy(file, folder)
    return folder


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """A user who is not root, on a Debian where no package is installed, without sudo."""
    programs = tmp_path / "bin"
    script(programs / "dpkg-query", "#!/bin/sh\nexit 1\n")
    script(programs / "apt-get", "#!/bin/sh\necho called >>$APT_CALLS\n")
    script(programs / "sudo", "#!/bin/sh\nexit 1\n")
    script(programs / "id", "#!/bin/sh\necho 1000\n")
    return {"PATH": f"{programs}:{os.environ['PATH']}", "APT_CALLS": str(tmp_path / "calls")}


def test_a_build_without_root_goes_on_and_names_what_is_missing(sources: Path, user: dict[str, str]) -> None:
    done = run(["tools/apt-deps", "build", "run"], sources, **user)
    assert done.returncode == 0, done.stderr
    needed, optional = done.stderr.splitlines()
    assert "cmake" in needed and "libucx-dev" not in needed
    assert {"libpmix-dev", "libucx-dev", "libopenmpi-dev", "help2man"} <= set(optional.split())
    assert not Path(user["APT_CALLS"]).exists()


def test_tests_without_root_end_with_the_names_of_missing_packages(sources: Path, user: dict[str, str]) -> None:
    done = run(["tools/apt-deps", "test"], sources, **user)
    assert done.returncode == 77 and "chromium" in done.stderr


def test_deps_no_leaves_the_system_as_it_is(sources: Path, user: dict[str, str]) -> None:
    done = run(["tools/apt-deps", "test"], sources, DEPS="no", **user)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run(["tools/apt-deps", "test"], sources, DEPS="maybe", **user)
    assert done.returncode == 64 and "DEPS=maybe: yes" in done.stderr


def test_a_build_compiles_though_pip_finds_no_package(sources: Path, user: dict[str, str]) -> None:
    script(sources / "tools/build", "#!/bin/sh\necho compiled\n")
    script(sources / "tools/figures-library", "#!/bin/sh\n")
    done = run(["make", "-s", "build", "DEPS=no"], sources, PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert done.returncode == 0, done.stderr
    assert "setup: pip failed" in done.stderr and "going on without the lab" in done.stdout
    assert done.stdout.endswith("compiled\n")


def test_make_refuses_another_value_of_lab() -> None:
    done = run(["make", "-n", "build", "LAB=some"])
    assert done.returncode == 2 and "LAB=some: all, core" in done.stderr


def test_packages_are_copied_from_an_environment_that_has_them(tmp_path: Path) -> None:
    copy = [sys.executable, ROOT / "tools/copy_packages.py", tmp_path / "packages"]
    assert run([*copy, ROOT / "requirements-core.txt"]).returncode == 0
    loads = "import rich, typer; print(rich.__file__)"
    done = run([sys.executable, "-S", "-c", loads], PYTHONPATH=str(tmp_path / "packages"))
    assert done.stdout.startswith(str(tmp_path)), done.stderr


def test_no_package_is_copied_where_a_version_differs(tmp_path: Path) -> None:
    pins = tmp_path / "pins.txt"
    pins.write_text("rich==15.0.0\ntyper==0.0.1\n", encoding="utf-8")
    done = run([sys.executable, ROOT / "tools/copy_packages.py", tmp_path / "packages", pins])
    assert done.returncode == 1 and not (tmp_path / "packages").exists()
