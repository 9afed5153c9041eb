"""The study of active messages: bandwidth, message rate and a token ring, beside puts, MPI and UCX."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.checked import Checked
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.paths import Home
from wattle.provenance import Joules, read_joules
from wattle.study import kept, program, published, samples
from wattle.study.am import jobs as am_jobs
from wattle.study.am.analysis import Analysis, cells_table
from wattle.study.am.judges import ROWS
from wattle.study.am.plan import BANDWIDTH_IN_FLIGHT, RATE_BYTES, Job, Plan, jobs_of, left_out_of
from wattle.study.am.samples import SCHEMA, SERIES, TESTS, WAYS, row, ucx_document
from wattle.study.course import Course, Gathered
from wattle.study.place import of_study
from wattle.study.site import Site, opened, says_where

NAME = "am"
TITLE = "Active messages beside puts"
QUESTION = "What do messages with a handler cost, compared with puts, MPI's two-sided messages and UCX's own?"
RESULTS_SCHEMA = 1
UCX_MESSAGES, UCX_MESSAGES_ACROSS = 100000, 20000


def run(plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory."""
    record = kept.begin(command, max(plan.rings), plan.place.simulated)
    course = Course(directory, record, SCHEMA, planned(plan), lambda gathered: _told(plan, gathered))
    course.run(lambda gathered: _gather(plan, gathered), Gathered(left_out=left_out_of(plan)))
    kept.write_results(directory / kept.RESULTS, judged(directory, record))
    return record


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


# ---- reading back ----


def load(directory: Path, record: Manifest) -> Analysis:
    """Reads a study directory's samples. Raises DamagedFile with the reason for a damaged file."""
    study = manifest.study(directory, record)
    kept.check_finished(directory, record, study)
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    known = pl.col("series").is_in(SERIES) & pl.col("test").is_in(TESTS) & pl.col("way").is_in(WAYS)
    if frame.filter(~known.fill_null(False)).height:
        raise DamagedFile(path, "holds a sample of no series, no test or no way")
    numbers = ("bytes", "in_flight", "pes", "repeat", "message_s")
    if frame.select(pl.col(*numbers).null_count()).sum_horizontal()[0]:
        raise DamagedFile(path, "holds a sample without its bytes, its messages in flight, PEs, repeat or time")
    if frame.filter((pl.col("message_s") <= 0) | (pl.col("pes") < 2) | (pl.col("bytes") < 1)).height:
        raise DamagedFile(path, "holds a sample of no time, of no bytes or of fewer than two PEs")
    left_out = [str(entry.value) for entry in study.items("left_out")]
    found = Analysis(frame, of_study(study), left_out)
    found.networks = samples.of_networks(directory, SCHEMA)
    return found


def read_floor(directory: Path, record: Manifest) -> list[Joules]:
    """The joules used while PE 0 slept."""
    study = manifest.study(directory, record)
    return [read_joules(entry) for entry in study.items("floor")]


def read_results(directory: Path) -> Checked:
    """Reads DIR/results.json and checks that it belongs to this study."""
    return kept.read_results(directory / kept.RESULTS, RESULTS_SCHEMA, NAME)


def results(analysis: Analysis) -> dict[str, Any]:
    rows = published.judge(ROWS, analysis)
    return {
        "schema": RESULTS_SCHEMA,
        "study": NAME,
        "place": analysis.place.as_dict(),
        "repeats": analysis.repeats,
        "verified": analysis.wrong_samples == 0,
        "left_out": analysis.left_out,
        **published.table(rows),
        "cells": cells_table(analysis),
    }


def judged(directory: Path, record: Manifest) -> dict[str, Any]:
    """The results of a study directory."""
    return results(load(directory, record))
