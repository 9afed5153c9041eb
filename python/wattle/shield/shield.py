"""The shield while a study runs: cores of its own by a cgroup where that is allowed, else by affinity."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wattle.shield import cores, group, others
from wattle.shield.group import Group, Refused, Tree
from wattle.text import console
from wattle.text.provenance import significant
from wattle.text.units import ranges

CGROUP, AFFINITY = "cgroup", "affinity"


def repair(tree: Tree | None = None) -> None:
    """Removes what killed studies have left, and says so."""
    found = tree or _tree()
    if found and (words := group.repair(found)):
        console.note(words)


def _tree() -> Tree | None:
    root = group.mounted()
    return Tree(root) if root else None


@contextmanager
def shielded(text: str, tree: Tree | None = None) -> Iterator[dict[str, Any]]:
    """Cores of their own for this process and the jobs that it starts, while the context lasts. `text`: of `--shield`.
    Gives the entry of the manifest, which is complete after the context. Raises WattleError for wrong cores.
    """
    before = os.sched_getaffinity(0)
    cpus = cores.choose(text, before)
    made, why = _make(tree or _tree(), cpus)
    facts: dict[str, Any] = {"cores": ranges(sorted(cpus)), "how": CGROUP if made else AFFINITY, "why": why}
    try:
        os.sched_setaffinity(0, cpus)
        started, begin, ours = time.monotonic(), others.now(cpus), _ours(made)
        console.note(_words_at_start(facts))
        try:
            yield facts
        finally:
            found = others.between(begin, others.now(cpus), _ours(made) - ours, len(cpus))
            _take(facts, found, len(cpus) * (time.monotonic() - started))
    finally:
        if made:
            made.close()
        os.sched_setaffinity(0, before)


def _make(tree: Tree | None, cpus: set[int]) -> tuple[Group | None, str]:
    if tree is None:
        return None, "there is no cgroup v2"
    try:
        return Group(tree, cpus), ""
    except Refused as error:
        return None, str(error)


def _ours(made: Group | None) -> float:
    """CPU seconds of this process and of the jobs that have ended."""
    if made and (found := made.cpu_s()) is not None:
        return found
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _words_at_start(facts: dict[str, Any]) -> str:
    if facts["how"] == CGROUP:
        return f"shield: cores {facts['cores']} are a partition (cgroup), closed to other programs"
    return f"shield: the study runs on cores {facts['cores']} only; other programs may use them ({facts['why']})"


def _take(facts: dict[str, Any], found: others.Others, core_s: float) -> None:
    facts |= {
        "core_s": core_s,
        "busy_s": found.busy_s,
        "ours_s": found.ours_s,
        "others_s": found.others_s,
        "others_plus_minus_s": found.plus_minus_s,
        "stolen_s": found.stolen_s,
        "programs": [{"name": name, "cpu_s": cpu_s} for name, cpu_s in found.programs],
    }
    facts["words"] = words(facts)


def words(facts: dict[str, Any]) -> str:
    """The shield for a reader: the cores, how they are kept, and what else ran there."""
    way = "closed to other programs (cgroup)" if facts["how"] == CGROUP else f"by affinity only, because {facts['why']}"
    share = 100 * facts["others_s"] / facts["core_s"] if facts["core_s"] else 0.0
    amount = f"{significant(facts['others_s'], 3)} ± {significant(facts['others_plus_minus_s'], 1)} CPU seconds"
    text = f"Cores {facts['cores']}, {way}. Other programs and the kernel used {amount} there"
    text += f", {significant(share, 2)} % of the time"
    named = [f"{one['name']} {significant(one['cpu_s'], 2)} s" for one in facts["programs"]]
    text += f"; programs that still run and were there last: {', '.join(named)}" if named else ""
    stolen = facts["stolen_s"]
    text += f"; the host of the virtual machine took {significant(stolen, 3)} s" if stolen else ""
    return f"{text}."
