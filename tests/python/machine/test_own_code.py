"""The program's own code is its executable and its libraries, by their place, their names, packages and a setting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from wattle.machine import own_code

Package = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def unknown_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """No package manager, until a test gives one: a name of the command and the text of a script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/bin")
    monkeypatch.delenv(own_code.SETTING, raising=False)

    def made(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    made("dpkg-query", "exit 1")
    made("rpm", "exit 1")
    own_code._is_own.cache_clear()
    own_code._files_beside.cache_clear()
    return made


@pytest.mark.parametrize(
    ("module", "own"),
    [
        ("/home/u/solve", True),
        ("/home/u/lib/libsolver.so.2", True),
        ("/opt/app/lib/libmpm.so", True),
        ("/usr/local/lib/libmesh.so", True),
        ("/usr/lib/x86_64-linux-gnu/libpetsc_real.so.3.18", False),
        ("/lib64/libc.so.6", False),
        ("/opt/openmpi/lib/libmpi.so.40", False),
        ("/opt/openmpi/lib/libmpi_mpifh.so.40", False),
        ("/opt/openmpi/lib/openmpi/mca_btl_vader.so", False),
        ("/opt/mpich/lib/libmpifort.so.12", False),
        ("/opt/ucx/lib/libucp.so.0", False),
        ("/opt/wattle/lib/libwattle-mpi.so", False),
        ("/opt/tau/lib/libTAU.so", False),
        ("/opt/intel/libiomp5.so", False),
        ("/home/u/venv/lib/python3.11/site-packages/mpi4py/MPI.so", False),
        ("[vdso]", False),
        ("", False),
    ],
)
def test_libraries_of_the_system_of_mpi_and_of_tools_are_not_the_programs_own(module: str, own: bool) -> None:
    assert own_code.is_own(module, "/home/u/solve") == own


def test_an_interpreter_is_not_its_users_code_but_a_library_of_the_user_is() -> None:
    assert not own_code.is_own("/usr/bin/python3.11", "/usr/bin/python3.11")
    assert own_code.is_own("/home/u/fast.so", "/usr/bin/python3.11")


DEBIAN = r"""case "$1 $2" in
"-S /usr/bin/lmp") echo "lammps: /usr/bin/lmp" ;;
"-W -f") printf 'lammps\tlammps\nliblammps0:amd64\tlammps\nlibfftw3\tfftw3\n' ;;
"-L lammps") [ "$3" = liblammps0:amd64 ] && [ $# = 3 ] && echo /usr/lib/x86_64-linux-gnu/liblammps.so.0 ;;
*) exit 1 ;;
esac"""
RPM = r"""case "$1" in
-qf) [ "$4" = /usr/bin/lmp ] && echo lammps ;;
-qa) printf 'lammps\tlammps-1.src.rpm\nlammps-libs\tlammps-1.src.rpm\nfftw\tfftw-3.src.rpm\n' ;;
-ql) [ "$*" = "-ql lammps lammps-libs" ] && echo /usr/lib64/liblammps.so.0 ;;
esac"""


@pytest.mark.parametrize(("name", "script"), [("dpkg-query", DEBIAN), ("rpm", RPM)])
def test_a_packaged_program_owns_the_libraries_of_its_source_package(
    unknown_packages: Package, name: str, script: str
) -> None:
    unknown_packages(name, script)
    assert own_code.is_own("/usr/lib/x86_64-linux-gnu/liblammps.so.0", "/usr/bin/lmp")
    assert not own_code.is_own("/usr/lib/x86_64-linux-gnu/libfftw3.so.3", "/usr/bin/lmp")
    assert not own_code.is_own("/usr/lib/x86_64-linux-gnu/liblammps.so.0", "/home/u/lmp")


def test_the_setting_decides_and_its_last_pattern_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(own_code.SETTING, "libpetsc*:/opt/site/*:!/opt/site/lib/libmesh.so:!lib[!p]*")
    assert own_code.is_own("/usr/lib/libpetsc.so.3", "/home/u/solve")
    assert own_code.is_own("/opt/site/bin/helper", "/home/u/solve")
    assert not own_code.is_own("/opt/site/lib/libmesh.so", "/home/u/solve")
    assert not own_code.is_own("/home/u/libsolver.so", "/home/u/solve")
