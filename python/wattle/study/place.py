"""The places where a study runs: this node, hosts, two nodes made of network namespaces, or a simulated cluster.

A study that calls `check_place` and `Place.open`, and runs its jobs by `program.run`, runs at each of them. After each
job the files of its PEs show on which nodes they were; `Place.seen` keeps that for manifest, results and page.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import nodes, paths
from wattle.machine.nodes import Nodes, check_rate
from wattle.sim import cluster as clusters
from wattle.sim import simulation
from wattle.study import hosts, where
from wattle.study.where import Seen

LOCAL, HOSTS, TWO_NODES, SIMULATED = "local", "hosts", "two-nodes", "sim"
PLACES = (LOCAL, TWO_NODES, f"{HOSTS}:A,B")
DEFAULT_CLUSTER = "sandybridge-ib"
PAPERS_WAIT = "spin"  # WATTLE_WAIT of simulated jobs without one: the libraries of the papers poll


@dataclass(frozen=True)
class Start:
    """Starts the jobs of a place. `command`: from oshrun's path and the number of PEs, the command line up to the
    program. ``planned`: from the number of PEs, those of each node; None: PEs cannot
    be looked for (a simulation). `scratch`: the folder for files that all PEs must reach; None: the usual one.
    `made`: the nodes that exist while the place is open.
    """

    command: Callable[[str, int], list[str]]
    place: Place | None = None
    planned: Callable[[int], list[int]] | None = None
    scratch: Path | None = None
    made: Nodes | None = None

    def __call__(self, oshrun: str, n: int) -> list[str]:
        return self.command(oshrun, n)

    @property
    def looks(self) -> bool:
        """Whether the files of a job show where its PEs were."""
        return self.place is not None and self.planned is not None

    def look(self, folder: Path, n: int) -> None:
        """Reads the files of a finished job of `n` PEs. Raises WattleError where its PEs were not at the place."""
        if self.place is None or self.planned is None:
            return
        found = where.look(folder)
        where.check(found, self.planned(n), self.place.option, self.place.name == HOSTS)
        self.place.seen.add(found)

    def folder(self) -> tempfile.TemporaryDirectory[str]:
        """A temporary folder for the files of a job."""
        return tempfile.TemporaryDirectory(dir=self.scratch, prefix="job-")


@dataclass(frozen=True)
class Place:
    """A place. `link`: the bandwidth limit of each node's link, such as "1gbit"; None: no limit. `cluster`: the
    simulated cluster, with its `pes`. `hosts`: names in the user's order. PEs are distributed to them evenly in blocks,
    so that two PEs are on the first two. `alone`: each simulated PE has a socket with its idle watts, not only
    a core. `system`: the cluster's title. `wait`: WATTLE_WAIT of simulated jobs that set none themselves. `seen`: the
    nodes on which PEs were found so far.
    """

    name: str = LOCAL
    link: str | None = None
    cluster: str = ""
    pes: int = 2
    hosts: tuple[str, ...] = ()
    alone: bool = False
    system: str = ""
    wait: str = ""
    seen: Seen = field(default_factory=Seen, compare=False, repr=False)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return {SIMULATED: self.pes, TWO_NODES: 2, HOSTS: len(self.hosts)}.get(self.name, 1)

    @property
    def across(self) -> bool:
        """Whether the PEs are on different nodes."""
        return self.simulated or self.nodes > 1

    @property
    def simulated(self) -> bool:
        return self.name == SIMULATED

    @property
    def one_machine(self) -> bool:
        """Whether the nodes share one machine: a sensor then measures them all, and processors do the work of the
        network. Of hosts that is known once PEs were seen.
        """
        return self.name in (LOCAL, TWO_NODES) or (self.name == HOSTS and self.seen.machines == 1)

    @property
    def option(self) -> str:
        """The place as an option of a command."""
        if self.name == HOSTS:
            return f"--hosts {','.join(self.hosts)}"
        return f"--on {self.name}" + (f":{self.cluster}" if self.cluster else "")

    @property
    def title(self) -> str:
        """A name such as `local`, `hosts n1, n2`, `two-nodes, link 1gbit` or `sim:sandybridge-ib, 64 PEs`."""
        if self.simulated:
            return f"{self.name}:{self.cluster}, {self.pes} PEs"
        if self.name == HOSTS:
            return f"{self.name} {', '.join(self.hosts)}"
        return self.name + (f", link {self.link}" if self.link else "")

    @property
    def network(self) -> str:
        """The network between the nodes, as part of a sentence."""
        if self.simulated:
            return "the simulated network"
        if self.name == TWO_NODES:
            return "TCP"
        return where.listed(self.seen.paths) or where.listed(self.seen.networks) or "the hosts' network"

    @property
    def words(self) -> str:
        """The place as part of a sentence."""
        if self.simulated:
            system = f" ({self.system})" if self.system else ""
            like = ", as in the papers' libraries" if self.wait == PAPERS_WAIT else ""
            waits = f", WATTLE_WAIT={self.wait}{like}" if self.wait else ""
            return (
                f"the simulated cluster {self.cluster}{system}, {self.pes} PEs, each a node of its own{waits}: time, "
                "network and watts are those of its description"
            )
        if self.name == HOSTS:
            return self._hosts_words()
        if not self.across:
            return "all PEs on this node"
        link = f"held to {self.link}" if self.link else "as fast as the machine moves it"
        return (
            "two nodes made of network namespaces on one machine, a core and half of the PEs "
            f"each, joined by TCP over a virtual Ethernet link, {link}"
        )

    def _hosts_words(self) -> str:
        if len(self.hosts) == 1:
            return f"all PEs on the host {self.hosts[0]}"
        machine = ", which are one machine" if self.one_machine else ""
        most = max((node.most for node in self.seen.nodes.values()), default=0)
        pes = "one PE on each" if most == 1 else "PEs distributed evenly"
        return f"the hosts {where.listed(self.hosts)}{machine}, {pes}, joined by {self.network}"

    @property
    def found(self) -> str:
        """How the figures of this place were obtained."""
        return "Simulated" if self.simulated else "Measured"

    @property
    def sentence(self) -> str:
        """`words` as a sentence."""
        return f"{self.words[0].upper()}{self.words[1:]}."

    def as_dict(self) -> dict[str, object]:
        """The place as a dictionary for the manifest. `seen`: the nodes on which PEs were found."""
        common = {"name": self.name, "nodes": self.nodes, "one_machine": self.one_machine, "link": self.link}
        common["words"] = self.words
        if self.simulated:
            return common | {"cluster": self.cluster, "pes": self.pes, "system": self.system, "wait": self.wait}
        given = {"hosts": list(self.hosts)} if self.name == HOSTS else {}
        found = {"networks": list(self.seen.networks), "mpi": list(self.seen.mpi), "seen": self.seen.as_list()}
        return common | given | found

    def share(self, n: int) -> list[int]:
        """The number of PEs on each node of a job of `n` PEs, in blocks, for the nodes that it uses."""
        used = max(1, min(n, self.nodes))
        return [n // used + (k < n % used) for k in range(used)]

    def check(self) -> None:
        """Raises WattleError with the reason where this place is not available here."""
        if self.simulated:
            simulation.plan(self.cluster, self.pes, {})
        elif self.name == HOSTS:
            hosts.reach(str(paths.find_home().tool("oshrun")), self.hosts)
        elif self.name == TWO_NODES:
            if reason := nodes.unavailable():
                raise WattleError(f"--on {self.name}: {reason}; --on {LOCAL} needs none of this")
            if (cores := len(os.sched_getaffinity(0))) < 2:
                raise WattleError(
                    f"--on {self.name}: each node needs a core of its own, and this process may use {cores}"
                )

    @contextmanager
    def open(self) -> Iterator[Start]:
        """Makes the place and gives the function that starts a job there. Removes the place at the end in any case."""
        if self.simulated:
            with tempfile.TemporaryDirectory() as folder:
                yield Start(lambda _, n: self.simulated_job(Path(folder), n, False), self)
            return
        with ExitStack() as stack:
            made = stack.enter_context(Nodes(2, self.link)) if self.name == TWO_NODES else None
            scratch = hosts.shared() if self.name == HOSTS else None
            yield Start(lambda oshrun, n: self._command(oshrun, n, made), self, self.share, scratch, made)

    def _command(self, oshrun: str, n: int, made: Nodes | None) -> list[str]:
        if made:
            return made.command(oshrun, self.share(n), "--")
        return hosts.command(oshrun, self.hosts or hosts.first_allocated(), self.share(n))

    def simulated_job(self, folder: Path, n: int, profile: bool) -> list[str]:
        """The command line of a simulated job up to the program. Jobs of a study run one after the other, so they may
        share a folder. `profile`: each PE leaves one in FOLDER/profile.
        """
        made = simulation.plan(self.cluster, n, {"WATTLE_WAIT": self.wait} if self.wait else {}, profile)
        ready = (simulation.alone_on_sockets(made) if self.alone else made).write(folder)
        return ["env", *(f"{name}={value}" for name, value in ready.settings.items()), *ready.command]


def check_place(name: str, link: str | None = None, pes: int | None = None, simulates: bool = False) -> Place:
    """The place that `--on`, `--link` and `--pes` name. `simulates`: whether the study can be simulated. Raises
    WattleError where there is no such place, or it is not available here.
    """
    kind, colon, rest = name.partition(":")
    simulated = kind == SIMULATED
    allowed = (*PLACES, f"{SIMULATED}:CLUSTER") if simulates else PLACES
    if simulated and not simulates:
        raise WattleError(f"--on {name}: this study is not simulated in this version; allowed: {', '.join(allowed)}")
    known = name in (LOCAL, TWO_NODES) or (kind == HOSTS and colon) or (simulated and (rest or not colon))
    if not known:
        raise WattleError(f"--on {name}: is not a place; allowed: {', '.join(allowed)}")
    if link is not None and name != TWO_NODES:
        raise WattleError(f"--link {link}: is for --on {TWO_NODES} only")
    if pes is not None and not simulated:
        raise WattleError(f"--pes {pes}: there are two PEs; --on {SIMULATED}:CLUSTER can have more")
    if simulated:
        place = Place(
            SIMULATED,
            cluster=rest or DEFAULT_CLUSTER,
            pes=2 if pes is None else pes,
            wait=os.environ.get("WATTLE_WAIT") or PAPERS_WAIT,
        )
    elif kind == HOSTS:
        place = Place(HOSTS, hosts=hosts.given(rest))
    else:
        place = Place(name, None if link is None else check_rate("--link", link))
    place.check()
    return replace(place, system=clusters.read(place.cluster).title) if simulated else place


def of_options(on: str | None, listed: str | None, usual: str) -> tuple[str, str]:
    """The place that a command's options `--on` and `--hosts` give, in the form of `--on`, and a remark for the user.
    None: the option was not given. `usual`: the command's default. Without either option, a study that runs on this
    node by default runs on the nodes of the Slurm allocation, or on the hosts of the launcher's default host file.
    """
    if listed is not None:
        if on is not None:
            raise WattleError(f"--on {on} and --hosts {listed}: give one of the two")
        return f"{HOSTS}:{listed}", ""
    if on is not None or usual != LOCAL:
        return on or usual, ""
    names, source = hosts.by_default()
    if not names:
        return usual, ""
    facts = (
        f"{source} names {where.listed(names)}, so the PEs are distributed to them; --on {LOCAL} takes one node only"
    )
    return f"{HOSTS}:{','.join(names)}", facts


def of_study(study: Checked) -> Place:
    """The place of a study, from its entry of the manifest."""
    entry = study.get("place") if study.has("place") else None
    if entry is None:  # written before there were other places
        on, _, cluster = study.text("on").partition(":")
        if on == SIMULATED and cluster:  # a study of waiting and clocks, whose jobs have PEs of their own
            return Place(SIMULATED, None, cluster)
        return Place(study.choice("on", (LOCAL,)))
    name = entry.choice("name", (LOCAL, TWO_NODES, HOSTS, SIMULATED))
    if name == SIMULATED:
        system, wait = (entry.text(key) if entry.has(key) else "" for key in ("system", "wait"))
        return Place(name, None, entry.text("cluster"), entry.integer("pes", lo=1), system=system, wait=wait)
    seen = where.of_list(entry, "seen")
    seen.networks = entry.texts("networks") if entry.has("networks") else []
    seen.mpi = entry.texts("mpi") if entry.has("mpi") else []
    link = entry.text("link") if entry.has("link") else None
    return Place(name, link, hosts=tuple(entry.texts("hosts")) if name == HOSTS else (), seen=seen)
