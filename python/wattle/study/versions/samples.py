"""The output of the mini-apps, line by line, as rows of samples.parquet."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study.compared import Layout
from wattle.study.samples import energy_columns, joules_columns, spans_column, sum_domain

SCHEMA: dict[str, Any] = {
    "version": pl.String,
    "pes": pl.Int64,
    "input": pl.String,
    # "runs": runs that count. "first": a job's first solution of an input, a warm-up that statistics leave out. "held":
    # the first work was held back, so that workers had none.
    "series": pl.String,
    "round": pl.Int64,  # versions alternate; a round is one job of each
    "job": pl.Int64,  # the number of the job
    "repeat": pl.Int64,  # within the job
    "seconds": pl.Float64,
    "cpu_s": pl.Float64,  # CPU seconds of all PEs
    "wait_s": pl.Float64,  # time that all workers waited for work; null for some mini-apps
    "wait_cpu_s": pl.Float64,  # the part of it on a core
    **energy_columns(),  # of all PEs, for one solution
    "energy_json": pl.String,  # every domain the meter has
    "job_active_s": pl.Float64,  # PE-seconds of the whole job by state; null for MPI
    "job_spin_s": pl.Float64,
    "job_yield_s": pl.Float64,
    "job_asleep_s": pl.Float64,
    "verified": pl.Boolean,
}

# By input and number of PEs. Workers whose work was held back are a series of their own.
COMPARED = Layout(
    ("series", "input", "pes", "version"),
    "version",
    (("seconds", "time"), ("cpu_s", "CPU seconds"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any], at: dict[str, Any]) -> dict[str, Any]:
    """A "sample" line as a row, without the columns of the finished job. `at`: version, pes, input, series, round, job.
    Raises DamagedFile with the place in a wrong line.
    """
    line = Checked("the mini-app's output", document)
    seconds, cpu_s = line.number("seconds"), line.number("cpu_s")
    if seconds is None or cpu_s is None:
        raise line.get("seconds" if seconds is None else "cpu_s").wrong("expected a number, found null")
    return {
        **at,
        "repeat": line.integer("repeat"),
        "seconds": seconds,
        "cpu_s": cpu_s,
        "wait_s": line.number("wait_s") if line.has("wait_s") else None,
        "wait_cpu_s": line.number("wait_cpu_s") if line.has("wait_cpu_s") else None,
        **joules_columns("cpu", sum_domain(line, "energy", "cpu")),
        **joules_columns("dram", sum_domain(line, "energy", "dram")),
        "energy_json": json.dumps(document.get("energy")),
        "spans_json": spans_column(line),
        "verified": line.get("verified").value is True if document.get("verified") is not None else None,
    }
