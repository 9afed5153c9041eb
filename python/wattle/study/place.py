"""The places where a study runs: this node, two nodes made of network namespaces, or a simulated cluster."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wattle import nodes
from wattle.checked import Checked
from wattle.errors import WattleError
from wattle.nodes import Nodes, check_rate
from wattle.sim import simulation

LOCAL, TWO_NODES, SIMULATED = "local", "two-nodes", "sim"
PLACES = (LOCAL, TWO_NODES)
DEFAULT_CLUSTER = "sandybridge-ib"

Start = Callable[[str, int], list[str]]  # oshrun's path and the number of PEs -> the command line up to the program


@dataclass(frozen=True)
class Place:
    """A place. `link`: the bandwidth limit of each node's link, such as "1gbit"; None: no limit. `cluster`: the
    simulated cluster, with its `pes`.
    """

    name: str = LOCAL
    link: str | None = None
    cluster: str = ""
    pes: int = 2

    @property
    def across(self) -> bool:
        """Whether the PEs are on different nodes."""
        return self.name != LOCAL

    @property
    def simulated(self) -> bool:
        return self.name == SIMULATED

    @property
    def one_machine(self) -> bool:
        """Whether the nodes share this machine: a sensor then measures them all, and processors do the work of the
        network.
        """
        return self.name == TWO_NODES

    @property
    def title(self) -> str:
        """A name such as `local`, `two-nodes, link 1gbit` or `sim:sandybridge-ib, 64 PEs`."""
        if self.simulated:
            return f"{self.name}:{self.cluster}, {self.pes} PEs"
        return self.name + (f", link {self.link}" if self.link else "")

    @property
    def words(self) -> str:
        """The place as part of a sentence."""
        if not self.across:
            return "all PEs on this node"
        if self.simulated:
            return (
                f"the simulated cluster {self.cluster}, {self.pes} PEs, each a node of its own: time, network and "
                "watts are those of its description"
            )
        link = f"held to {self.link}" if self.link else "as fast as the machine moves it"
        return (
            "two nodes made of network namespaces on one machine, a core and half of the PEs "
            f"each, joined by TCP over a virtual Ethernet link, {link}"
        )

    @property
    def found(self) -> str:
        """How the figures of this place were obtained."""
        return "Simulated" if self.simulated else "Measured"

    @property
    def sentence(self) -> str:
        """`words` as a sentence."""
        return f"{self.words[0].upper()}{self.words[1:]}."

    def as_dict(self) -> dict[str, object]:
        """The place as a dictionary for the manifest."""
        if self.simulated:
            more = {"cluster": self.cluster, "pes": self.pes}
            return {
                "name": self.name,
                "nodes": self.pes,
                "one_machine": False,
                "link": None,
                "words": self.words,
            } | more
        count = 2 if self.across else 1
        return {"name": self.name, "nodes": count, "one_machine": True, "link": self.link, "words": self.words}

    def check(self) -> None:
        """Raises WattleError with the reason where this place is not available here."""
        if not self.across:
            return
        if self.simulated:
            simulation.plan(self.cluster, self.pes, {})
            return
        if reason := nodes.unavailable():
            raise WattleError(f"--on {self.name}: {reason}; --on {LOCAL} needs none of this")
        if (cores := len(os.sched_getaffinity(0))) < 2:
            raise WattleError(f"--on {self.name}: each node needs a core of its own, and this process may use {cores}")

    @contextmanager
    def open(self) -> Iterator[Start]:
        """Makes the place and gives the function that starts a job there. Removes the place at the end in any case."""
        if not self.across:
            yield lambda oshrun, n: [oshrun, "-n", str(n), "--"]
            return
        if self.simulated:
            with tempfile.TemporaryDirectory() as scratch:
                yield lambda _, n: self._simulated(Path(scratch), n)
            return
        with Nodes(2, self.link) as made:
            yield lambda oshrun, n: made.command(oshrun, n // 2, "--")

    def _simulated(self, scratch: Path, n: int) -> list[str]:
        """The command of a simulated job. Jobs of a study run one after the other, so they share one folder."""
        return self.simulated_job(scratch, n, False)

    def simulated_job(self, folder: Path, n: int, profile: bool) -> list[str]:
        """The command line up to the program. `profile`: each PE leaves one in FOLDER/profile."""
        ready = simulation.plan(self.cluster, n, {}, profile).write(folder)
        return ["env", *(f"{name}={value}" for name, value in ready.settings.items()), *ready.command]


def check_place(name: str, link: str | None = None, pes: int | None = None, simulates: bool = False) -> Place:
    """The place that `--on`, `--link` and `--pes` name. `simulates`: whether the study can be simulated. Raises
    WattleError where there is no such place, or it is not available here.
    """
    kind, colon, cluster = name.partition(":")
    simulated = kind == SIMULATED
    allowed = (*PLACES, f"{SIMULATED}:CLUSTER") if simulates else PLACES
    if simulated and not simulates:
        raise WattleError(f"--on {name}: this study is not simulated in this version; allowed: {', '.join(allowed)}")
    if (not simulated and name not in PLACES) or (simulated and colon and not cluster):
        raise WattleError(f"--on {name}: is not a place; allowed: {', '.join(allowed)}")
    if link is not None and name != TWO_NODES:
        raise WattleError(f"--link {link}: is for --on {TWO_NODES} only")
    if pes is not None and not simulated:
        raise WattleError(f"--pes {pes}: there are two PEs; --on {SIMULATED}:CLUSTER can have more")
    if simulated:
        place = Place(SIMULATED, None, cluster or DEFAULT_CLUSTER, 2 if pes is None else pes)
    else:
        place = Place(name, None if link is None else check_rate("--link", link))
    place.check()
    return place


def of_study(study: Checked) -> Place:
    """The place of a study, from its entry of the manifest."""
    entry = study.get("place") if study.has("place") else None
    if entry is None:  # written before there were other places
        return Place(study.choice("on", (LOCAL,)))
    name = entry.choice("name", (LOCAL, TWO_NODES, SIMULATED))
    if name == SIMULATED:
        return Place(name, None, entry.text("cluster"), entry.integer("pes", lo=1))
    return Place(name, entry.text("link") if entry.has("link") else None)
