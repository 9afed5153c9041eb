"""The study of payload and fragments: the cost of the same bytes by one call or by many."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.record.manifest import Manifest
from wattle.study import program
from wattle.study.course import Gathered, Work
from wattle.study.engine import Check, Study, missing
from wattle.study.fragments.analysis import Analysis, Caches, configurations
from wattle.study.fragments.judges import ROWS
from wattle.study.fragments.plan import PATTERN, Plan
from wattle.study.fragments.samples import COMPARED, row
from wattle.study.fragments.words import sentences
from wattle.study.place import of_study
from wattle.text import console, units
from wattle.text.provenance import read_joules

NAME = "fragments"
BENCH = "patterns"


def work(plan: Plan) -> Work:
    """The jobs of a plan."""
    told = partial(_told, plan)
    return Work(plan.place.pes, plan.place.simulated, plan.cells * plan.repeats, told, partial(_gather, plan))


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    bench = program.find_simulated(home, BENCH) if plan.place.simulated else program.find(home, BENCH)
    with (
        console.progress(NAME, plan.cells * plan.repeats) as steps,
        plan.place.open() as start,
        closing(program.run(home, bench, plan.arguments, plan.place.pes, start)) as lines,
    ):
        for line in lines:
            if gathered.take(line, row):
                steps.advance(now=f"{units.size(line['payload'])} in {line['fragments']}")
    if not gathered.rows:
        raise WattleError(f"{bench.name} ended without a sample")


def _cache_bytes(name: str) -> int | None:
    """The size of this machine's cache of that level, as the C library knows it."""
    try:
        return os.sysconf(name) or None
    except (OSError, ValueError):
        return None


def _told(plan: Plan, gathered: Gathered) -> dict[str, Any]:
    """The settings of the study and its findings so far."""
    caches = Caches(*(_cache_bytes(f"SC_LEVEL{level}_CACHE_SIZE") for level in ("1_DCACHE", "2")))
    return {
        "study": {
            "name": NAME,
            "on": plan.place.name,
            "place": plan.place.as_dict(),
            "quick": plan.quick,
            "pattern": PATTERN,
            "most_fragments": plan.most,
            "repeats": plan.repeats,
            "min_time_s": plan.min_time_s,
            "clear": gathered.setup.get("clear"),
            "pinned": gathered.setup.get("pinned"),
            "caches": asdict(Caches() if plan.place.simulated else caches),
            "floor": gathered.floor,
        }
    }


class Fragments(Study[Analysis]):
    """The study of payload and fragments."""

    def checks(self) -> Sequence[Check]:
        pattern, payload, fragments, latency = map(pl.col, ("pattern", "payload", "fragments", "latency_s"))
        return (
            (
                (pattern != PATTERN) | (payload < 1) | (fragments < 1),
                "holds a sample of another pattern, of no payload or of no fragments",
            ),
            (
                missing("payload", "fragments", "pattern", "repeat", "latency_s", "interfaces_json", "verified"),
                "holds a sample without its payload, fragments, repeat, time or interfaces",
            ),
            (latency <= 0, "holds a sample of no time"),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        floor = [read_joules(entry) for entry in facts.items("floor")]
        return Analysis(frame, floor, of_study(facts), _caches(facts), str(record.host.get("cpu") or ""))

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        before = {
            "place": a.place.as_dict(),
            "repeats": a.repeats,
            "verified": a.wrong == 0,
            "interface": a.interface or None,
            "provenance": {domain: a.provenance(domain) for domain in ("cpu", "dram")},
        }
        return before, {"configurations": configurations(a)}

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return sentences(a, record)


def _caches(facts: Checked) -> Caches:
    if not facts.has("caches"):
        return Caches()
    return Caches(*(facts.get("caches").count(level) for level in ("l1", "l2")))


STUDY = Fragments(
    name=NAME,
    title="Payload and fragments",
    question="What does it cost to send the same bytes by one call, or in fragments by many?",
    rows=ROWS,
    layout=COMPARED,
)
