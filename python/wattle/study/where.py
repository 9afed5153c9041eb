"""Looks where the PEs of a study's jobs ran, from the files that they leave, and compares that with the place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from wattle.base import input_files, limits
from wattle.base.checked import Checked, read_json
from wattle.base.errors import WattleError

# A process of MPI writes its host and boot identifier to a file of its own before its program starts, because MPI
# programs leave no profile. The launcher's variable has its rank.
RANK = "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-$$}}}"
MPI_SAYS = [
    "sh",
    "-c",
    f'echo "$(uname -n) $(cat /proc/sys/kernel/random/boot_id)" >"$WATTLE_PROFILE_DIR/mpi-{RANK}"; exec "$@"',
    "sh",
]
NO_LIBRARY = "unknown: these ranks had no preload library, which names it"
LISTED = 8  # nodes that a message or sentence names

T = TypeVar("T")
Key = tuple[int, str, str]  # the launcher's number of the node (-1: not known), host name, boot identifier


@dataclass(frozen=True)
class Process:
    """The position of a PE, or of a process of MPI. `paths`: transports and devices to other nodes ("tcp/eth0"). `mpi`:
    the MPI library and its transport ("Open MPI v4.1.4: ob1 (self, tcp, vader)"), or why that is unknown.
    """

    number: int
    node: Key
    network: str = ""
    paths: tuple[str, ...] = ()
    mpi: str = ""


@dataclass
class Node:
    """A node on which PEs ran. `most`: the largest number of PEs of one job on it."""

    host: str
    boot_id: str
    most: int = 0
    paths: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        return {"host": self.host, "boot_id": self.boot_id or None, "most_pes": self.most, "paths": self.paths}


@dataclass
class Seen:
    """The nodes on which jobs of a study ran, in the order of the first PE. `networks`: those of this runtime that
    connected them, such as "ucx". `mpi`: the MPI libraries of other jobs with their transports.
    """

    nodes: dict[Key, Node] = field(default_factory=dict)
    networks: list[str] = field(default_factory=list)
    mpi: list[str] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return _once(path for node in self.nodes.values() for path in node.paths)

    @property
    def machines(self) -> int | None:
        """The number of machines, by the kernels' boot identifiers; None where no PE was seen."""
        return len({node.boot_id for node in self.nodes.values()}) or None

    def add(self, found: Sequence[Process]) -> None:
        """Adds the processes of one job."""
        for key in _once(p.node for p in found):
            mine = [p for p in found if p.node == key]
            node = self._node(key)
            node.most = max(node.most, len(mine))
            node.paths = _once([*node.paths, *(path for p in mine for path in p.paths)])
        self.networks = _once([*self.networks, *(p.network for p in found if p.network)])
        self.mpi = _once([*self.mpi, *(p.mpi for p in found if p.mpi)])

    def _node(self, key: Key) -> Node:
        """The node of a process, new or known. Processes of MPI do not know its number."""
        same = [known for known in self.nodes if known[1:] == key[1:] and -1 in (known[0], key[0])]
        if same and key not in self.nodes:
            self.nodes = {key if known == same[0] and key[0] != -1 else known: n for known, n in self.nodes.items()}
            key = key if key[0] != -1 else same[0]
        return self.nodes.setdefault(key, Node(key[1], key[2]))

    def as_list(self) -> list[dict[str, object]]:
        return [node.as_dict() for node in self.nodes.values()]


def of_list(entry: Checked, key: str) -> Seen:
    """The nodes of a manifest's list, as `as_list` made it."""
    seen = Seen()
    for k, node in enumerate(entry.items(key) if entry.has(key) else ()):
        boot_id = node.text("boot_id") if node.has("boot_id") else ""
        at = (k, node.text("host"), boot_id)
        seen.nodes[at] = Node(at[1], boot_id, node.integer("most_pes", lo=1, hi=limits.PES), node.texts("paths"))
    return seen


def look(folder: Path) -> list[Process]:
    """The processes that left a file in the folder, in order."""
    found = [_of_profile(path) for path in sorted(folder.glob("pe-*.json"))]
    return found or [_of_mpi(path) for path in sorted(folder.glob("mpi-*"))]


def _of_profile(path: Path) -> Process:
    document = read_json(path)
    number = document.integer("node_number") if document.has("node_number") else -1
    boot_id = document.text("boot_id") if document.has("boot_id") else ""
    network = document.get("network") if document.has("network") else None
    mpi = document.get("mpi") if document.has("mpi") else None
    named = mpi or network
    paths = named.text("paths") if named and named.has("paths") else ""
    return Process(
        document.integer("pe", hi=limits.PES),
        (number, document.text("host"), boot_id),
        network.text("name") if network else "",
        tuple(filter(None, paths.split(","))),
        _mpi_words(mpi) if mpi else "",
    )


def _mpi_words(mpi: Checked) -> str:
    library = mpi.text("library") if mpi.has("library") else "MPI"
    return f"{library}: {mpi.text('transport') if mpi.has('transport') else 'unknown: ' + mpi.text('why')}"


def _of_mpi(path: Path) -> Process:
    words = [*input_files.read_text(path, limits.TEXT_BYTES).split(), "", ""]
    rank = path.name.rpartition("-")[2]
    number = int(rank) if re.fullmatch(r"[0-9]{1,9}", rank) else 0
    return Process(number, (-1, words[0], words[1]), mpi=NO_LIBRARY)


def check(found: Sequence[Process], planned: Sequence[int], place: str, shared: bool) -> None:
    """Raises WattleError where a job did not run on as many nodes as planned, or not with as many PEs on each.

    `planned`: the number of PEs of each node. `place`: the place as the user would name it. `shared`: the folder of the
    files is one that the nodes have to share. A job that left no file at all, because profiles are off, shows nothing.
    """
    n = sum(planned)
    if not found and not shared:
        return
    if len(found) < n:
        missing = sorted(set(range(n)) - {p.number for p in found})
        who = f"{len(missing)} of {n} PEs" if len(missing) > 1 else f"PE {missing[0]}"
        remedy = "set XDG_CACHE_HOME to a folder that all hosts share, and leave WATTLE_PROFILE on"
        if not shared:
            remedy = "name the hosts with --hosts"
        raise WattleError(f"{place}: {who} left no file where the study looks, so the PEs are not all here; {remedy}")
    counts = [sum(p.node == key for p in found) for key in _once(p.node for p in found)]
    if sorted(counts) != sorted(planned):
        raise WattleError(f"{place}: {_mismatch(found, planned, shared)}")


def _mismatch(found: Sequence[Process], planned: Sequence[int], shared: bool) -> str:
    keys = _once(p.node for p in found)
    on = listed([f"{key[1]} {sum(p.node == key for p in found)}" for key in keys])
    facts = f"the launcher started {len(found)} PEs on {len(keys)} node{'s' if len(keys) > 1 else ''} ({on})"
    if not shared:
        names = ",".join(_once(key[1] for key in keys))
        return f"{facts}, but the study was planned for this node; give --hosts {names}"
    why = "two of the names may be one host" if len(keys) < len(planned) else "it ignored the list of hosts"
    return f"{facts}, but {len(planned)} nodes were planned; {why}"


def listed(names: Sequence[str]) -> str:
    """Names as part of a sentence; many are cut short."""
    shown = list(names) if len(names) <= LISTED else [*names[: LISTED - 1], f"{len(names) - LISTED + 1} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _once(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))
