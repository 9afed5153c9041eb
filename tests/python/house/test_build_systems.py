"""Projects that look for an OpenSHMEM library of another name find this one, unchanged (docs/build-systems.md)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tree import HOME, ROOT

PROJECTS = Path(__file__).parent / "projects"
RING = "the PEs' numbers add up to 3\n"  # of three PEs
SHMEM4PY = ["shmem4py==1.0.0", "cffi==2.1.1", "pycparser==3.12"]

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not (HOME / "cmake_install.cmake").exists(), reason="needs a build tree"),
]


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        list(map(str, command)),
        **({"env": ENVIRONMENT, "capture_output": True, "text": True, "timeout": 300, "check": False} | options),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


# An environment that names no installation.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("WATTLE_", "SHMEM_", "CMAKE_PREFIX", "LD_LIB", "LIBRARY_P", "CPATH", "PKG_CONFIG"))
}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with the names of other libraries."""
    prefix = tmp_path_factory.mktemp("compat") / "prefix"
    for component in ([], ["--component", "compat"]):
        run("cmake", "--install", HOME, "--prefix", prefix, *component)
    return prefix


@pytest.fixture(scope="module")
def environment(prefix: Path) -> dict[str, str]:
    """The variables that the module file sets."""
    # Debian's package has the interpreter of module files; its path is the same on all systems of Debian.
    command = f"module use {prefix}/share/modulefiles && module load wattle && env -0"
    text = run("bash", "-c", f". /etc/profile.d/modules.sh && {command}").stdout
    return dict(line.split("=", 1) for line in text.split("\0") if "=" in line)


def oshrun(prefix: Path, *command: object, **options: object) -> str:
    return run(prefix / "bin/oshrun", "-n", 3, *command, **options).stdout


def test_names_of_other_libraries_are_installed_only_with_compat(tmp_path: Path, prefix: Path) -> None:
    run("cmake", "--install", HOME, "--prefix", tmp_path)
    added = {path.relative_to(prefix) for path in prefix.rglob("*")} - {
        p.relative_to(tmp_path) for p in tmp_path.rglob("*")
    }
    assert {str(path) for path in added} == {
        *(f"lib/lib{name}" for name in ("oshmem.so", "sma.so", "openshmem.so", "pmi_simple.a")),
        *(f"lib/pkgconfig/{name}.pc" for name in ("oshmem", "oshmem-c", "oshmem-cxx", "sandia-openshmem")),
        *(f"bin/shmem{name}" for name in ("cc", "c++", "cxx", "CC", "fort", "run")),
    }
    for name in ("bin/oshcc", "bin/oshcxx", "bin/oshCC", "include/shmem.h", "include/mpp/shmem.h", "bin/oshrun"):
        assert (tmp_path / name).exists(), name


