"""The study of payload and fragments: the cost of the same bytes by one call or by many."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.checked import Checked
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.provenance import read_joules
from wattle.study import kept, program, published, samples
from wattle.study.course import Course, Gathered
from wattle.study.fragments.analysis import Analysis, Caches, configurations
from wattle.study.fragments.judges import ROWS
from wattle.study.fragments.plan import PATTERN, Plan
from wattle.study.fragments.samples import SCHEMA, row
from wattle.study.place import of_study

NAME = "fragments"
BENCH = "patterns"
TITLE = "Payload and fragments"
QUESTION = "What does it cost to send the same bytes by one call, or in fragments by many?"
RESULTS_SCHEMA = 1


def run(plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory."""
    record = kept.begin(command, plan.place.pes, plan.place.simulated)
    course = Course(directory, record, SCHEMA, plan.cells * plan.repeats, lambda gathered: _told(plan, gathered))
    course.run(lambda gathered: _gather(plan, gathered), Gathered())
    kept.write_results(directory / kept.RESULTS, judged(directory, record))
    return record


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


# ---- reading back ----


def load(directory: Path, record: Manifest) -> Analysis:
    """Reads a study directory's samples. Raises DamagedFile with the reason for a damaged file."""
    facts = manifest.study(directory, record)
    kept.check_finished(directory, record, facts)
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    if frame.filter((pl.col("pattern") != PATTERN) | (pl.col("payload") < 1) | (pl.col("fragments") < 1)).height:
        raise DamagedFile(path, "holds a sample of another pattern, of no payload or of no fragments")
    needed = ("payload", "fragments", "pattern", "repeat", "latency_s", "interfaces_json", "verified")
    if frame.select(pl.col(*needed).null_count()).sum_horizontal()[0]:
        raise DamagedFile(path, "holds a sample without its payload, fragments, repeat, time or interfaces")
    if frame.filter(pl.col("latency_s") <= 0).height:
        raise DamagedFile(path, "holds a sample of no time")
    floor = [read_joules(entry) for entry in facts.items("floor")]
    found = Analysis(frame, floor, of_study(facts), _caches(facts), str(record.host.get("cpu") or ""))
    found.networks = samples.of_networks(directory, SCHEMA)
    return found


def _caches(facts: Checked) -> Caches:
    if not facts.has("caches"):
        return Caches()
    return Caches(*(facts.get("caches").count(level) for level in ("l1", "l2")))


def read_results(directory: Path) -> Checked:
    """Reads DIR/results.json and checks that it belongs to this study."""
    return kept.read_results(directory / kept.RESULTS, RESULTS_SCHEMA, NAME)


def results(analysis: Analysis) -> dict[str, Any]:
    return {
        "schema": RESULTS_SCHEMA,
        "study": NAME,
        "place": analysis.place.as_dict(),
        "repeats": analysis.repeats,
        "verified": analysis.wrong_samples == 0,
        "interface": analysis.interface or None,
        "provenance": {domain: analysis.provenance(domain) for domain in ("cpu", "dram")},
        **published.table(published.judge(ROWS, analysis)),
        "configurations": configurations(analysis),
    }


def judged(directory: Path, record: Manifest) -> dict[str, Any]:
    """The results of a study directory."""
    return results(load(directory, record))
