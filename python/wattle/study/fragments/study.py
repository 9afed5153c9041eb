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
from wattle.study.course import Gathered, Work, told
from wattle.study.engine import Check, Study, Table, joules, missing
from wattle.study.fragments.analysis import COMPARED, METRICS, Analysis, Caches, configurations, row, shown_at
from wattle.study.fragments.analysis import missing as missing_maps
from wattle.study.fragments.judges import ROWS
from wattle.study.fragments.plan import PATTERN, Plan, make_plan
from wattle.study.options import number, quick
from wattle.study.place import Place, of_study
from wattle.text import console, units
from wattle.text.provenance import read_joules
from wattle.text.units import si

NAME = "fragments"
BENCH = "patterns"


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
    return told(
        NAME,
        plan,
        pattern=PATTERN,
        most_fragments=plan.most,
        repeats=plan.repeats,
        min_time_s=plan.min_time_s,
        clear=gathered.setup.get("clear"),
        pinned=gathered.setup.get("pinned"),
        caches=asdict(Caches() if plan.place.simulated else caches),
        floor=gathered.floor,
    )


class Fragments(Study[Analysis]):
    """The study of payload and fragments."""

    def plan(self, quick: bool, place: Place, **options: Any) -> Plan:
        return make_plan(options["most"], options["repeat"], options["min_time"], quick, place)

    def work(self, plan: Plan) -> Work:
        facts = partial(_told, plan)
        return Work(plan.place.pes, plan.place.simulated, plan.cells * plan.repeats, facts, partial(_gather, plan))

    def tables(self, a: Analysis) -> list[Table]:
        return [table(a)]

    def remarks(self, a: Analysis) -> list[str]:
        return [f"{label}: {reason}." for label, reason in missing_maps(a)]

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
            "interface": a.interface or None,
            "provenance": {domain: a.provenance(domain) for domain in ("cpu", "dram")},
        }
        return before, {"configurations": configurations(a)}

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return [_fragmented(a), _small(a), _joules(a, record)]


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
    options={
        "quick": quick("A sweep of about a minute, with fewer repeats."),
        "most": number(int, "--most", "The most fragments, a power of two (2097152; two nodes 131072, quick 1024)."),
        "repeat": number(int, "--repeat", "Repeats of every case (7, quick 3)."),
        "min_time": number(float, "--min-time", "Shortest time of a measurement in seconds (0.1, quick 0.005)."),
    },
    tells_tally=True,
)


def _fragmented(a: Analysis) -> str:
    """The cost of the largest payload in one piece and in the most."""
    payload = a.payloads[-1]
    along = a.along_fragments("latency", payload)
    (_, first), (n, last) = along[0], along[-1]
    text = f"{units.size(payload)} took {units.seconds(first)} in one piece and {units.seconds(last)} in {n:,} pieces"
    energy = [a.value("cpu", payload, k) for k in (along[0][0], n)]
    if None not in energy:
        text += f"; CPU energy rose from {si(energy[0] or 0, 'J')} to {si(energy[1] or 0, 'J')}"
    return f"{text}."


def _small(a: Analysis) -> str:
    """The payload up to which the time of one call hardly depends on it."""
    along = a.along_payloads("latency", 1)
    least = min(v for _, v in along)
    flat = [p for p, v in along if v <= 1.5 * least]
    return (
        f"One call took {units.seconds(least)} at least, and less than 1.5 times as much up to {units.size(flat[-1])}."
    )


def _joules(a: Analysis, record: Manifest) -> str:
    both = " by a sensor that measures both PEs" if a.place.one_machine or not a.place.across else ""
    return joules(a.provenance("power"), a.sources, record, a.why_not("cpu"), both)


CORNERS = ("latency", "cpu", "dram", "instructions", "misses", "sent")


def table(a: Analysis) -> Table:
    """The cost of some payloads, in one piece and in the most pieces."""
    names = [name for name in CORNERS if a.values(name)]
    lines = []
    for payload in (p for p in a.payloads if (p.bit_length() - 1) % 7 == 0):
        counts = [n for n, _ in a.along_fragments("latency", payload)]
        for n in dict.fromkeys((counts[0], counts[-1])):
            lines.append([units.size(payload), f"{n:,}", *(shown_at(a, name, payload, n) for name in names)])
    heads = ["time" if name == "latency" else METRICS[name].label for name in names]
    title = f"Sender's cost of a payload, medians of {units.several(a.repeats, 'repeat')}"
    return title, ["payload", "fragments", *heads], lines
