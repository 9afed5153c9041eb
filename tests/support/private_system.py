"""This machine with more Debian packages, seen by commands of a test alone (root; overlays in a mount namespace)."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bare_system import passed_variables

COVERED = ("usr", "etc", "var")
# The first process of the namespace. The mounts end with it, so that a test that is killed leaves none.
HOLD = """
for place; do
  mount -t overlay overlay -o "lowerdir=/$place,upperdir=$0/$place/upper,workdir=$0/$place/work" "/$place" || exit 1
done
echo ready
read end
"""


@dataclass(frozen=True)
class PrivateSystem:
    """`pid`: the process that holds the namespace."""

    pid: int

    def words(self, cwd: Path, *words: str) -> list[str]:
        """A command line that runs `words` in the namespace."""
        return ["nsenter", "-t", str(self.pid), "--mount", f"--wd={cwd}", *words]

    def run(
        self, command: str, cwd: Path, environment: Mapping[str, str], limit_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Runs a shell command. It and its children end after `limit_s` seconds, with code 124."""
        return subprocess.run(
            self.words(cwd, "timeout", "-k", "10", str(limit_s), "sh", "-c", command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def install(self, packages: list[str]) -> None:
        """Installs Debian packages. They stay until the namespace ends."""
        environment = passed_variables() | os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        command = f"apt-get update && apt-get install -y --no-install-recommends {' '.join(packages)}"
        done = self.run(command, Path("/"), environment, 5400)
        if done.returncode != 0:
            raise OSError(f"apt-get failed: {(done.stdout + done.stderr)[-2000:]}")


def why_not(folder: Path) -> str | None:
    """The reason for which there can be no such system with its files below `folder`, or None."""
    if os.geteuid() != 0:
        return "needs root"
    if not all(shutil.which(tool) for tool in ("unshare", "nsenter", "apt-get")):
        return "no unshare, nsenter or apt-get here"
    if folder.resolve().parts[1] in COVERED:
        return f"{folder}: an overlay of /{folder.resolve().parts[1]} cannot have its files there"
    return None if "overlay" in Path("/proc/filesystems").read_text() else "this kernel has no overlays"


@contextlib.contextmanager
def private_system(folder: Path) -> Iterator[PrivateSystem]:
    """`folder`: for the files of the packages; it is removed at the end."""
    for place in COVERED:
        for part in ("upper", "work"):
            (folder / place / part).mkdir(parents=True)
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", HOLD, folder, *COVERED]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdin and holder.stdout
        if holder.stdout.readline() != "ready\n":
            raise OSError("no overlay can be mounted here")
        yield PrivateSystem(holder.pid)
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)
