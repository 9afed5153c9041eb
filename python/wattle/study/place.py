"""Where a study runs: on this node, or on two nodes that are made for it of this machine's network namespaces."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wattle import nodes
from wattle.checked import Checked
from wattle.errors import WattleError
from wattle.nodes import Nodes

LOCAL, TWO_NODES = "local", "two-nodes"

Start = Callable[[str, int], list[str]]  # oshrun's path and the number of PEs -> the command, up to the program


@dataclass(frozen=True)
class Place:
    """`link`: the bandwidth that each node's link is held to, such as "1gbit"; None where it is as it is."""

    name: str = LOCAL
    link: str | None = None

    @property
    def across(self) -> bool:
        """Whether the PEs are on different nodes."""
        return self.name == TWO_NODES

    @property
    def one_machine(self) -> bool:
        """Whether nodes are none of their own: a sensor sees them all, and processors do the work of the network."""
        return self.across

    @property
    def title(self) -> str:
        """`local`, `two-nodes, link 1gbit`."""
        return self.name + (f", link {self.link}" if self.link else "")

    @property
    def words(self) -> str:
        """In a sentence."""
        if not self.across:
            return "all PEs on this node"
        link = f"held to {self.link}" if self.link else "as fast as the machine moves it"
        return (
            "two nodes made of network namespaces on one machine, a core and half of the PEs "
            f"each, joined by TCP over a virtual Ethernet link, {link}"
        )

    @property
    def sentence(self) -> str:
        """The words, as one."""
        return f"{self.words[0].upper()}{self.words[1:]}."

    def as_dict(self) -> dict[str, object]:
        """For the manifest."""
        count = 2 if self.across else 1
        return {"name": self.name, "nodes": count, "one_machine": True, "link": self.link, "words": self.words}

    def check(self) -> None:
        """An error that names what is missing where this place cannot be had here."""
        if not self.across:
            return
        if reason := nodes.unavailable():
            raise WattleError(f"--on {self.name}: {reason}; --on {LOCAL} needs nothing")
        if (cores := len(os.sched_getaffinity(0))) < 2:
            raise WattleError(f"--on {self.name}: each node needs a core of its own, and this process may use {cores}")

    @contextmanager
    def open(self) -> Iterator[Start]:
        """Makes the place and gives the way to start a job there; takes it down at the end, whatever ended it."""
        if not self.across:
            yield lambda oshrun, n: [oshrun, "-n", str(n), "--"]
            return
        with Nodes(2, self.link) as made:
            yield lambda oshrun, n: made.command(oshrun, n // 2, "--")


def of_study(study: Checked) -> Place:
    """The place a study was run at, from its part of the manifest."""
    entry = study.get("place") if study.has("place") else None
    if entry is None:  # written before there was another
        return Place(study.choice("on", (LOCAL,)))
    return Place(entry.choice("name", (LOCAL, TWO_NODES)), entry.text("link") if entry.has("link") else None)
