"""The build can be installed anywhere, and programs compiled with it run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tree import ROOT

BUILD = ROOT / "build" / "release"

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not (BUILD / "bin" / "oshrun").exists(), reason="build/release is not built"),
]


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WATTLE_", "SHMEM_"))}
    return subprocess.run(
        list(map(str, command)),
        **({"env": env, "capture_output": True, "text": True, "timeout": 120, "check": False} | options),
    )


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that was moved after it was made, to a path with a space in it."""
    first = tmp_path_factory.mktemp("first") / "prefix"
    done = run("cmake", "--install", BUILD, "--prefix", first, umask=0)
    assert done.returncode == 0, done.stderr
    moved = tmp_path_factory.mktemp("moved") / "a prefix"
    shutil.move(first, moved)
    return moved


def test_the_installation_holds_what_the_readme_promises(prefix: Path) -> None:
    for name in (
        "include/shmem.h",
        "include/shmemx.h",
        "include/mpp/shmem.h",
        "include/mpp/shmemx.h",
        "include/pshmem.h",
        "include/mpp/pshmemx.h",
        "include/wattle.h",
        "lib/cmake/Wattle/WattleConfig.cmake",
        "share/man/man3/shmem_ctx_long_put_signal_nbi.3",
        "share/doc/wattle/api/index.html",
        "lib/libwattle.so",
        "lib/libwattle-shmem.so",
        "lib/pkgconfig/wattle.pc",
        "lib/pkgconfig/wattle-shmem.pc",
        "bin/oshcc",
        "bin/oshrun",
        "bin/wattle",
        "bin/wattle-info",
        "bin/wattle-calibrate",
        "bin/wattle-clock-guard",
        "share/wattle/machines",
        "share/wattle/python/wattle/cli.py",
        "share/wattle/python/wattle/html/templates/base.html.j2",
        "share/wattle/python/wattle/study/am/method.html.j2",
        "share/wattle/python/wattle/study/am/published.toml",
        "share/doc/wattle/README.md",
    ):
        assert (prefix / name).exists(), name


def writable_by_others(root: Path) -> list[Path]:
    return [path for path in [root, *root.rglob("*")] if not path.is_symlink() and path.stat().st_mode & 0o022]


def test_only_the_owner_may_change_installed_files_under_any_umask(prefix: Path) -> None:
    assert not writable_by_others(prefix)


# Stands for Python: `-m venv FOLDER` makes one with itself in it, and `-c` is asked where it and its packages lie.
PYTHON = """#!/bin/sh
case "$1 $2" in
  "-c "*sys.executable*) echo "$0" ;;
  "-m venv") mkdir -p "$3/bin" "$3/lib/packages" && cp "$0" "$3/bin/python" ;;
  -c*) echo "${0%/bin/python}/lib/packages" ;;
esac
"""


@pytest.mark.parametrize("umask", [0, 0o077])
def test_make_install_does_not_go_by_the_callers_umask(tmp_path: Path, umask: int) -> None:
    python, root = tmp_path / "python", tmp_path / "root"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    env = os.environ | {"PYTHON": str(python), "PREFIX": "/usr/local", "DESTDIR": str(root)}
    done = run(ROOT / "tools" / "install", env=env, umask=umask)
    assert done.returncode == 0, done.stderr
    made = root / "usr/local/lib/wattle/venv/.stamp"
    assert made.stat().st_mode & 0o777 == 0o644
    assert not writable_by_others(root)
    assert all(path.stat().st_mode & 0o005 == 0o005 for path in root.rglob("*") if path.is_dir())


