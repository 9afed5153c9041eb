"""A Slurm cluster on this machine for as long as a context lasts: munge, the controller, and a few nodes.

Everything lies in a private folder: configuration, key, socket, state, logs; the ports are free ones on loopback. So a
Slurm that is at home here is not disturbed. The nodes are several slurmd on this one machine, which Debian's build can
do; each has the machine's first two cores. The daemons live in a process namespace of their own: when its first process
ends, the kernel ends all of them and every job. A keeper sees to that, and removes the folder, even if the tests are
killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

TOOLS = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "srun": "slurm-client",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
CORES = 2  # of each node
MEMORY_MB = 1000
START_S = 180
CGROUPS = Path("/sys/fs/cgroup")
# Unchanged: a chroot has no root file system whose propagation could be changed; that of /proc is made private.
NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--propagation", "unchanged", "--mount-proc"]

CONFIGURATION = """\
ClusterName=wattle
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=30
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
StateSaveLocation={folder}/state
SlurmdPidFile={folder}/%n/pid
SlurmdLogFile={folder}/%n/log
SlurmdSpoolDir={folder}/%n/spool
TmpFS={folder}/%n/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin={task_plugins}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerNode=0
MpiDefault=pmix
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
KillWait=2
MailProg=/bin/true
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP DefaultTime=5 MaxTime=10
"""

# cgroup/v1 by name: Slurm 22.05 does not start where it has to find out and /sys/fs/cgroup is empty, as in a chroot.
CGROUP_CONFIGURATION = """\
CgroupPlugin=cgroup/v1
ConstrainCores={confine}
ConstrainRAMSpace={confine}
"""

# The first process of the namespace, with which everything in it ends.
START = """\
folder=$1; shift
munged --foreground --socket=$folder/munge.socket --key-file=$folder/munge.key --pid-file=$folder/munged.pid \
  --seed-file=$folder/munged.seed --log-file=$folder/munged.log &
slurmctld -D &
for node; do slurmd -D -N "$node" & done
wait
"""

# Outlives the tests: when they close its standard input, or end in any way, it ends the namespace and cleans up.
KEEP = """\
start=$1 namespace=$2 folder=$3; shift 3
setpriv --pdeathsig KILL $namespace sh -c "$start" slurm "$folder" "$@" </dev/null &
cat >/dev/null
kill -KILL $!
wait
for node; do
  for group in /sys/fs/cgroup/*/slurm_$node; do
    for try in $(seq 200); do # until its last process is gone
      [ -d "$group" ] || break
      find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
    done
  done
done
for try in $(seq 200); do # likewise
  rm -rf "$folder" 2>/dev/null && break
  sleep 0.05
done
"""


def cgroups_usable() -> bool:
    """Can Slurm confine jobs to cores and memory here? Its plugin for version 2 needs a systemd, so version 1 it is."""
    return all(os.access(CGROUPS / name / "cgroup.procs", os.W_OK) for name in ("cpuset", "memory"))


def unavailable() -> str | None:
    """Why there can be no Slurm here; None if there can."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if missing:
        return f"Slurm is not installed (Debian: apt install {' '.join(missing)})"
    if len(os.sched_getaffinity(0)) < CORES:
        return f"Slurm's nodes need {CORES} cores"
    probe = subprocess.run([*NAMESPACE, "true"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"no process namespaces here: {probe.stderr.strip()}"


def _free_ports(n: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@dataclass
class Slurm:
    """A cluster of `count` nodes while the context lasts. `confine`: by cgroups, which is slow where much else runs.
    `plugins`: the text of plugstack.conf.
    """

    count: int = 2
    confine: bool = False
    plugins: str = ""
    names: list[str] = field(default_factory=list)
    folder: Path = Path()
    _keeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Slurm:
        self.folder = Path(tempfile.mkdtemp(prefix="wtlslurm", dir="/tmp"))  # short: it becomes part of socket names
        self.folder.chmod(0o755)  # jobs of other users read the configuration
        self.names = [f"wtl{os.getpid()}n{i}" for i in range(self.count)]
        try:
            self._configure()
            self._start()
            self._wait_until_idle()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _configure(self) -> None:
        ports = _free_ports(self.count + 1)
        host = socket.gethostname().split(".")[0]
        nodes = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CORES} RealMemory={MEMORY_MB}"
            for name, port in zip(self.names, ports[1:], strict=True)
        ]
        plugins = "task/cgroup,task/affinity" if self.confine else "task/affinity"
        text = CONFIGURATION.format(folder=self.folder, ports=ports, nodes="\n".join(nodes), task_plugins=plugins)
        (self.folder / "slurm.conf").write_text(text)
        self.load_plugins(self.plugins)
        cgroup_text = CGROUP_CONFIGURATION.format(confine="yes" if self.confine else "no")
        (self.folder / "cgroup.conf").write_text(cgroup_text)
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o400)
        for name in ("state", *(f"{node}/{part}" for node in self.names for part in ("spool", "tmp"))):
            (self.folder / name).mkdir(parents=True)

    def load_plugins(self, text: str) -> None:
        """Changes plugstack.conf for jobs from now on. A daemon that runs keeps what it has loaded."""
        (self.folder / "plugstack.conf").write_text(text)

    def _start(self) -> None:
        with (self.folder / "daemons.log").open("wb") as log:
            self._keeper = subprocess.Popen(
                ["sh", "-c", KEEP, "keeper", START, " ".join(NAMESPACE), str(self.folder), *self.names],
                env={**os.environ, **self.env},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait_until_idle(self) -> None:
        deadline = time.monotonic() + START_S
        while self.run("sinfo", "--noheader", "--Node", "--format=%T").stdout.split() != ["idle"] * self.count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"Slurm does not start:\n{self.logs()}")
            time.sleep(0.05)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._keeper and self._keeper.stdin:
            self._keeper.stdin.close()
            self._keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)  # where there was no keeper yet

    @property
    def env(self) -> dict[str, str]:
        """Variables with which Slurm's commands find this cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """One of Slurm's commands."""
        return subprocess.run(command, env={**os.environ, **self.env}, capture_output=True, text=True)

    def jobs(self, *options: str) -> list[str]:
        """Numbers of the jobs that wait, run or end."""
        return self.run("squeue", "--noheader", "--format=%i", *options).stdout.split()

    def cancel_all(self) -> None:
        """Ends all jobs, and waits until they have ended."""
        deadline = time.monotonic() + START_S
        while jobs := self.jobs():
            self.run("scancel", "--quiet", *jobs)
            assert time.monotonic() < deadline, f"jobs {jobs} do not end:\n{self.logs()}"
            time.sleep(0.02)

    def remains(self) -> list[str]:
        """Files that jobs left in the nodes' folders."""
        spools = [path for name in self.names for path in (self.folder / name / "spool").glob("*.[0-9]*")]
        found = [*spools, *(path for name in self.names for path in (self.folder / name / "tmp").iterdir())]
        return [str(path.relative_to(self.folder)) for path in found]

    def logs(self) -> str:
        """The last lines of what the daemons say."""
        files = [path for path in self.folder.rglob("*log") if path.is_file()]
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in files)
