"""A module serves every version of an MPI with its binary interface. The MPI of the process selects it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from jobs import HOME, OSHCC, clean_environment
from mpi_jobs import AS_ROOT, SOURCE
from preload import BOTH, EACH_OTHER, OTHERS, Mpi, profiles

RIGHT = "all as it should be\n"
LIBRARY = {"abi": "libmpi_abi.so", "openmpi": "libmpi.so.40"}  # MPICH's has two names: libmpich.so.12, libmpi.so.12


def libraries(mpi: Mpi, folder: Path, **settings: str) -> list[str]:
    done = mpi.run(2, mpi.compile("loaded.c", folder), **settings)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.split()


@pytest.mark.parametrize("mpi", OTHERS, ids=str)
def test_the_module_of_the_programs_mpi_is_loaded_and_no_other_mpi(mpi: Mpi, tmp_path: Path) -> None:
    loaded = libraries(mpi, tmp_path)
    assert [name for name in loaded if name.startswith("libwattle")] == [f"libwattle-mpi-{mpi.name}.so"]
    mpis = [name for name in loaded if not name.startswith("libwattle")]
    assert len(mpis) == 1 and mpis[0].startswith(LIBRARY.get(mpi.name, "libmpi.so.12")), mpis


@BOTH
def test_no_module_names_an_mpi_that_it_needs(mpi: Mpi) -> None:
    for module in (f"libwattle-mpi-{mpi.name}.so", f"libwattle-boot-mpi-{mpi.name}.so"):
        if not (HOME / "lib" / module).exists():
            pytest.skip(f"{module} is not built")
        listing = subprocess.run(["readelf", "-d", HOME / "lib" / module], capture_output=True, text=True, check=True)
        assert "libmpi" not in listing.stdout, listing.stdout


@EACH_OTHER
def test_every_call_is_right_under_another_mpi_than_the_modules(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("calls.c", tmp_path)
    plain = mpi.run(3, program, tmp_path / "file", preload=False)
    if (plain.returncode, plain.stdout) != (0, RIGHT):
        pytest.skip(f"the plain program fails under it: {plain.stdout}{plain.stderr}"[:500])
    done = mpi.run(3, program, tmp_path / "file", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, RIGHT), done.stderr
    assert len(profiles(tmp_path / "profile")) == 3


@EACH_OTHER
def test_pes_find_each_other_by_another_mpi_than_the_modules(mpi: Mpi, tmp_path: Path) -> None:
    program = tmp_path / "boot_mpi"
    command = [OSHCC, "-O2", "-w", SOURCE, "-o", program]
    subprocess.run(command, env={**clean_environment(), "OSHCC_CC": mpi.tool("mpicc")}, check=True)
    settings = {**AS_ROOT, "WATTLE_BOOT": "mpi", "SHMEM_DEBUG": "1"}
    done = mpi.run(2, program, "MSdsm", preload=False, **settings)
    assert done.returncode == 0 and "started by mpi" in done.stderr, done


@pytest.mark.parametrize("module", sorted(path.name for path in (HOME / "lib").glob("libwattle-*mpi-*.so")))
def test_no_module_lacks_a_part_of_wattle(module: str) -> None:
    """Calls of MPI are bound when they are made, and so would be a call of a function that was not linked."""

    def names(library: str, *options: str) -> set[str]:
        listing = subprocess.run(
            ["nm", "-D", *options, HOME / "lib" / library], capture_output=True, text=True, check=True
        ).stdout
        return {line.split()[-1].split("@")[0] for line in listing.splitlines()}

    own = {name for name in names(module, "--undefined-only") if name.startswith("wtl_")}
    assert own <= names("libwattle.so", "--defined-only") | names("libwattle-mpi.so", "--defined-only")
