"""Counts the CPU time of a control group, for programs whose processes a service starts, such as containers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wattle.base.errors import WattleError

MOUNT = Path("/sys/fs/cgroup")
HIERARCHIES = ("", "unified", "cpuacct", "cpu,cpuacct")  # version 2 alone; beside version 1; two names of version 1
EVERY_S = 0.2  # a group may be removed when its last process ends


class Group:
    """A control group by its path below the mount, as `/proc/PID/cgroup` shows it, or by its folder. It may come later.

    `cpu_s` is the CPU time in seconds of its processes and of those of its subgroups since `counted` began.
    """

    def __init__(self, given: str, mount: Path = MOUNT, own: Path = Path("/proc/self/cgroup")) -> None:
        """Raises WattleError for a group that holds this process, which starts the program."""
        folder = Path(given)
        self.path = str(folder.relative_to(mount) if folder.is_relative_to(mount) else given).strip("/")
        self.folders = [mount / hierarchy / self.path for hierarchy in HIERARCHIES]
        self.seen = False
        self._before = self._last = 0.0
        if not self.path or any(f"{path}/".startswith(f"/{self.path}/") for path in _paths(own)):
            raise WattleError(f"--cgroup {given}: holds this command itself; give the group of the service's processes")

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts while the context lasts."""
        self._before = self._last = self._read() or 0.0
        ended = threading.Event()
        reader = threading.Thread(target=self._follow, args=(ended,), daemon=True)
        reader.start()
        try:
            yield
        finally:
            ended.set()
            reader.join()

    @property
    def cpu_s(self) -> float:
        return max(0.0, self._last - self._before)

    def _follow(self, ended: threading.Event) -> None:
        while not ended.wait(EVERY_S):
            self.take()
        self.take()

    def take(self) -> None:
        """Reads the group once."""
        now = self._read()
        if now is None:
            return
        if now < self._last:  # it was removed and made again
            self._before -= self._last
        self._last = now

    def _read(self) -> float | None:
        for folder in self.folders:
            for seconds in (_of_version_2(folder), _of_version_1(folder)):
                if seconds is not None:
                    self.seen = True
                    return seconds
        return None


def _of_version_2(folder: Path) -> float | None:
    try:
        lines = (folder / "cpu.stat").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1e-6 for line in lines if line.startswith("usage_usec ")), None)


def _of_version_1(folder: Path) -> float | None:
    try:
        return int((folder / "cpuacct.usage").read_text()) * 1e-9
    except OSError:
        return None


def _paths(own: Path) -> list[str]:
    """The groups of this process, one for each hierarchy."""
    try:
        return [line.split(":", 2)[2] for line in own.read_text().splitlines() if line.count(":") >= 2]
    except OSError:
        return []
