"""Reads the profiles that the PEs of a run wrote, DIR/profile/pe-00000.json and so on, as one object. The further
jobs of a script that started several wrote theirs into DIR/profile/job-2 and so on.

Any number that the runtime could not determine is None (null in a frame), never 0.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from wattle.base.checked import read_json
from wattle.base.errors import DamagedFile, WattleError
from wattle.record import by_node
from wattle.record.by_node import Node
from wattle.record.pe import PE, Network, add, find, noun
from wattle.record.pe_file import read_pe
from wattle.text.provenance import Joules, total, unavailable


@dataclass
class RunProfile:
    """All profiles of one run. `missing` lists the PEs that left none. It is empty where the number of PEs is not
    known. `damaged` maps a PE to the reason why its file could not be read, where the caller allowed that. `n_hosts` is
    the number of hosts of the job; None where it is not known.
    """

    directory: Path
    n_pes: int
    pes: list[PE]
    missing: list[int] = field(default_factory=list)
    damaged: dict[int, str] = field(default_factory=dict)
    n_hosts: int | None = None
    noun_expected: str = "PE"  # the word for a process where none left a profile

    @property
    def complete(self) -> bool:
        return bool(self.pes) and not self.missing and not self.damaged

    @property
    def noun(self) -> str:
        """The word for a process of this run: `rank` or `PE`."""
        return noun(self.pes) if self.pes else self.noun_expected

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(j.domain for pe in self.pes for j in pe.joules))

    @property
    def node_domains(self) -> list[str]:
        return list(dict.fromkeys(domain for node in self.nodes for domain in node.domains))

    @property
    def wall_s(self) -> float | None:
        """The longest time of a PE from init to finalize, in seconds."""
        known = [pe.wall_s for pe in self.pes if pe.wall_s is not None]
        return max(known, default=None)

    @property
    def program(self) -> str:
        """The path of the program; empty where no process left a profile."""
        return self.pes[0].program if self.pes else ""

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes of which a PE left a profile."""
        return by_node.group(self.pes)

    @property
    def all_nodes(self) -> bool:
        """Whether `nodes` surely holds all nodes of the job. A node of which no PE left a profile is invisible here."""
        if self.complete:
            return True
        return len(self.nodes) == 1 if self.n_hosts is None else len(self.nodes) >= self.n_hosts

    @cached_property
    def counted_twice(self) -> bool:
        """Whether joules come from a sensor that several nodes share, so that a sum over nodes would be too large."""
        return by_node.counted_twice(self.nodes)

    @property
    def meter(self) -> dict[str, str]:
        """The meter of the run, and why no better one was used. Of several nodes, that of the first."""
        return next((meter for meter, _ in self.meters), {"name": "", "why": ""})

    @property
    def meters(self) -> list[tuple[dict[str, str], list[str]]]:
        """Each meter that was used, with its hosts."""
        found: dict[tuple[str, str], list[str]] = {}
        for node in self.nodes:
            if node.meter["name"]:
                found.setdefault((node.meter["name"], node.meter["why"]), []).append(node.host)
        return [({"name": name, "why": why}, hosts) for (name, why), hosts in found.items()]

    def joules(self, domain: str) -> Joules:
        """The joules of all PEs in a domain. Unavailable where a PE's profile is missing."""
        figures = [find(pe.joules, domain) for pe in self.pes]
        figures += [unavailable(domain)] * (len(self.missing) + len(self.damaged) + self.counted_twice)
        return total(figures, domain=domain)

    def node_joules(self, domain: str) -> Joules:
        """The joules of all nodes in a domain. Unavailable where those of one node are not known."""
        return self._of_nodes(domain, (node.joules(domain) for node in self.nodes))

    def others_joules(self, domain: str) -> Joules | None:
        """The joules of other programs, over the nodes whose sensor saw some. None where no node has any."""
        found = [figure for node in self.nodes if (figure := node.others(domain)) is not None]
        return total(found, domain=domain) if found else None

    def idle_joules(self, domain: str) -> Joules:
        """The joules of all nodes in a domain that are attributed to no PE."""
        return self._of_nodes(domain, (node.idle(domain) for node in self.nodes))

    @property
    def whole_joules(self) -> Joules:
        """The joules of the nodes over all domains; of the PEs where those of the nodes are not known."""
        of_nodes = total(self.node_joules(d) for d in self.node_domains)
        return of_nodes if of_nodes.known else total(self.joules(d) for d in self.domains)

    def _of_nodes(self, domain: str, figures: Iterable[Joules]) -> Joules:
        known = self.all_nodes and not self.counted_twice
        return total([*figures, *([] if known else [unavailable(domain)])], domain=domain)

    @property
    def network(self) -> Network | None:
        """The traffic between nodes, summed over the PEs. None for a job on one node."""
        found = [pe.network for pe in self.pes if pe.network is not None]
        if not found:
            return None
        names, paths = (", ".join(dict.fromkeys(getattr(n, key) for n in found)) for key in ("name", "paths"))

        def counts(key: str) -> Any:
            return {way: add(getattr(n, key)[way] for n in found) for way in getattr(found[0], key)}

        return Network(names, paths, counts("dropped"), counts("messages"), single=None, bytes=counts("bytes"))

    def sum(self, group: str, key: str) -> float | None:
        """The sum over PEs of a number in `state_s`, `time_s` or `bytes`. None where a PE lacks it, and without PEs."""
        return add(getattr(pe, group)[key] for pe in self.pes) if self.pes else None

    @property
    def cpu_s(self) -> float | None:
        """The CPU time of all PEs, in seconds. None where it is not known."""
        return add(pe.cpu_s for pe in self.pes) if self.pes else None


