"""Several nodes on one machine: network namespaces on a bridge, for tests, studies and benchmarks.

Each node is a network namespace with one interface, e0, on a bridge in a namespace of its own. The machine's own
network is not changed. A job starts on the first node; Open MPI reaches the others through a script instead of ssh.
Each node's processes are bound to a core of their own where there are enough cores. Otherwise all daemons of Open
MPI would bind their first process to core 0. Needs root and iproute2.

The nodes are removed however this process ends. A small shell, the keeper, waits for the end of a pipe that only
this process holds open, and then removes everything. This process closes the pipe at the end; if it is killed, the
kernel does.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.machine.commands import run_quietly

SUBNET = "10.213.77"  # used inside the namespaces only
NAMED = "/run/netns"  # the folder in which `ip netns add` mounts namespaces
LOCK = "/run"  # locked (shared) while nodes exist; a process that gets the exclusive lock may unmount NAMED
TOOLS = ("ip", "tc", "nsenter", "unshare", "taskset", "mount", "flock")
PACKAGES = "iproute2 util-linux"  # Debian packages that hold them
# Linux's default, as between the nodes of a cluster. This machine may use one for long-distance lines, whose pacing
# costs time here.
TCP = "echo cubic >/proc/sys/net/ipv4/tcp_congestion_control"
# The kernel reports a link as up some moments after it was set up, and UCX uses only links that are up. One second is
# ample.
IS_UP = """\
for look in $(seq 100); do
  case $(ip -o link show e0) in *"state UP"*) break ;; esac
  sleep 0.01
