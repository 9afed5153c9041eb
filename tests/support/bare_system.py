"""A bare system of Debian in a folder, in which tests install packages as a user does (root; debootstrap)."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tree import ROOT

# Devices and processes of this machine, in a mount namespace of each command. So a test that is killed leaves no mount,
# and removing its folder removes nothing of this machine.
ENTER = """
for place in proc sys dev dev/pts dev/shm; do mount --bind "/$place" "$0/$place"; done
exec chroot "$0" sh -ec "$1"
"""
IN_NAMESPACE = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", ENTER]
# Where package managers of the host keep their sources, for a system that has no other.
SETTINGS = (
    "etc/apt/sources.list.d",
    "etc/apt/apt.conf.d",
    "etc/apt/auth.conf.d",
    "etc/pip.conf",
    "etc/resolv.conf",
    "etc/hosts",
)
SETTINGS += ("etc/ssl/certs", "usr/local/share/ca-certificates", "root/.config/pip", "root/.pip")
PASSED = ("PIP_", "SSL_", "REQUESTS_CA", "http", "HTTP", "no_proxy", "NO_PROXY")  # beginnings of variables


def why_not() -> str | None:
    """The reason for which no bare system can be made here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    return None if shutil.which("debootstrap") else "no debootstrap here"


@dataclass(frozen=True)
class BareSystem:
    root: Path

    def run(self, command: str, code: int = 0) -> str:
        """Runs a shell command in the system. Returns what it printed on both streams."""
        environment = {
            "HOME": "/root",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
        }
        done = subprocess.run(
            [*IN_NAMESPACE, self.root, command],
            env=passed_variables() | environment | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{command}: code {done.returncode}\n{done.stdout}"
        return done.stdout


def base_of_this_release() -> Path:
    """A minimal system of this machine's release, which is kept in build/ for the next test."""
    (suite,) = (
        line.partition("=")[2].strip()
        for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
        if line.startswith("VERSION_CODENAME=")
    )
    base = ROOT / "build" / f"bare-{suite}"
    if not (base / "done").exists():
        shutil.rmtree(base, ignore_errors=True)
        command = ["debootstrap", "--variant=minbase", "--include=ca-certificates", suite, base, *mirror()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (base / "done").touch()
    return base


def copy_base(folder: Path) -> None:
    """Copies the minimal system into a folder, with this machine's package sources."""
    subprocess.run(["cp", "-a", f"{base_of_this_release()}/.", folder], check=True)
    for name in SETTINGS:
        source, target = Path("/") / name, folder / name
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-aLT", source, target], check=False, capture_output=True)
    (folder / "etc/apt/sources.list").unlink(missing_ok=True)
    # Packages of the system may own files of apt that are here by now.
    keep = 'Dpkg::Options {"--force-confdef"; "--force-confold";};\n'
    (folder / "etc/apt/apt.conf.d/99keep").write_text(keep, encoding="utf-8")


def passed_variables() -> dict[str, str]:
    """Variables of package indexes and certificates."""
    return {name: value for name, value in os.environ.items() if name.startswith(PASSED)}


@contextlib.contextmanager
def bare_system(folder: Path) -> Iterator[BareSystem]:
    """A copy of a minimal system. Its commands see devices and processes of this machine."""
    copy_base(folder)
    try:
        yield BareSystem(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def mirror() -> list[str]:
    """The address that this machine takes packages from, if a file of it names one."""
    for path in sorted(Path("/etc/apt/sources.list.d").glob("*.sources")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("URIs:"):
                return [line.split()[1]]
    return []
