"""Debian packages are built, and a bare system installs, uses, upgrades and removes them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_system import BareSystem, bare_system, why_not
from tree import ROOT

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600), pytest.mark.skipif(bool(why_not()), reason=str(why_not()))]

LIBRARIES = ["libwattle-shmem0", "libwattle-shmem-dev", "libwattle-shmem-compat"]
DEBIAN = [*LIBRARIES, "wattle", "wattle-mpi", "wattle-slurm", "wattle-doc"]
LATER = "0.1.0+later"
HELLO = "examples/hello.c"


@pytest.fixture
def system(tmp_path: Path) -> Iterator[BareSystem]:
    with bare_system(tmp_path / "system") as system:
        system.run("apt-get update -qq")
        yield system


def packages_of(*version: str) -> list[Path]:
    """Builds the packages, or packs the same build again under another version. Returns all but debugging symbols."""
    printed = subprocess.run([ROOT / "tools/packages", *version], check=True, capture_output=True, text=True).stdout
    return [Path(line) for line in printed.splitlines() if line.endswith(".deb") and "-dbgsym" not in line]


def files_of_wattle(system: BareSystem, *without: str) -> str:
    """Files with Wattle's name, apart from the packages themselves and some folders."""
    others = " ".join(f"-not -path '{folder}/*'" for folder in ("/now", "/later", "/proc", *without))
    return system.run(f"find / -xdev -name '*wattle*' {others}")


def test_debian_packages_install_run_upgrade_and_remove(system: BareSystem) -> None:
    for folder, version in (("now", ()), ("later", (LATER,))):
        packages = packages_of(*version)
        assert sorted(package.name.partition("_")[0] for package in packages) == sorted(DEBIAN)
        (system.root / folder).mkdir()
        for package in packages:
            shutil.copy(package, system.root / folder)
    shutil.copy(ROOT / HELLO, system.root / "hello.c")

    # The libraries alone need no MPI, no compiler and no Python.
    system.run("apt-get install -y --no-install-recommends /now/libwattle-shmem0_*.deb")
    installed = system.run("dpkg-query -W -f '${Package}\\n'").split()
    assert not {"gcc", "libopenmpi3", "libmpich12", "python3", "libucx0"} & set(installed)

    # Then Open MPI with an OpenSHMEM of its own, and all packages beside it.
    system.run(
        "apt-get install -y --no-install-recommends openmpi-bin libopenmpi-dev gcc g++ libc6-dev pkg-config libpmix2"
    )
    other = system.run("readlink -f /usr/bin/oshcc")
    system.run("apt-get install -y --no-install-recommends /now/*.deb")
    for compiler, launcher in (("oshcc", "oshrun"), ("oshcc.wattle", "oshrun.wattle"), ("shmemcc", "shmemrun")):
        system.run(f"{compiler} /hello.c -o /hello")
        assert len(system.run(f"{launcher} -n 2 /hello").splitlines()) == 2
    assert "Wattle" in system.run("oshcc --showme:version")
    # Open MPI's own are beside them.
    assert "Open SHMEM" in system.run("oshcc.openmpi --showme:version")
    assert "-loshmem" in system.run("oshcc.openmpi --showme:link")
    assert "OpenRTE" in system.run("oshrun.openmpi --version")
    for module in ("wattle-shmem", "oshmem", "sandia-openshmem", "openshmem"):
        flags = system.run(f"pkg-config --cflags --libs {module}").strip()
        system.run(f"cc /hello.c {flags} -o /hello")
        assert len(system.run("oshrun -n 2 /hello").splitlines()) == 2
    system.run("echo '#include <openshmem/shmem.h>' | cc -I/usr/include/$(cc -print-multiarch) -c -x c - -o /dev/null")
    assert "pip install" in system.run("wattle doctor", code=69)
    assert "wattle" in system.run("/usr/lib/wattle/bin/wattle-info")

    system.run("apt-get install -y --no-install-recommends /later/*.deb")
    assert system.run("dpkg-query -W -f '${Version}' wattle") == LATER
    assert len(system.run("oshrun -n 2 /hello").splitlines()) == 2 and "openshmem" in system.run("ls /usr/include/*/")

    # Without the package of other names, Open MPI has its own again. Then all are removed, and installed once more.
    system.run("apt-get remove -y libwattle-shmem-compat")
    assert system.run("readlink -f /usr/bin/oshcc") == other and "Open SHMEM" in system.run("oshcc --showme:version")
    assert len(system.run("oshrun.wattle -n 2 /hello").splitlines()) == 2
    system.run(f"apt-get remove -y {' '.join(DEBIAN)}")
    states = set(system.run("dpkg-query -W -f '${db:Status-Status}\\n' '*wattle*'").split())
    assert states <= {"not-installed", "config-files"}, states
    assert files_of_wattle(system, "/var/lib/dpkg") == ""
    assert "cannot open shared object file" in system.run("/hello 2>&1", code=127)
    system.run("apt-get install -y --no-install-recommends /later/*.deb")
    assert len(system.run("oshcc /hello.c -o /hello && oshrun -n 2 /hello").splitlines()) == 2

    system.run(f"apt-get purge -y {' '.join(DEBIAN)}")
    assert system.run("readlink -f /usr/bin/oshcc") == other and "Open SHMEM" in system.run("oshcc --showme:version")
    assert "wattle" not in system.run("dpkg-divert --list; update-alternatives --get-selections")
    assert files_of_wattle(system) == ""
