"""A cgroup whose cores no other program may use: a cpuset partition of cgroup v2.

The group is removed however this process ends. A small shell, the keeper, waits for the end of a pipe that only this
process holds open. If the keeper is killed, too, the next study finds the group by its name, which has the process
that made it, and removes it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wattle.text.units import ranges, several

NAME = re.compile(r"wattle-shield-([0-9]+)-([0-9]+)(-c)?")
PARTITION = "cpuset.cpus.partition"

# $1: the group; $2: the folder above it; $3: `c` where cpuset was enabled there for this group.
REMOVE = """\
while read -r pid; do echo "$pid" >"$2/cgroup.procs"; done <"$1/cgroup.procs"
rmdir "$1" && if [ "$3" = c ]; then echo -cpuset >"$2/cgroup.subtree_control"; fi
"""
KEEPER = f"trap '' INT TERM HUP QUIT\ncat >/dev/null\n{REMOVE}"


@dataclass(frozen=True)
class Tree:
    """The tree of control groups. Tests replace it. `root`: the mount of cgroup v2."""

    root: Path
    mkdir: Callable[[Path], None] = os.mkdir
    read: Callable[[Path], str] = Path.read_text
    processes: Path = Path("/proc")


class Refused(Exception):
    """The kernel or the rights of this process do not allow a partition; the text has the reason."""


def mounted(mounts: Path = Path("/proc/self/mounts")) -> Path | None:
    """The mount of cgroup v2; None where there is none."""
    try:
        lines = [line.split() for line in mounts.read_text(errors="replace").splitlines()]
    except OSError:
        return None
    return next((Path(words[1]) for words in lines if len(words) > 2 and words[2] == "cgroup2"), None)


class Group:
    """A partition with this process in it. Jobs that start afterwards are in it, too."""

    def __init__(self, tree: Tree, cpus: set[int]) -> None:
        """Makes the group and moves this process into it. Raises Refused, with nothing left of the group."""
        self.tree, self.cpus = tree, cpus
        self._keeper: subprocess.Popen[bytes] | None = None
        self._former = _own(tree)
        self._check()
        self._enabled = "cpuset" not in self._read(tree.root / "cgroup.subtree_control").split()
        self.path = tree.root / f"wattle-shield-{os.getpid()}-{_start(tree, os.getpid())}{'-c' * self._enabled}"
        try:
            self._make()
        except (OSError, Refused) as error:
            self.close()
            said = str(error) if isinstance(error, Refused) else f"{error.filename}: {error.strerror}"
            raise Refused(said) from None

    def _check(self) -> None:
        controllers = self._read(self.tree.root / "cgroup.controllers").split()
        if "cpuset" not in controllers:
            raise Refused(f"{self.tree.root} has no cpuset controller")

    def _read(self, path: Path) -> str:
        try:
            return self.tree.read(path)
        except OSError as error:
            raise Refused(f"{path}: {error.strerror}") from None

    def _make(self) -> None:
        if self._enabled:
            _write(self.tree.root / "cgroup.subtree_control", "+cpuset")
        self.tree.mkdir(self.path)
        words = ["sh", "-c", KEEPER, "wattle-shield", str(self.path), str(self.tree.root), "c" if self._enabled else ""]
        nowhere = subprocess.DEVNULL
        self._keeper = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        _write(self.path / "cpuset.cpus", ranges(sorted(self.cpus)))
        _write(self.path / PARTITION, "root")
        state = self._read(self.path / PARTITION).strip()
        if state != "root":
            raise Refused(f"the kernel made no partition of the cores {ranges(sorted(self.cpus))}: {state}")
        _write(self.path / "cgroup.procs", str(os.getpid()))

    def cpu_s(self) -> float | None:
        """The CPU seconds of all processes that were in the group; None where the kernel does not count them."""
        with suppress(OSError, ValueError):
            lines = dict(line.split() for line in self.tree.read(self.path / "cpu.stat").splitlines())
            return int(lines["usage_usec"]) * 1e-6
        return None

    def close(self) -> None:
        """Moves this process back to its former group, and removes this one."""
        for group in (self._former, self.tree.root):
            with suppress(OSError):
                _write(group / "cgroup.procs", str(os.getpid()))
                break
        keeper, self._keeper = self._keeper, None
        if keeper is not None and keeper.stdin is not None:
            keeper.stdin.close()
            keeper.wait()
        if self.path.exists() or (keeper is None and self._enabled):
            remove(self.tree, self.path)


def _write(path: Path, text: str) -> None:
    path.write_text(text)  # a control file of the kernel takes one write


def _own(tree: Tree) -> Path:
    """The control group of this process."""
    with suppress(OSError):
        for line in (tree.processes / "self" / "cgroup").read_text(errors="replace").splitlines():
            if line.startswith("0::/"):
                return tree.root / line[4:]
    return tree.root


def _start(tree: Tree, pid: int) -> str:
    """The moment at which a process started, in the kernel's ticks; empty where there is no such process."""
    with suppress(OSError, IndexError):
        return (tree.processes / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    return ""


def remove(tree: Tree, path: Path) -> bool:
    """Removes a group: moves its processes to the root, and removes the folder. Returns whether it is gone."""
    words = ["sh", "-c", REMOVE, "wattle-shield", str(path), str(tree.root), "c" if path.name.endswith("-c") else ""]
    subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return not path.exists()


def repair(tree: Tree) -> str:
    """Removes groups of studies that were killed together with their keepers. Returns a sentence, or ""."""
    try:
        found = [path for path in tree.root.iterdir() if NAME.fullmatch(path.name)]
    except OSError:
        return ""
    left = [path for path in found if (name := NAME.fullmatch(path.name)) and _start(tree, int(name[1])) != name[2]]
    gone = [remove(tree, path) for path in left]
    if not left:
        return ""
    if all(gone):
        return f"{several(len(left), 'group')} of cores of killed studies removed from {tree.root}"
    return f"{left[gone.index(False)]}: a killed study left this group of cores, and it cannot be removed; use rmdir"