def load(
    directory: Path, n_pes: int | None = None, allow_damaged: bool = False, n_hosts: int | None = None
) -> RunProfile:
    """Reads DIR/profile, or DIR itself where it holds the files: WATTLE_PROFILE_DIR of a program that ran by itself.

    `n_pes` and `n_hosts` are the expected numbers from the manifest. Without `n_pes` the files give it. Where
    `wattle run --repeat` wrote several runs, their own directories hold the profiles: see `wattle.record.runs`. A
    damaged file raises DamagedFile, which names it. With `allow_damaged` it is left out and noted instead. Of several
    jobs, the one that `folder_of` names is read.
    """
    folder = folder_of(directory)
    if not folder.is_dir():
        raise WattleError(f"{directory}: holds no profile directory; expected a directory that `wattle run` wrote")
    return read(directory, folder, n_pes, allow_damaged, n_hosts)


def read(
    directory: Path, folder: Path, n_pes: int | None = None, allow_damaged: bool = False, n_hosts: int | None = None
) -> RunProfile:
    """Reads the profiles of one job, whose folder is given."""
    pes: list[PE] = []
    damaged: dict[int, str] = {}
    with _without_searches():
        for number, path in _files(folder):
            try:
                pes.append(read_pe(path, number))
            except DamagedFile as error:
                if not allow_damaged:
                    raise
                damaged[number] = error.wrong
    n_pes = _agreed_size(folder, pes, n_pes)
    missing = sorted(set(range(n_pes)) - {pe.pe for pe in pes} - set(damaged))
    return RunProfile(directory, n_pes, pes, missing, damaged, n_hosts)


@contextmanager
def _without_searches() -> Iterator[None]:
    """Reads without searches for garbage, which would find none in a large job and take a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def folder_of(directory: Path) -> Path:
    """The folder with the profiles of a run directory, or of a directory that holds them itself. Of several jobs, that
    of the one whose first process ran longest.
    """
    folders = list(folders_of(directory).values())
    return max(folders, key=_wall_s) if len(folders) > 1 else folders[0]


def folders_of(directory: Path) -> dict[int, Path]:
    """The folder of each job that left a profile, by its number (src/record/job_folder.h); at least one. As a
    directory, DIR/profile/job-1 stands for the first job alone, and DIR/profile/job-2 is the folder of the second one.
    """
    if directory.name == "job-1" and not directory.exists():
        return {1: directory.parent}
    folder = directory / "profile"
    if not folder.is_dir() and any(directory.glob("pe-*.json")):
        folder = directory
    found = {}
    for path in folder.glob("job-*"):
        if (match := re.fullmatch(r"job-([0-9]{1,6})", path.name)) and any(path.glob("pe-*.json")):
            found[int(match.group(1))] = path
    if not found or any(folder.glob("pe-*.json")):
        found[1] = folder
    return dict(sorted(found.items()))


def _wall_s(folder: Path) -> float:
    first = min(folder.glob("pe-*.json"))
    return _wall_s_of(first, first.stat().st_mtime_ns)


@lru_cache
def _wall_s_of(path: Path, changed_ns: int) -> float:
    """The time of one process; 0 where its file is damaged. `changed_ns`: a changed file is read again."""
    try:
        return read_json(path).number("wall_s") or 0.0
    except DamagedFile:
        return 0.0


def _files(folder: Path) -> Iterator[tuple[int, Path]]:
    """The profile files in order of PE. A similar name raises DamagedFile, because the file would count as missing."""
    for path in sorted(folder.glob("pe-*.json")):
        match = re.fullmatch(r"pe-([0-9]{5})\.json", path.name)
        if not match:
            raise DamagedFile(path, "is not a profile's name; expected pe-00000.json, pe-00001.json ...")
        yield int(match.group(1)), path


def _agreed_size(folder: Path, pes: list[PE], n_pes: int | None) -> int:
    for pe in pes:
        if n_pes is None:
            n_pes = pe.n_pes
        if pe.n_pes != n_pes:
            file = folder / f"pe-{pe.pe:05d}.json"
            wrong = f"n_pes: says {pe.n_pes} where the rest of the run says {n_pes}: files of two runs are mixed"
            raise DamagedFile(file, wrong)
    if n_pes is None:
        raise WattleError(f"{folder}: holds no readable profile, and nothing says how many PEs there were")
    return n_pes