@pytest.mark.parametrize("where", ["build", "installed"])
def test_oshcc_compiles_and_links_in_one_step_and_in_two(where: str, prefix: Path, tmp_path: Path) -> None:
    home = BUILD if where == "build" else prefix
    source, oshcc = ROOT / "examples" / "hello.c", home / "bin" / "oshcc"
    one = run(oshcc, "-O2", source, "-o", tmp_path / "one")
    assert one.returncode == 0, one.stderr
    assert run(oshcc, "-c", source, "-o", tmp_path / "two.o").returncode == 0
    assert run(oshcc, tmp_path / "two.o", "-o", tmp_path / "two").returncode == 0
    for name in ("one", "two"):
        done = run(home / "bin" / "oshrun", "-n", 2, tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2


@pytest.mark.skipif(not (BUILD / "bin/wattle-simulator").exists(), reason="built without SimGrid")
def test_what_the_installed_oshcc_builds_for_simulation_runs_under_the_installed_wattle(
    prefix: Path, tmp_path: Path
) -> None:
    program, out = tmp_path / "hello", tmp_path / "run"
    done = run(prefix / "bin/oshcc", "--sim", "-O2", ROOT / "examples/hello.c", "-o", program)
    assert done.returncode == 0, done.stderr
    env = os.environ | {"PYTHONPATH": str(prefix / "share/wattle/python"), "WATTLE_HOME": str(prefix)}
    done = run(sys.executable, "-m", "wattle", "sim", "-n", 5, "-o", out, "--", program, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5
    made = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert made["simulated"]["numbers"]["latency"]["tag"] in ("measured", "cited", "derived", "assumed")


def test_oshcc_shows_its_command_and_runs_nothing(tmp_path: Path) -> None:
    done = run(BUILD / "bin" / "oshcc", "-show", "a.c", "-o", "a", cwd=tmp_path)
    assert done.returncode == 0
    assert "-lwattle-shmem" in done.stdout and "a.c -o a" in done.stdout
    assert "-lwattle-shmem" not in run(BUILD / "bin" / "oshcc", "-show", "-c", "a.c", cwd=tmp_path).stdout


def test_oshcc_shows_the_parts_that_build_systems_ask_for() -> None:
    def part(what: str) -> str:
        both = {run(BUILD / "bin" / "oshcc", f"{dash}showme:{what}").stdout.strip() for dash in ("-", "--")}
        assert len(both) == 1, both
        return both.pop()

    assert part("compile") == f"-I{part('incdirs')}" and Path(part("incdirs"), "shmem.h").exists()
    assert all(Path(part("libdirs"), f"lib{name}.so").exists() for name in part("libs").split())
    assert f"-L{part('libdirs')}" in part("link") and part("command") and "OpenSHMEM 1.6" in part("version")


def test_oshcc_says_that_nothing_is_linked_statically(tmp_path: Path) -> None:
    source, oshcc = ROOT / "examples" / "hello.c", BUILD / "bin" / "oshcc"
    done = run(oshcc, "-static", source, "-o", "a", cwd=tmp_path)
    assert done.returncode == 64 and "oshcc: -static is not possible" in done.stderr, done
    done = run(oshcc, "-static", "-c", source, "-o", "a.o", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "a.o").exists(), done.stderr


def test_oshcc_without_a_file_is_the_compiler_itself(tmp_path: Path) -> None:
    assert run(BUILD / "bin" / "oshcc", "--version", cwd=tmp_path).returncode == 0
    assert "no input files" in run(BUILD / "bin" / "oshcc", cwd=tmp_path).stderr


def test_oshcc_found_through_a_symbolic_link_finds_its_prefix(prefix: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(prefix / "bin" / "oshcc")
    assert str(prefix / "include") in run(link, "--showme:compile").stdout


def test_oshcxx_compiles_cxx(tmp_path: Path) -> None:
    source = tmp_path / "hello.cc"
    source.write_text("#include <shmem.h>\nint main() { shmem_init(); shmem_finalize(); }\n", encoding="utf-8")
    done = run(BUILD / "bin" / "oshc++", source, "-o", tmp_path / "hello")
    assert done.returncode == 0, done.stderr
    assert run(tmp_path / "hello").returncode == 0


def test_a_plain_c_program_builds_by_pkg_config(prefix: Path, tmp_path: Path) -> None:
    env = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"), "WATTLE_METER": "model"}
    source, program = ROOT / "examples" / "energy_region.c", tmp_path / "energy_region"
    # pkg-config escapes the space in the path, so the line goes through the shell's parser once more
    line = f"eval \"cc '{source}' $(pkg-config --cflags --libs wattle) -o '{program}'\""
    done = run("sh", "-c", line, env=env)
    assert done.returncode == 0, done.stderr
    assert run(program, env=env).returncode == 0


def test_a_project_outside_the_tree_finds_the_cmake_package(prefix: Path, tmp_path: Path) -> None:
    source = shutil.copytree(prefix / "share/wattle/examples/outside", tmp_path / "project")
    build = tmp_path / "build"
    done = run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode == 0, done.stderr
    done = run("cmake", "--build", build)
    assert done.returncode == 0, done.stdout + done.stderr
    for program in ("ring", "ring++"):
        done = run(prefix / "bin" / "oshrun", "-n", 3, build / program)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "the PEs' numbers add up to 3\n"


def test_pages_are_installed(prefix: Path) -> None:
    """tests/shmem/test_pages.py tests their text."""
    routines = json.loads((BUILD / "generated/api.json").read_text(encoding="utf-8"))
    for name in [r["name"] for r in routines] + [r["generic"] for r in routines if r["generic"]]:
        assert (prefix / f"share/man/man3/{name}.3").exists(), name
        assert (prefix / f"share/doc/wattle/api/{name}.html").exists(), name
    for name, words in (("oshcc", "--showme"), ("wattle", "wattle run")):
        assert words in (prefix / f"share/man/man1/{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
    assert (prefix / "share/man/man3/wattle_energy_open.3").read_text(encoding="utf-8") == ".so man3/wattle.h.3\n"
    assert "--hostfile" in (prefix / "share/man/man1/oshrun.1").read_text(encoding="utf-8").replace("\\-", "-")


def test_an_installed_tool_finds_the_machine_profiles_beside_itself(prefix: Path) -> None:
    done = run("env", "WATTLE_MACHINE=unknown", prefix / "bin" / "wattle-info")
    assert done.returncode == 0, done.stderr
    assert f"{prefix}/share/wattle/machines/unknown.yaml" in done.stdout


def test_the_lab_of_an_installation_runs_from_the_packages_of_one_user(prefix: Path, tmp_path: Path) -> None:
    """Packages of a distribution have no Python packages of the lab; each user installs them below HOME."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = run(prefix / "bin/wattle", "version", env=env)
    own = tmp_path / ".local/share/wattle/venv"
    assert done.returncode == 69 and f"python3 -m venv {own}" in done.stderr, done
    (requirements,) = re.findall(r"install -r (.*)$", done.stderr, re.M)
    assert Path(requirements).read_text(encoding="utf-8") == (ROOT / "requirements.txt").read_text(encoding="utf-8")
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.prefix)
    done = run(prefix / "bin/wattle", "version", env=env)
    assert done.returncode == 0 and str(prefix) in done.stdout, done
