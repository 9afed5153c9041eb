"""The study of data-access patterns: five ways of writing the same bytes to another PE, and the savings between
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.record.manifest import Manifest
from wattle.study import measuring, program
from wattle.study.course import Gathered, Work
from wattle.study.engine import Check, Study, missing
from wattle.study.patterns.analysis import PAYLOAD_PATTERN, Analysis, configurations, savings_table
from wattle.study.patterns.judges import ROWS
from wattle.study.patterns.plan import SIMULATED_ARGUMENTS, Plan
from wattle.study.patterns.samples import COMPARED, PATTERNS, row
from wattle.study.patterns.words import sentences
from wattle.study.place import of_study
from wattle.text import console, units
from wattle.text.provenance import read_joules

NAME = "patterns"


def work(plan: Plan) -> Work:
    """The jobs of a plan."""
    told = partial(_told, plan)
    return Work(plan.place.pes, plan.place.simulated, _planned(plan), told, partial(_gather, plan))


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    bench = program.find_simulated(home, NAME) if plan.place.simulated else program.find(home, NAME)
    with console.progress("patterns", _planned(plan)) as steps, plan.place.open() as start:
        for series, _, arguments in _sweeps(plan):
            with closing(program.run(home, bench, arguments, plan.place.pes, start)) as lines:
                for line in lines:
                    if gathered.take(line, lambda line, series=series: row(line, series)):
                        steps.advance(
                            now=f"{line['pattern']} {line['fragments']} x {units.size(line['fragment_bytes'])}"
                        )
    if not gathered.rows:
        raise WattleError(f"{bench.name} ended without a sample")


def _planned(plan: Plan) -> int:
    return sum(total for _, total, _ in _sweeps(plan))


def _sweeps(plan: Plan) -> Iterator[tuple[str, int, list[str]]]:
    """(series, number of samples, arguments of the benchmark)."""
    common = ["--repeat", str(plan.repeats), "--min-time", f"{plan.min_time_s:g}", *measuring.interval()]
    if plan.min_iterations is not None:
        common += ["--min-iterations", str(plan.min_iterations)]
    if plan.place.simulated:
        common += SIMULATED_ARGUMENTS
    counts = plan.fragments
    arguments = ["--payload", str(plan.payload), "--fragments", _list(counts)]
    yield "patterns", 5 * len(counts) * plan.repeats, [*arguments, *common]
    counts = plan.payload_fragments
    if len(plan.payloads) > 1 and counts:
        arguments = ["--patterns", PAYLOAD_PATTERN, "--payload", _list(plan.payloads), "--fragments", _list(counts)]
        yield "payloads", len(plan.payloads) * len(counts) * plan.repeats, [*arguments, *common]


def _list(values: list[int]) -> str:
    return ",".join(map(str, values))


def _told(plan: Plan, gathered: Gathered) -> dict[str, Any]:
    """The settings of the study and its findings so far."""
    setup = gathered.setup
    return {
        "study": {
            "name": NAME,
            "on": plan.place.name,
            "place": plan.place.as_dict(),
            "quick": plan.quick,
            "payload": plan.payload,
            "payloads": plan.payloads,
            "fragments": plan.fragments,
            "repeats": plan.repeats,
            "min_time_s": plan.min_time_s,
            "min_iterations": plan.min_iterations,
            "clear": setup.get("clear"),
            "pinned": setup.get("pinned"),
            "gap": setup.get("gap"),
            "floor": gathered.floor,
        }
    }


class Patterns(Study[Analysis]):
    """The study of data-access patterns."""

    def checks(self) -> Sequence[Check]:
        series, payload, fragments, pattern = map(pl.col, ("series", "payload", "fragments", "pattern"))
        return (
            ((series != "patterns").all(), "holds no sample of the five patterns"),
            (
                (payload < 1) | (fragments < 1) | ~pattern.is_in(PATTERNS),
                "holds a sample of no pattern, of no payload or of no fragments",
            ),
            (
                missing("payload", "fragments", "pattern", "repeat", "latency_s"),
                "holds a sample without its pattern, payload, fragments, repeat or latency",
            ),
            (pl.col("latency_s") <= 0, "holds a sample of no time"),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        return Analysis(frame, [read_joules(entry) for entry in facts.items("floor")], of_study(facts))

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        before = {
            "place": a.place.as_dict(),
            "payload": a.payload,
            "repeats": a.repeats,
            "verified": a.wrong == 0,
            "provenance": {domain: a.provenance(domain) for domain in ("cpu", "dram")},
        }
        return before, {"configurations": configurations(a), "savings": savings_table(a)}

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return sentences(a, record)


STUDY = Patterns(
    name=NAME,
    title="Data-access patterns of one-sided writes",
    question=(
        "What do five ways of writing the same bytes to another PE cost, and what does a change between them save?"
    ),
    rows=ROWS,
    layout=COMPARED,
)
