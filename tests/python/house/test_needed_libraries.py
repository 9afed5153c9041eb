"""Programs load libc, libm and Wattle's libraries alone. A system without PMIx, UCX and libcyaml builds and runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from jobs import clean_environment, complaints
from mpi_jobs import AS_ROOT, MPICH, OPEN_MPI, Mpi
from tree import ROOT

BUILD = ROOT / "build" / "release"
PROGRAM = BUILD / "bin/tests/boot"
BINARIES = [
    *(f"lib/lib{name}.so" for name in ("wattle", "wattle-shmem", "wattle-mpi", "armci")),
    *(
        f"bin/{name}"
        for name in (
            "oshrun",
            "wattle-info",
            "wattle-meter",
            "wattle-profiles",
            "wattle-calibrate",
            "wattle-clock-guard",
        )
    ),
    *(f"bin/wattle-bench-{name}" for name in ("am", "network", "patterns")),
]
OF_THE_SYSTEM = re.compile(r"(libc|libm)\.so\.6|ld-linux[-\w]*\.so\.\d")
OF_WATTLE = re.compile(r"(libwattle|libwattle-shmem|libarmci)\.so\.0|libwattle-mpi_order\.so")

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not (BUILD / "bin/oshrun").exists(), reason="build/release is not built"),
]


def run(*command: object, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        list(map(str, command)),
        env=clean_environment() | AS_ROOT | env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    done.stderr = complaints(done.stderr)
    return done


def is_expected(library: str) -> bool:
    return bool(OF_THE_SYSTEM.fullmatch(library) or OF_WATTLE.fullmatch(library))


# --- what is loaded ---


@pytest.mark.parametrize("binary", BINARIES)
def test_a_library_or_tool_needs_libc_and_libm_alone(binary: str) -> None:
    listing = run("readelf", "-d", BUILD / binary).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", listing)
    assert "libc.so.6" in needed and all(map(is_expected, needed)), needed


@pytest.mark.parametrize("options", [[], ["-larmci"]], ids=["shmem", "armci"])
def test_a_users_program_loads_libc_libm_and_wattle_alone(options: list[str], tmp_path: Path) -> None:
    program = tmp_path / "hello"
    done = run(BUILD / "bin/oshcc", ROOT / "examples/hello.c", "-o", program, *options)
    assert done.returncode == 0, done.stderr
    listing = run("ldd", program).stdout
    loaded = [Path(line.split()[0]).name for line in listing.splitlines() if "linux-vdso" not in line]
    assert "libwattle-shmem.so.0" in loaded and all(map(is_expected, loaded)), listing


def yaml_parsers(**settings: str) -> list[str]:
    """The libraries that parse profiles and that a program with the model loads."""
    done = run(PROGRAM, LD_DEBUG="files", WATTLE_METER="model", **settings)
    assert done.returncode == 0, done
    return sorted(set(re.findall(r"calling init: \S*/(libcyaml|libwattle-machine-yaml)", done.stderr)))


def test_a_profile_is_parsed_only_for_its_user(tmp_path: Path) -> None:
    assert yaml_parsers() == []
    assert yaml_parsers(WATTLE_MACHINE="nw-ice") == ["libcyaml", "libwattle-machine-yaml"]
    folder = tmp_path / "share" / "wattle" / "machines"
    folder.mkdir(parents=True)
    shipped = (ROOT / "machines" / "nw-ice.yaml").read_text()
    (folder / "nw-ice.yaml").write_text(shipped)
    assert yaml_parsers(WATTLE_HOME=str(tmp_path)) == []
    (folder / "mine.yaml").write_text(shipped)
    assert yaml_parsers(WATTLE_HOME=str(tmp_path)) == ["libcyaml", "libwattle-machine-yaml"]


# --- without them ---


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that finds none of the three, as on a system without them."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "no.pc").mkdir()
    fast = ("-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0")
    done = run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *fast, PKG_CONFIG_LIBDIR=str(folder / "no.pc"))
    assert done.returncode == 0, done.stderr
    for line in (
        "PMIX: not found (libpmix-dev), so PEs find each other by MPI",
        "UCX: not found (libucx-dev), so data travel between nodes by MPI",
        "CYAML: not found (libcyaml-dev), so machine profiles in files cannot be read, and there is no simulation",
    ):
        assert f"-- {line}\n" in done.stdout, done.stdout
    built = [mpi.name for mpi in (OPEN_MPI, MPICH) if mpi.module.exists()]
    mpis = [f"wattle-{part}-mpi-{name}" for name in built for part in ("boot", "load")]
    done = run("cmake", "--build", folder, "--target", "wattle-shmem", "oshrun", "wattle-clock-guard", *mpis)
    assert done.returncode == 0, done.stdout
    return folder


def good(done: subprocess.CompletedProcess[str], n: int) -> bool:
    return done.returncode == 0 and all(f"PE {pe} of {n} good" in done.stdout for pe in range(n))


@pytest.mark.soak
def test_a_build_without_them_runs_one_pe(bare: Path) -> None:
    done = run(PROGRAM, LD_LIBRARY_PATH=str(bare / "lib"))
    assert good(done, 1) and done.stderr == "", done


@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.soak
def test_a_build_without_them_runs_under_the_mpis_launcher(mpi: Mpi, bare: Path) -> None:
    mpi.require()
    done = run(*mpi.start(2, PROGRAM), LD_LIBRARY_PATH=str(bare / "lib"), SHMEM_DEBUG="1")
    assert good(done, 2) and "started by mpi" in done.stderr, done


@pytest.mark.parametrize("launcher", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
@pytest.mark.soak
def test_a_build_without_them_runs_under_oshrun(launcher: Mpi, bare: Path) -> None:
    launcher.require()
    options = ("-n", 2, "--launcher", launcher.name)
    done = run(bare / "bin/oshrun", *options, PROGRAM, LD_LIBRARY_PATH=str(bare / "lib"))
    assert good(done, 2) and done.stderr == "", done


@pytest.mark.soak
def test_the_oracle_of_puts_and_gets_agrees_without_them(bare: Path) -> None:
    OPEN_MPI.require()
    done = run(*OPEN_MPI.start(2, BUILD / "bin/oracle", 1, 300), LD_LIBRARY_PATH=str(bare / "lib"))
    assert done.returncode == 0, done


@pytest.mark.soak
def test_a_profile_in_a_file_needs_libcyaml(bare: Path) -> None:
    done = run(PROGRAM, LD_LIBRARY_PATH=str(bare / "lib"), WATTLE_MACHINE="nw-ice")
    assert done.returncode == 78 and "install libcyaml-dev, then build again" in done.stderr, done


@pytest.mark.parametrize(
    ("option", "package"),
    [
        ("WTL_PMIX", "libpmix-dev"),
        ("WTL_UCX", "libucx-dev"),
        ("WTL_OFI", "libfabric-dev"),
        ("WTL_CYAML", "libcyaml-dev"),
    ],
)
@pytest.mark.soak
def test_a_library_that_is_insisted_on_must_be_there(option: str, package: str, tmp_path: Path) -> None:
    command = ("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", f"-D{option}=ON")
    done = run(*command, PKG_CONFIG_LIBDIR=str(tmp_path))
    assert done.returncode != 0 and f"install {package}" in " ".join(done.stderr.split()), done.stderr


@pytest.mark.soak
def test_a_library_that_is_there_can_be_left_out(tmp_path: Path) -> None:
    done = run("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", "-DWTL_PMIX=OFF", "-DWTL_UCX=OFF")
    assert done.returncode == 0, done.stderr
    assert "PMIX: left out (WTL_PMIX=OFF)" in done.stdout and "UCX: left out (WTL_UCX=OFF)" in done.stdout
    targets = run("cmake", "--build", tmp_path, "--target", "help").stdout
    assert "wattle-machine-yaml:" in targets and "wattle-boot-pmix" not in targets and "wattle-net-ucx" not in targets


# --- an installation whose libraries went away ---


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """The libraries, with a module for PMIx whose library is not there."""
    for file in (BUILD / "lib").glob("libwattle*.so*"):
        (tmp_path / file.name).symlink_to(file.resolve())
    for name in ("wattle", "wattle-shmem"):  # modules lie beside the file itself
        (tmp_path / f"lib{name}.so.0").unlink()
        shutil.copy(BUILD / f"lib/lib{name}.so.0", tmp_path)
    module = tmp_path / "libwattle-boot-pmix.so"
    original = module.read_bytes()
    module.unlink()
    module.write_bytes(original.replace(b"libpmix.so.2\0", b"libpmix.so.9\0"))
    return tmp_path


@pytest.mark.soak
def test_boot_goes_by_mpi_where_the_library_of_pmix_is_gone(damaged: Path) -> None:
    OPEN_MPI.require()
    done = run(*OPEN_MPI.start(2, PROGRAM), LD_LIBRARY_PATH=str(damaged), SHMEM_DEBUG="1")
    assert good(done, 2) and "started by mpi" in done.stderr, done


@pytest.mark.soak
def test_the_package_of_a_library_that_is_gone_is_named(damaged: Path) -> None:
    OPEN_MPI.require()
    done = run(*OPEN_MPI.start(2, PROGRAM), LD_LIBRARY_PATH=str(damaged), WATTLE_BOOT="pmix")
    assert done.returncode == 69, done
    assert "boot by PMIx is unavailable (Debian: install libpmix2): libpmix.so.9: cannot open" in done.stderr, done


@pytest.mark.soak
def test_a_module_that_is_gone_is_named(damaged: Path) -> None:
    OPEN_MPI.require()
    (damaged / "libwattle-boot-pmix.so").unlink()
    done = run(*OPEN_MPI.start(2, PROGRAM), LD_LIBRARY_PATH=str(damaged), WATTLE_BOOT="pmix")
    module = damaged / "libwattle-boot-pmix.so"
    assert done.returncode == 69, done
    assert f"was built with PMIx, but its module {module} is gone; install Wattle again" in done.stderr, done


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (
            "WTL_SOURCES",
            "this Wattle was built without PMIx, so it lacks boot by PMIx (Debian: install libpmix-dev, then build",
        ),
        (
            "WTL_WHEEL",
            "this Wattle is a wheel that was built without PMIx, so it lacks boot by PMIx (Debian: install",
        ),
    ],
)
@pytest.mark.soak
def test_a_copy_that_was_built_without_a_library_says_so(tmp_path: Path, option: str, words: str) -> None:
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "base/library_module.h"\n'
        'int main(void) { char why[999]; if (wtl_library_module_load("boot-pmix", why, sizeof why)) return 1;'
        " return puts(why) < 0; }\n"
    )
    program = tmp_path / "program"
    sources = (tmp_path / "main.c", ROOT / "src/base/library_module.c")
    options = ("-D_GNU_SOURCE", f"-D{option}", "-I", ROOT / "src")
    built = run("cc", *options, *sources, "-o", program)
    assert built.returncode == 0, built.stderr
    assert run(program).stdout.startswith(words)


@pytest.mark.soak
def test_without_any_module_each_reason_is_named(damaged: Path) -> None:
    OPEN_MPI.require()
    (damaged / "libwattle-boot-mpi-openmpi.so").unlink()
    done = run(*OPEN_MPI.start(2, PROGRAM), LD_LIBRARY_PATH=str(damaged))
    assert done.returncode == 69 and "install libpmix2" in done.stderr, done
    assert "libwattle-boot-mpi-openmpi.so, which cannot be loaded" in done.stderr, done