def test_make_install_refuses_another_value_of_compat(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "tools/install"],
        env=ENVIRONMENT | {"PREFIX": str(tmp_path), "COMPAT": "yes"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 64 and "COMPAT=yes" in done.stderr and not list(tmp_path.iterdir()), done


@pytest.mark.parametrize(
    "wrapper", ["oshcc", "shmemcc", "oshc++", "oshcxx", "oshCC", "shmemc++", "shmemcxx", "shmemCC"]
)
def test_every_name_of_a_wrapper_compiles_its_language(wrapper: str, prefix: Path, tmp_path: Path) -> None:
    is_c = wrapper.endswith("cc")
    source = PROJECTS / ("autoconf/program.c" if is_c else "library/program.cc")
    run(prefix / "bin" / wrapper, f"-I{PROJECTS}", source, "-o", tmp_path / "program")
    assert run(prefix / "bin/shmemrun", "-n", 3, tmp_path / "program").stdout == RING


@pytest.mark.parametrize("name", ["oshfort", "shmemfort"])
def test_oshfort_says_that_there_is_no_fortran_interface(name: str, prefix: Path) -> None:
    done = subprocess.run([prefix / "bin" / name, "--showme:link"], capture_output=True, text=True, check=False)
    assert done.returncode == 69 and done.stdout == "", done
    assert all(word in done.stderr for word in ("1.5", "ISO_C_BINDING", "docs/build-systems.md")), done


@pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran here")
def test_the_fortran_program_of_the_page_runs(prefix: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs/build-systems.md").read_text(encoding="utf-8")
    (text,) = re.findall(r'```fortran title="ring.f90"\n(.*?)```', page, re.S)
    (tmp_path / "ring.f90").write_text(text, encoding="utf-8")
    environment = ENVIRONMENT | {"OSHCC_CC": "gfortran"}
    run(prefix / "bin/oshcc", "ring.f90", "-o", "ring", cwd=tmp_path, env=environment)
    assert sorted(oshrun(prefix, tmp_path / "ring").splitlines()) == ["PE 0: 2", "PE 1: 0", "PE 2: 1"]


def test_every_part_that_showme_names_is_printed(prefix: Path) -> None:
    for wrapper in ("oshcc", "oshcxx"):
        shown = run(prefix / "bin" / wrapper, "-showme:help").stdout
        assert "--showme:WHAT" in shown and shown == run(prefix / "bin" / wrapper, "--help").stdout
        lines = {
            run(prefix / "bin" / wrapper, word, "a.c").stdout for word in ("-show", "--show", "-showme", "--showme")
        }
        assert len(lines) == 1 and "a.c" in lines.pop()
        assert run(prefix / "bin" / wrapper, "--showme:libs_static").stdout == "wattle-shmem wattle\n"
        done = subprocess.run([prefix / "bin" / wrapper, "--showme:x"], capture_output=True, text=True, check=False)
        assert done.returncode == 64 and "--showme:x" in done.stderr and "libdirs" in done.stderr, done


@pytest.mark.parametrize("library", ["oshmem", "sma", "openshmem"])
def test_a_library_that_is_linked_by_another_name_is_found_at_run_time(
    library: str, prefix: Path, tmp_path: Path
) -> None:
    """No path is recorded in the program. oshrun adds it."""
    flags = [f"-I{prefix}/include", f"-I{PROJECTS}", f"-L{prefix}/lib"]
    run("cc", *flags, PROJECTS / "autoconf/program.c", f"-l{library}", "-o", tmp_path / "program")
    needed = run("readelf", "-d", tmp_path / "program").stdout
    assert "libwattle-shmem.so.0" in needed and f"lib{library}" not in needed and "RUNPATH" not in needed
    assert oshrun(prefix, tmp_path / "program") == RING


def test_a_program_runs_after_the_installation_was_moved(tmp_path: Path) -> None:
    """The program has the old path, and the old path has nothing any more."""
    first, second = tmp_path / "first", tmp_path / "second place"
    run("cmake", "--install", HOME, "--prefix", first)
    run(first / "bin/oshcc", f"-I{PROJECTS}", PROJECTS / "autoconf/program.c", "-o", tmp_path / "program")
    assert oshrun(first, tmp_path / "program") == RING
    first.rename(second)
    assert oshrun(second, tmp_path / "program") == RING
    assert run(tmp_path / "program", env=ENVIRONMENT | {"LD_LIBRARY_PATH": f"{second}/lib/wattle/runtime"}).stdout != ""
    bare = subprocess.run([tmp_path / "program"], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert bare.returncode == 127 and "libwattle-shmem.so.0" in bare.stderr, bare


def test_oshrun_keeps_the_search_path_of_the_user_in_front(prefix: Path) -> None:
    environment = ENVIRONMENT | {"LD_LIBRARY_PATH": "/own/libraries"}
    shown = run(prefix / "bin/oshrun", "-n", 1, "sh", "-c", "echo $LD_LIBRARY_PATH", env=environment).stdout
    assert shown.endswith(f"/own/libraries:{prefix}/lib/wattle/runtime\n")  # Open MPI puts its own folder before these
    line = run(prefix / "bin/oshrun", "--launcher", "openmpi", "--dry-run", "true", env=environment).stdout
    assert f"LD_LIBRARY_PATH=/own/libraries:{prefix}/lib/wattle/runtime" in line and "-x LD_LIBRARY_PATH" in line


def test_modules_are_found_by_a_library_that_was_found_through_a_link(prefix: Path, tmp_path: Path) -> None:
    """The module that reads machine profiles lies beside the library, not beside the link."""
    flags = [f"-I{prefix}/include", f"-I{PROJECTS}", f"-L{prefix}/lib"]
    run("cc", *flags, PROJECTS / "autoconf/program.c", "-lsma", "-o", tmp_path / "program")
    profile = shutil.copy(ROOT / "machines/unknown.yaml", tmp_path / "mine.yaml")
    environment = ENVIRONMENT | {"WATTLE_METER": "model", "WATTLE_MACHINE": str(profile)}
    done = run(prefix / "bin/oshrun", "-n", 3, tmp_path / "program", env=environment)
    assert done.stdout == RING and done.stderr == "", done


def test_a_search_for_libraries_below_a_root_finds_them(prefix: Path, tmp_path: Path) -> None:
    done = run("cmake", "-S", PROJECTS / "library", "-B", tmp_path, f"-DSHMEM_ROOT={prefix}")
    assert f"library: {prefix}/lib/liboshmem.so" in done.stdout, done.stdout
    run("cmake", "--build", tmp_path)
    assert oshrun(prefix, tmp_path / "program") == RING


@pytest.mark.parametrize("modules", ["oshmem-c;oshmem;oshmem-cxx", "oshmem-cxx", "osss-ucx;sandia-openshmem"])
def test_pkg_config_knows_the_names_of_other_libraries(
    modules: str, prefix: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    run("cmake", "-S", PROJECTS / "pkg-config", "-B", tmp_path, f"-DMODULES={modules}", env=environment)
    run("cmake", "--build", tmp_path, env=environment)
    for name in ("by_name", "by_target"):
        assert oshrun(prefix, tmp_path / name) == RING


@pytest.mark.parametrize("mode", ["teams", "legacy"])
def test_a_plug_in_starts_another_library_by_openshmem(mode: str, prefix: Path, tmp_path: Path) -> None:
    run("cmake", "-S", PROJECTS / "bootstrap", "-B", tmp_path, f"-DSHMEM_HOME={prefix}")
    run("cmake", "--build", tmp_path)
    shown = oshrun(prefix, tmp_path / "host", env=ENVIRONMENT | {"MODE": mode})
    assert shown == "3 PEs started by the plug-in\n"


@pytest.mark.parametrize("by", ["flags", "module"])
def test_a_configure_script_finds_header_and_library(
    by: str, prefix: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    shutil.copytree(PROJECTS, tmp_path / "projects")
    folder = tmp_path / "projects/autoconf"
    flags = {"CPPFLAGS": f"-I{prefix}/include", "LDFLAGS": f"-L{prefix}/lib"}
    settings = environment if by == "module" else ENVIRONMENT | flags
    run("autoconf", cwd=folder, env=settings)
    done = run("./configure", cwd=folder, env=settings)
    assert "library containing shmem_init... -lsma" in done.stdout, done.stdout
    run("make", cwd=folder, env=settings)
    assert oshrun(prefix, folder / "program") == RING


def test_shmem4py_builds_and_runs(prefix: Path, tmp_path: Path) -> None:
    """It is built from its source by `oshcc` in PATH. NumPy is the lab's."""
    environment = ENVIRONMENT | {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "CFLAGS": "-O0"}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
    run(*pip, "--no-binary", "shmem4py", "--target", tmp_path, *SHMEM4PY, env=environment, timeout=390)
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, numpy\n"
        "from shmem4py import shmem\n"
        "me, n = shmem.my_pe(), shmem.n_pes()\n"
        "to, all = shmem.zeros(4, dtype='i8'), shmem.zeros(1, dtype='i8')\n"
        "shmem.put(to, numpy.full(4, me, dtype='i8'), (me + 1) % n)\n"
        "shmem.barrier_all()\n"
        "shmem.sum_reduce(all, to[:1])\n"
        "sys.stdout.write(f'{me} {to.tolist()} {all.tolist()}\\n')\n",
        encoding="utf-8",
    )
    shown = oshrun(prefix, sys.executable, program, env=environment | {"PYTHONPATH": str(tmp_path)})
    assert sorted(shown.splitlines()) == [f"{me} {[(me - 1) % 3] * 4} [3]" for me in range(3)]


@pytest.mark.skipif(not shutil.which("cargo"), reason="no cargo here")
def test_openshmem_sys_builds_and_runs(prefix: Path, tmp_path: Path) -> None:
    project = shutil.copytree(PROJECTS / "rust", tmp_path / "ring")
    run("cargo", "build", "-q", cwd=project, env=ENVIRONMENT | {"SHMEM_INSTALL_DIR": str(prefix)}, timeout=390)
    assert oshrun(prefix, project / "target/debug/ring") == RING