done"""
# Settings of a shaped link. They replace the segmentation offload of a network card and a switch without CPU cost. The
# shaper takes up to six segments, which fit its burst, in one piece. No firewall filters the traffic on the bridge.
OFFLOAD = "ip link set e0 gso_max_segs 6"
NO_FIREWALL = "for f in /proc/sys/net/bridge/bridge-nf-call-*; do echo 0 >$f; done"
# All namespaces share one table of neighbours, of 1,024 addresses by Linux's default, where each machine of a cluster
# has its own. With more nodes than this the addresses are entered permanently, which that limit does not count.
MOST_THAT_ASK = 24
RATE = re.compile(r"([1-9][0-9]*(?:\.[0-9]+)?)(k|m|g)bit")

# Enters a node: its network, its host name, its core, and the sysfs of that network, where UCX finds interfaces. The
# nodes know each other's names, except in a chroot, whose root is no mount that could be made private. Each entry gets
# a temporary folder that is removed with the nodes. Two daemons of Open MPI that start at once on one node would
# otherwise make the same folder, and one of them can fail.
ENTER = """\
#!/bin/sh
node=$1; shift
folder=${0%/*}
TMPDIR=$(mktemp -d "$folder/tmp.XXXXXX") || exit; export TMPDIR
exec nsenter --net="/run/netns/$node" unshare --uts --mount --propagation unchanged sh -c '
  folder=$1 node=$2; shift 2
  mount --make-rprivate / 2>/dev/null && mount --bind "$folder/hosts" /etc/hosts 2>/dev/null
  mount --make-private /sys && mount -t sysfs sysfs /sys
  hostname "$node"
  exec taskset -c "${node##*-}" "$@"' enter "$folder" "$node" "$@"
"""

# Replaces ssh. Arguments: [OPTION]... HOST COMMAND... Only MPICH's launcher gives options.
AGENT = """\
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec "${0%/*}/enter" "$host" sh -c "$*"
"""

# Removes the nodes. Arguments: FOLDER, "umount" where /run/netns was no mount before, NAMESPACE... Missing parts are no
# error, because nodes may be only partly made. Processes may fork while they are killed, so it tries several times.
# While other nodes exist, the mount stays: unmounting it could hide a namespace that is being added.
KEEPER = """\
trap '' HUP INT QUIT TERM
cat >/dev/null
folder=$1 umount=$2; shift 2
for round in 1 2 3; do
  pids=$(printf 'netns pids %s\\n' "$@" | ip -force -batch -)
  [ "$pids" ] || break
  kill -9 $pids
done
printf 'netns del %s\\n' "$@" | ip -force -batch -
[ "$umount" != umount ] || flock -n /run umount /run/netns
rm -rf "$folder"
"""

_made = itertools.count()


class NodesError(WattleError):
    """Nodes cannot be made here; the message gives the reason."""


def unavailable() -> str | None:
    """The reason why nodes cannot be made here; None where they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)} not found (Debian: apt install {PACKAGES})"
    # Mount propagation stays unchanged, because a chroot allows nothing else.
    probe = run_quietly(["unshare", "--net", "--uts", "--mount", "--propagation", "unchanged", "true"])
    return None if probe.returncode == 0 else f"no network namespaces here: {probe.stderr.strip()}"


def _free_stem() -> str:
    """The prefix of the namespaces' names. It avoids names left by a killed process with the same process number."""
    stems = (f"wtl{os.getpid()}x{n}" for n in _made)
    return next(stem for stem in stems if not any(Path(NAMED).glob(f"{stem}[n-]*")))


def _hardware_address(i: int) -> str:
    """The hardware address of node `i`, a locally administered one."""
    return f"02:00:00:00:{i >> 8:02x}:{i & 255:02x}"


def check_rate(option: str, rate: str) -> str:
    """Checks the bandwidth of a link, in the form that `tc` takes, such as "1gbit". Raises NodesError."""
    if not RATE.fullmatch(rate):
        raise NodesError(f"{option} {rate}: not a bandwidth; write bits a second as 100mbit, 1gbit or 2.5gbit")
    return rate


def _tell(words: list[str], holding: tuple[int, ...] = (), commands: str = "") -> None:
    """Runs a tool that reports errors on standard error. `holding` are descriptors that it holds open; `commands` is
    its standard input. Raises NodesError where it fails.
    """
    done = run_quietly(words, holding=holding, words=commands)
    if done.returncode != 0:
        raise NodesError(f"cannot make nodes: {' '.join(words)}: {done.stderr.strip() or done.returncode}")


def _inside(name: str, *words: str) -> list[str]:
    """A command line that runs in a namespace. (`ip netns exec` also changes mounts, which a chroot does not allow.)"""
    return ["nsenter", f"--net={NAMED}/{name}", *words]


@dataclass
class Nodes:
    """`count` nodes while the context lasts. `rate` is the bandwidth of each node's link for `tc`, such as "1gbit"."""

    count: int = 2
    rate: str | None = None
    names: list[str] = field(default_factory=list)
    cores: list[int] = field(default_factory=list)  # one core a node, for its processes
    _switch: str = ""
    _keeper: subprocess.Popen[str] | None = None
    _keeping: list[str] = field(default_factory=list)  # the keeper's command
    _lock: int = -1
    _folder: Path | None = None

    def __enter__(self) -> Nodes:
        if reason := unavailable():
            raise NodesError(f"cannot make nodes: {reason}")
        stem = _free_stem()
        may = sorted(os.sched_getaffinity(0))
        self.cores = [may[i % len(may)] for i in range(self.count)]
        # no dot, because mpirun compares names up to the first dot
        self.names = [f"{stem}n{i}-{core}" for i, core in enumerate(self.cores)]
        self._switch = f"{stem}-sw"
        try:
            self._start_keeper()
            self._write_scripts()
            self._make()
        except OSError as error:
            self._take_down()
            raise NodesError(f"cannot make nodes: {error.filename or 'sh'}: {error.strerror}") from None
        except BaseException:
            self._take_down()
            raise
        return self

    def _start_keeper(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="wattle-nodes-"))
        self._lock = os.open(LOCK, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        umount = "" if os.path.ismount(NAMED) else "umount"  # `ip netns add` mounts this folder on itself
        self._keeping = ["sh", "-c", KEEPER, "keeper", str(self._folder), umount, *self.names, self._switch]
        self._keeper = subprocess.Popen(
            self._keeping,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # so that Ctrl-C does not reach it
        )

    def _write_scripts(self) -> None:
        for name, text in (("enter", ENTER), ("agent", AGENT)):
            script = self.folder / name
            files.write_atomically(script, text)
            script.chmod(0o755)
        hosts = Path("/etc/hosts")
        known = hosts.read_text(errors="replace") if hosts.exists() else ""
        lines = [f"{SUBNET}.{i + 1} {name}" for i, name in enumerate(self.names)]
        files.write_atomically(self.folder / "hosts", "\n".join([known.rstrip("\n"), *lines, ""]))

    def _make(self) -> None:
        ports = list(enumerate(self.names))
        namespaces = [f"netns add {name}" for name in [self._switch, *self.names]]
        links = [
            f"link add e0 address {_hardware_address(i)} netns {name} type veth peer name p{i} netns {self._switch}"
            for i, name in ports
        ]
        self._batch([], namespaces + links)
        bridge = ["link add br0 type bridge", "link set br0 up", *(f"link set p{i} master br0 up" for i, _ in ports)]
        self._batch(_inside(self._switch), bridge)
        if self.rate:
            self._try(self._switch, NO_FIREWALL)
        for i, name in ports:
            self._set_up(name, i)

    def _set_up(self, name: str, i: int) -> None:
        steps = [f"addr add {SUBNET}.{i + 1}/24 dev e0", "link set lo up", "link set e0 up"]
        if self.count > MOST_THAT_ASK:
            steps += [
                f"neigh add {SUBNET}.{k + 1} lladdr {_hardware_address(k)} dev e0 nud permanent"
                for k in range(self.count)
                if k != i
            ]
        self._batch(_inside(name), steps)
        self._try(name, TCP)
        if self.rate:
            self._try(name, OFFLOAD)
            # A larger burst would hide the shaping from short messages.
            shape = ["root", "tbf", "rate", self.rate, "burst", "10kb", "latency", "50ms"]
            self._do(*_inside(name, "tc", "qdisc", "add", "dev", "e0", *shape))
        self._do(*_inside(name, "sh", "-c", IS_UP))

    def _try(self, name: str, setting: str) -> None:
        """Changes a setting of a namespace if that is possible."""
        self._do(*_inside(name, "sh", "-c", f"({setting}) 2>/dev/null || :"))

    def _batch(self, inside: list[str], commands: list[str]) -> None:
        """Runs several commands of `ip` in one process, because starting a process takes longer than the commands."""
        self._do(*inside, "ip", "-batch", "-", commands="\n".join(commands))

    def _do(self, *words: str, commands: str = "") -> None:
        """Runs one step of making the nodes; `commands` is its standard input. The step holds the keeper's pipe and the
        lock. If this process is killed, the keeper waits for the end of the step and so removes all that it makes.
        """
        assert self._keeper and self._keeper.stdin
        _tell(list(words), (self._keeper.stdin.fileno(), self._lock), commands)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._take_down()

    def _take_down(self) -> None:
        """Lets the keeper remove the nodes and waits for it. The keeper continues if this wait is interrupted."""
        keeper, self._keeper = self._keeper, None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        if keeper is not None and keeper.stdin is not None:
            keeper.stdin.close()
            if keeper.wait() < 0:  # the keeper was killed
                run_quietly(self._keeping)
        elif self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self.names, self._folder = [], None

    @property
    def folder(self) -> Path:
        assert self._folder
        return self._folder

    @property
    def environment(self) -> dict[str, str]:
        """Settings by which Open MPI's launcher on a node reaches the others, if `inside` starts it."""
        agent = str(self.folder / "agent")
        by_version = {  # each release reads its own two
            **{"OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": agent},  # Open MPI 4
            **{"PRTE_MCA_plm": "ssh", "PRTE_MCA_plm_ssh_agent": agent},  # Open MPI 5
        }
        return {"WATTLE_LAUNCHER": "openmpi", **by_version}

    def cut(self, i: int) -> None:
        """Takes the link of node `i` down."""
        _tell(_inside(self.names[i], "ip", "link", "set", "e0", "down"))

    def inside(self, i: int, *words: str) -> list[str]:
        """A command line that runs on node `i`."""
        return [str(self.folder / "enter"), self.names[i], *words]

    def command(self, launcher: str, pes: int | Sequence[int], *words: str) -> list[str]:
        """A command line that starts `launcher` (oshrun or mpirun) on the first node with `pes` PEs on each node, or
        with pes[k] on node k. `words` are further options and the program.
        """
        share, hosts = self._shared(pes)
        reach = [f"{name}={value}" for name, value in self.environment.items()]
        start = [launcher, "-n", str(sum(share)), "--host", hosts, "--bind-to", "none"]
        return self.inside(0, "env", *reach, *start, *words)

    def by_mpich(self, mpiexec: str, pes: int | Sequence[int], *words: str) -> list[str]:
        """As `command`, with MPICH's mpiexec. No name server knows the nodes: the first one's address is given."""
        reach = ["-localhost", f"{SUBNET}.1", "-iface", "e0", "-launcher", "ssh"]
        reach += ["-launcher-exec", str(self.folder / "agent")]
        share, hosts = self._shared(pes)
        return self.inside(0, mpiexec, *reach, "-hosts", hosts, "-n", str(sum(share)), *words)

    def _shared(self, pes: int | Sequence[int]) -> tuple[Sequence[int], str]:
        """The number of PEs of each node, and the same as a list for a launcher."""
        share = [pes] * self.count if isinstance(pes, int) else pes
        return share, ",".join(f"{name}:{n}" for name, n in zip(self.names, share, strict=False))
