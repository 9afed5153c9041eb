"""Several nodes on one machine: network namespaces on a bridge, for tests, studies and benchmarks.

Each node is a network namespace with one interface, e0, on a bridge in a namespace of its own, so the machine's
own network is not touched. A job starts on the first node; Open MPI reaches the others through a script instead of ssh.
Each node's processes are bound to a core of their own where there are enough, because the daemons of Open MPI would
otherwise all bind their first process to core 0. Needs root and iproute2.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

SUBNET = "10.213.77"  # inside the namespaces only
NAMED = "/run/netns"  # where `ip netns add` puts them

# Enters a node: its network, a name and core of its own, and the sysfs of that network, where UCX looks for interfaces.
ENTER = """\
node=$1; shift
exec nsenter --net="/run/netns/$node" unshare --uts --mount --propagation unchanged sh -c '
  node=$1; shift
  mount --make-private /sys && mount -t sysfs sysfs /sys
  hostname "$node"
  exec taskset -c "${node##*-}" "$@"' enter "$node" "$@"
"""

# Stands in for ssh: HOST COMMAND...
AGENT = """\
#!/bin/sh
host=$1; shift
exec "$(dirname "$0")/enter" "$host" sh -c "$*"
"""


def unavailable() -> str | None:
    """Why nodes cannot be made here; None if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in ("ip", "nsenter", "unshare", "taskset") if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)} not found (Debian: apt install iproute2 util-linux)"
    probe = subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"no network namespaces here: {probe.stderr.strip()}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _inside(name: str, *words: str) -> list[str]:
    """A command in a namespace. (`ip netns exec` changes mounts as well, which a chroot does not allow.)"""
    return ["nsenter", f"--net={NAMED}/{name}", *words]


def _ip_inside(name: str, *words: str) -> None:
    subprocess.run(_inside(name, "ip", *words), check=True, capture_output=True, text=True)


@dataclass
class Nodes:
    """`count` nodes while the context lasts. `rate`: bandwidth of each node's link for `tc`, such as "1gbit"."""

    count: int = 2
    rate: str | None = None
    names: list[str] = field(default_factory=list)
    _switch: str = ""
    _mounted_before: bool = True
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Nodes:
        stem = f"wtl{os.getpid()}"
        cores = sorted(os.sched_getaffinity(0))
        self._folder = tempfile.TemporaryDirectory(prefix="wattle-nodes-")
        self._switch = f"{stem}-sw"
        self._mounted_before = os.path.ismount(NAMED)
        try:
            _ip("netns", "add", self._switch)
            _ip_inside(self._switch, "link", "add", "br0", "type", "bridge")
            _ip_inside(self._switch, "link", "set", "br0", "up")
            for i in range(self.count):
                # No dot: mpirun compares names up to the first one.
                self._add(f"{stem}n{i}-{cores[i % len(cores)]}", i)
        except subprocess.CalledProcessError as error:
            self.__exit__(None, None, None)
            raise RuntimeError(f"cannot make node {len(self.names)}: {error.stderr.strip()}") from error
        for name, text in (("enter", "#!/bin/sh\n" + ENTER), ("agent", AGENT)):
            script = self.folder / name
            script.write_text(text)
            script.chmod(0o755)
        return self

    def _add(self, name: str, i: int) -> None:
        _ip("netns", "add", name)
        self.names.append(name)
        port = f"p{i}"
        _ip("link", "add", "e0", "netns", name, "type", "veth", "peer", "name", port, "netns", self._switch)
        _ip_inside(self._switch, "link", "set", port, "master", "br0", "up")
        _ip_inside(name, "addr", "add", f"{SUBNET}.{i + 1}/24", "dev", "e0")
        for link in ("lo", "e0"):
            _ip_inside(name, "link", "set", link, "up")
        if self.rate:
            shape = ["root", "tbf", "rate", self.rate, "burst", "10kb", "latency", "50ms"]
            subprocess.run(_inside(name, "tc", "qdisc", "add", "dev", "e0", *shape), check=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in self.names:
            for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        for name in [*self.names, self._switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.names.clear()
        if not self._mounted_before:
            subprocess.run(["umount", NAMED], capture_output=True)  # `ip netns add` mounted it on itself
        if self._folder:
            self._folder.cleanup()

    @property
    def folder(self) -> Path:
        assert self._folder
        return Path(self._folder.name)

    def cut(self, i: int) -> None:
        """Takes the link of node `i` down."""
        _ip_inside(self.names[i], "link", "set", "e0", "down")

    def command(self, launcher: str, pes: int, *words: str) -> list[str]:
        """`launcher` (oshrun or mpirun) started on the first node with `pes` PEs on each; then options and program."""
        first = self.names[0]
        hosts = ",".join(f"{name}:{pes}" for name in self.names)
        start = [launcher, "-n", str(pes * self.count), "--mca", "plm_rsh_agent", str(self.folder / "agent")]
        inner = [*start, "--host", hosts, "--bind-to", "none", *words]
        return [str(self.folder / "enter"), first, *inner]
