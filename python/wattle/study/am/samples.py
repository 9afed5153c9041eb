"""The output of the message benchmarks, line by line, as rows of samples.parquet."""

from __future__ import annotations

from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study.compared import Layout
from wattle.study.samples import metered, metered_columns

SERIES = ("bandwidth", "rate", "ring")
TESTS = ("uni", "bi", "ring")
WAYS = ("am", "put", "nbi", "mpi", "ucx")
NO_UCX_JOULES = "ucx_perftest is a separate program without a meter"

SCHEMA: dict[str, Any] = {
    "series": pl.String,
    "test": pl.String,
    "way": pl.String,
    "bytes": pl.Int64,  # of a message
    "in_flight": pl.Int64,  # messages before a wait for completion; 0: UCX's own choice
    "pes": pl.Int64,
    "repeat": pl.Int64,
    "turn": pl.Int64,  # position among the ways of its repeat
    "rounds": pl.Int64,
    "messages": pl.Float64,  # messages of the block: both directions in bi, hops in a ring
    "block_s": pl.Float64,
    "message_s": pl.Float64,  # block_s / messages
    **metered_columns(),  # for one message: of PE 0 where modelled, of the machine where measured
    "verified": pl.Boolean,  # every message arrived once and correct; null: UCX's test does not check
}

COMPARED = Layout(
    ("series", "test", "way", "bytes", "in_flight", "pes"),
    "way",
    (("message_s", "time a message"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any], series: str) -> dict[str, Any]:
    """A "sample" line as a row. Raises DamagedFile with the place in a wrong line."""
    line = Checked("the benchmark's output", document)
    return {
        "series": series,
        "test": line.choice("test", TESTS),
        "way": line.choice("way", WAYS),
        **{key: line.integer(key) for key in ("bytes", "in_flight", "pes", "repeat", "turn", "rounds")},
        **{key: line.number(key) for key in ("messages", "block_s", "message_s")},
        **metered(line),
        "verified": line.get("verified").value is True if document.get("verified") is not None else None,
    }


def ucx_document(size: int, repeat: int, messages: int, a_second: float) -> dict[str, Any]:
    """A figure of ucx_perftest in the form of a benchmark line."""
    return {
        "test": "uni",
        "way": "ucx",
        "bytes": size,
        "in_flight": 0,
        "pes": 2,
        "repeat": repeat,
        "turn": 0,
        "rounds": 1,
        "messages": messages,
        "block_s": messages / a_second,
        "message_s": 1 / a_second,
        "verified": None,
        "energy": None,
        "energy_why": NO_UCX_JOULES,
    }
