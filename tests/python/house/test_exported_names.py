"""The libraries export the names of the API for users, names of their own with a private version, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from jobs import clean_environment
from tree import ROOT

MAKER = ROOT / "cmake/version_script.py"
VERSION = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").split("project(")[1])[1]
BUILDS = [ROOT / "build" / preset for preset in ("release", "debug", "asan", "threads-tsan")]
MADE = ("lib/libwattle.so", "lib/libwattle-shmem.so", "lib/libarmci.so", "generated/api.json")
LOGS = ROOT / "build" / "log"
MODULES = {  # the names by which Wattle finds what is in a module
    "machine-yaml": ["wtl_machine_parse"],
    "boot-pmix": ["wtl_pmix_module"],
    "net-ucx": ["wtl_transport_ucx"],
    "net-ofi": ["wtl_transport_ofi"],
    "boot-mpi-": ["wtl_mpi_module", "wtl_transport_mpi"],
    "mpi-": ["wtl_mpi_module"],
}
HEADERS = {
    "wattle": ["wattle.h"],
    "wattle-shmem": ["shmem.h", "shmemx.h", "pshmem.h", "pshmemx.h"],
    "armci": ["armcix.h", "message.h"],
}

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not any((build / MADE[0]).exists() for build in BUILDS), reason="nothing is built"),
]


def is_whole(build: Path) -> bool:
    """Whether all of it is there. tools/test builds those of the sanitizers while the tests of the lab run."""
    if not all((build / name).exists() for name in MADE):
        return False
    started, log = LOGS / "started", LOGS / f"test-{build.name}.log"
    if build.name not in ("asan", "threads-tsan") or not started.exists():
        return True
    if not log.exists() or log.stat().st_mtime < started.stat().st_mtime:
        return False
    return "Test project" in log.read_text(encoding="utf-8", errors="replace")  # ctest begins after the build


@pytest.fixture(params=BUILDS, ids=lambda build: build.name)
def build(request: pytest.FixtureRequest) -> Path:
    """Each build. All workers of pytest must collect the same tests, so a build that is not there is skipped here."""
    if not is_whole(request.param):
        pytest.skip(f"{request.param.name} is not built")
    return request.param


def run(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), env=clean_environment(), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def exported(library: Path) -> dict[str, str]:
    """The version node of each exported name."""
    lines = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).splitlines()
    words = [line.split() for line in lines]
    return dict(word[2].partition("@@")[::2] for word in words if word[1] != "A")


def declared(library: str, build: Path, folder: Path) -> set[str]:
    """The functions that the headers of a library declare, according to the compiler."""
    source, listed = folder / f"{library}.c", folder / f"{library}.X"
    source.write_text("".join(f"#include <{header}>\n" for header in HEADERS[library]), encoding="utf-8")
    include = (f"-I{ROOT / 'include'}", f"-I{build / 'include'}", "-DWTL_ARMCI_WITHOUT_MPI")
    run("gcc", "-std=gnu17", *include, "-aux-info", listed, "-c", source, "-o", folder / "object.o")
    ours = re.compile(rf"^/\* ({re.escape(str(ROOT))}[^:]*):.* extern [^(]*?\b(\w+) ?\(", re.MULTILINE)
    return {m[2] for m in ours.finditer(listed.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("library", HEADERS)
def test_users_see_the_functions_of_the_headers_and_no_others(library: str, build: Path, tmp_path: Path) -> None:
    public = {name for name, node in exported(build / f"lib/lib{library}.so").items() if node == "WATTLE_0.1"}
    wanted = declared(library, build, tmp_path)
    if library == "armci":  # Global Arrays' own header declares these
        wanted |= set(re.findall(r"\barmci_tcgmsg_\w+", (ROOT / "src/armci/tcgmsg.h").read_text(encoding="utf-8")))
    # The C11 generics of shmem.h use functions named wtl_*, which are inline or exist nowhere.
    assert public == {name for name in wanted if not name.startswith("wtl_")}
    if library == "wattle-shmem":
        table = [routine["name"] for routine in json.loads((build / "generated/api.json").read_text(encoding="utf-8"))]
        assert public == {*table, *(f"p{name}" for name in table)}


@pytest.mark.parametrize("library", HEADERS)
def test_other_exported_names_are_private_to_this_version(library: str, build: Path) -> None:
    others = {name: node for name, node in exported(build / f"lib/lib{library}.so").items() if node != "WATTLE_0.1"}
    assert set(others.values()) <= {f"WATTLE_PRIVATE_{VERSION}"}
    for_others = {"PMIx_Initialized", "InitializeInjectionNvtx2"}
    assert all(name.startswith("wtl_") or name in for_others for name in others)


def test_modules_export_only_what_they_are_loaded_for(build: Path) -> None:
    for path in (build / "lib").glob("libwattle-*.so"):
        for module, names in MODULES.items():
            if re.fullmatch(rf"libwattle-{module}{'[a-z]+' if module.endswith('-') else ''}\.so", path.name):
                assert sorted(exported(path)) == sorted(names), path


def test_the_preload_library_exports_calls_of_mpi(build: Path) -> None:
    library = build / "lib/libwattle-mpi.so"
    if not library.exists():
        pytest.skip("built without it")
    names = exported(library)
    assert set(names.values()) == {""}, "versions would keep it from standing in front of other libraries"
    assert "MPI_Send" in names and "mpi_send_" in names
    assert all(re.match(r"P?MPIX?_|mpi_|wtl_pmpix?_|sched_yield$|InitializeInjectionNvtx2$", name) for name in names)


@pytest.mark.parametrize("example", ["hello.c", "energy_region.c"])
def test_a_users_program_needs_no_private_name(example: str, tmp_path: Path) -> None:
    program, build = tmp_path / "program", next(filter(is_whole, BUILDS), None)
    if build is None:
        pytest.skip("no build is complete")
    run(build / "bin/oshcc", ROOT / "examples" / example, "-o", program)
    needed = run("readelf", "--version-info", "--wide", program)
    assert "WATTLE_0.1" in needed and "WATTLE_PRIVATE" not in needed


def test_a_name_of_a_later_version_has_the_node_of_that_version(tmp_path: Path) -> None:
    header, added, script = tmp_path / "new.h", tmp_path / "added.txt", tmp_path / "new.map"
    header.write_text(
        "int first(void);\nint second(int (*call)(int), char *text);\nint third(void);\n", encoding="utf-8"
    )
    added.write_text("# text\n0.2 second\n0.10 third # text\n", encoding="utf-8")
    run(sys.executable, MAKER, script, "0.10.1", added, header)
    assert re.findall(r"\S+(?= \{)|\w+(?=;)|WATTLE_[\d.]+(?=;)", script.read_text(encoding="utf-8")) == [
        *("WATTLE_0.1", "first", "WATTLE_0.2", "second", "WATTLE_0.1", "WATTLE_0.10", "third", "WATTLE_0.2"),
        *("WATTLE_PRIVATE_0.10.1", "PMIx_Initialized", "InitializeInjectionNvtx2"),
    ]


def test_a_library_that_is_too_old_is_refused_with_the_version_that_is_missing(tmp_path: Path) -> None:
    """A program that calls a routine of 0.2 does not start with the library of 0.1."""
    header, code, script = tmp_path / "new.h", tmp_path / "new.c", tmp_path / "new.map"
    header.write_text("int first(void);\nint second(void);\n", encoding="utf-8")
    code.write_text("int first(void) { return 0; }\nint second(void) { return 0; }\n", encoding="utf-8")
    (tmp_path / "main.c").write_text('#include "new.h"\nint main(void) { return second(); }\n', encoding="utf-8")
    for name, later in (("older", ""), ("newer", "0.2 second\n")):
        (tmp_path / "added.txt").write_text(later, encoding="utf-8")
        (tmp_path / name).mkdir()
        run(sys.executable, MAKER, script, "0.2.0", tmp_path / "added.txt", header)
        options = ("-shared", "-fPIC", "-Wl,-soname,libnew.so.0", f"-Wl,--version-script={script}")
        run("cc", *options, code, "-o", tmp_path / name / "libnew.so.0")
    run("cc", tmp_path / "main.c", tmp_path / "newer/libnew.so.0", "-o", tmp_path / "main")
    for name, code in (("newer", 0), ("older", 1)):
        env = clean_environment() | {"LD_LIBRARY_PATH": str(tmp_path / name)}
        done = subprocess.run([tmp_path / "main"], env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code and ("WATTLE_0.2" in done.stderr) == (code == 1), done
