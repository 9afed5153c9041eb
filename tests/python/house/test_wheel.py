"""The wheel is built, and a bare system installs, uses and removes it."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_system import BareSystem, bare_system, why_not
from tree import ROOT

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600), pytest.mark.skipif(bool(why_not()), reason=str(why_not()))]

HELLO = "examples/hello.c"


@pytest.fixture
def system(tmp_path: Path) -> Iterator[BareSystem]:
    with bare_system(tmp_path / "system") as system:
        system.run("apt-get update -qq")
        yield system


def test_the_wheel_brings_runtime_and_lab_without_a_compiler(system: BareSystem) -> None:
    built = subprocess.run([ROOT / "tools/wheel"], check=True, capture_output=True, text=True).stdout
    (wheel,) = [Path(line) for line in built.splitlines() if line.endswith(".whl")]
    assert re.fullmatch(r"wattle-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl", wheel.name), wheel.name
    copied = [name for name in zipfile.ZipFile(wheel).namelist() if ".libs/" in name and not name.endswith("/")]
    assert copied == [], "libraries of this machine"
    shutil.copy(wheel, system.root)
    program = system.root / "hello"
    subprocess.run([ROOT / "build/release/bin/oshcc", ROOT / HELLO, "-o", program], check=True)

    system.run("apt-get install -y --no-install-recommends python3-venv openmpi-bin libpmix2")
    assert system.run("command -v cc gcc clang || true") == ""
    system.run(f"python3 -m venv /lab && /lab/bin/pip install --quiet --disable-pip-version-check /{wheel.name}")
    assert system.run("/lab/bin/oshrun --version").startswith("oshrun (Wattle) ")
    # The program was compiled elsewhere, and a wheel has no folder of links that oshrun could add.
    use = "export LD_LIBRARY_PATH=/lab/lib; cd /tmp"
    assert len(system.run(f"{use}; /lab/bin/oshrun -n 2 /hello").splitlines()) == 2
    assert "PE" in system.run(f"{use}; /lab/bin/wattle run -n 2 -- /hello")
    system.run("/lab/bin/wattle doctor && /lab/bin/oshcc --showme:version")
    measured = "import wattle; e = wattle.energy().begin(); e.end(); print(e.joules.provenance)"
    assert system.run(f"/lab/bin/python -c '{measured}'").strip() in ("measured", "modelled", "unavailable")
    system.run("/lab/bin/pip uninstall -y wattle")
    left = system.run("find /lab -name '*wattle*' -type f -not -name '*.pyc'")
    assert left == "", left
