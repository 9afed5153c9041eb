"""The study of active messages: bandwidth, message rate and a token ring, beside puts, MPI and UCX."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.paths import Home
from wattle.record.manifest import Manifest
from wattle.study import program
from wattle.study.am import jobs as am_jobs
from wattle.study.am.analysis import Analysis, cells_table
from wattle.study.am.judges import ROWS
from wattle.study.am.plan import BANDWIDTH_IN_FLIGHT, RATE_BYTES, Job, Plan, jobs_of, left_out_of
from wattle.study.am.samples import COMPARED, SERIES, TESTS, WAYS, row, ucx_document
from wattle.study.am.words import sentences
from wattle.study.course import Gathered, Work
from wattle.study.engine import Check, Study, missing
from wattle.study.place import of_study
from wattle.study.site import Site, opened, says_where
from wattle.text import console, units
from wattle.text.provenance import read_joules

NAME = "am"
UCX_MESSAGES, UCX_MESSAGES_ACROSS = 100000, 20000


def work(plan: Plan) -> Work:
    """The jobs of a plan."""
    told, simulated = partial(_told, plan), plan.place.simulated
    return Work(max(plan.rings), simulated, planned(plan), told, partial(_gather, plan), left_out_of(plan))


def planned(plan: Plan) -> int:
    return sum(_samples_of(job, plan) for job in jobs_of(plan))


def _samples_of(job: Job, plan: Plan) -> int:
    return job.cases * (plan.ucx_repeats if job.by == "ucx" else plan.repeats)


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    simulated = plan.place.simulated
    bench = program.find_simulated(home, NAME) if simulated else program.find(home, NAME)
    others = {} if simulated else _others(home, gathered)
    with console.progress("messages", planned(plan)) as steps, opened(plan.place) as site:
        for job in jobs_of(plan):
            if job.by != "ours" and job.by not in others:
                steps.advance(_samples_of(job, plan))
                continue
            for document in _documents(home, job, plan, site, bench, others, gathered):
                if gathered.take(document, lambda line, series=job.series: row(line, series)):
                    way, pes = document["way"], document["pes"]
                    steps.advance(now=f"{document['test']} {way} {units.size(document['bytes'])} {pes} PEs")
    if not gathered.rows:
        raise WattleError(f"{bench.name} ended without a sample")


def _others(home: Home, gathered: Gathered) -> dict[str, Path]:
    """The programs of MPI and UCX. For one that is missing, the reason is added to what is left out."""
    found = {}
    try:
        found["mpi"] = am_jobs.mpi_program(home)
    except WattleError as error:
        gathered.left_out.append(f"MPI: {error}")
    if perftest := shutil.which(am_jobs.PERFTEST):
        found["ucx"] = Path(perftest)
    else:
        gathered.left_out.append(f"UCX by itself: {am_jobs.PERFTEST} is missing (Debian: ucx-utils)")
    return found


def _documents(
    home: Home, job: Job, plan: Plan, site: Site, bench: Path, others: dict[str, Path], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    """The lines of a job. A job of MPI or of more than two PEs that fails is left out as a whole, with its last
    message.
    """
    before = len(gathered.rows)
    if job.by == "ucx":
        messages = UCX_MESSAGES_ACROSS if site.across else UCX_MESSAGES
        for repeat in range(plan.ucx_repeats):
            size = job.sizes[0]
            try:
                yield ucx_document(size, repeat, messages, am_jobs.ucx_rate(site, size, messages))
            except WattleError as error:
                if not plan.place.hosts:
                    raise
                gathered.left_out.append(f"{job.series}, UCX by itself, {units.size(size)}: {error}")
                return
        return
    ours = job.by == "ours"
    start = site.ours if ours else says_where(site.mpi)
    try:
        lines = program.run(home, bench if ours else others["mpi"], job.arguments(plan), job.pes, start)
        with closing(lines):
            yield from lines
    except WattleError as error:
        if ours and job.pes == 2:
            raise
        del gathered.rows[before:]
        gathered.left_out.append(f"{job.series}, {job.by}, {job.pes} PEs: {error}")


def _told(plan: Plan, gathered: Gathered) -> dict[str, Any]:
    """The settings of the study and its findings so far."""
    return {
        "study": {
            "name": NAME,
            "on": plan.place.name,
            "place": plan.place.as_dict(),
            "quick": plan.quick,
            "sizes": plan.sizes,
            "bandwidth_in_flight": BANDWIDTH_IN_FLIGHT,
            "rate_bytes": RATE_BYTES,
            "in_flight": plan.in_flight(False),
            "in_flight_slow": plan.in_flight(True),
            "rings": plan.rings,
            "repeats": plan.repeats,
            "ucx_repeats": plan.ucx_repeats,
            "min_time_s": plan.min_time_s,
            "left_out": gathered.left_out,
            "floor": gathered.floor,
        }
    }


class Messages(Study[Analysis]):
    """The study of active messages."""

    def checks(self) -> Sequence[Check]:
        known = pl.col("series").is_in(SERIES) & pl.col("test").is_in(TESTS) & pl.col("way").is_in(WAYS)
        return (
            (~known.fill_null(False), "holds a sample of no series, no test or no way"),
            (
                missing("bytes", "in_flight", "pes", "repeat", "message_s"),
                "holds a sample without its bytes, its messages in flight, PEs, repeat or time",
            ),
            (
                (pl.col("message_s") <= 0) | (pl.col("pes") < 2) | (pl.col("bytes") < 1),
                "holds a sample of no time, of no bytes or of fewer than two PEs",
            ),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        floor = [read_joules(entry) for entry in facts.items("floor")]
        return Analysis(frame, of_study(facts), [str(entry.value) for entry in facts.items("left_out")], floor)

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        before = {
            "place": a.place.as_dict(),
            "repeats": a.repeats,
            "verified": a.wrong == 0,
            "left_out": a.left_out,
        }
        return before, {"cells": cells_table(a)}

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return sentences(a, record)

    def wrong(self, n: int) -> str:
        return f"Messages were lost, doubled or wrong in {n} samples"


STUDY = Messages(
    name=NAME,
    title="Active messages beside puts",
    question="What do messages with a handler cost, compared with puts, MPI's two-sided messages and UCX's own?",
    rows=ROWS,
    layout=COMPARED,
)
