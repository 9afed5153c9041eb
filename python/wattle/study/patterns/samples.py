"""The output of the pattern benchmark, line by line, as rows of samples.parquet."""

from __future__ import annotations

from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study.compared import Layout
from wattle.study.samples import metered, metered_columns

PATTERNS = ("PQPQ", "PPQ", "MPQMPQ", "MPMPQ", "MMPQAMM")
SERIES = ("patterns", "payloads")  # the five patterns at one payload; one pattern at several payloads

SCHEMA: dict[str, Any] = {
    "series": pl.String,
    "pattern": pl.String,
    "payload": pl.Int64,  # bytes
    "fragments": pl.Int64,
    "fragment_bytes": pl.Int64,
    "repeat": pl.Int64,
    "turn": pl.Int64,  # position within its repeat's round of patterns
    "iterations": pl.Int64,
    "block_s": pl.Float64,  # all iterations, with clearing and barriers
    "latency_s": pl.Float64,  # of one iteration: median; the next four columns are its spread within this sample
    "latency_p25_s": pl.Float64,
    "latency_p75_s": pl.Float64,
    "latency_mean_s": pl.Float64,
    "latency_min_s": pl.Float64,
    "unpack_s": pl.Float64,  # the receiver's time, MMPQAMM only
    "bandwidth_Bps": pl.Float64,
    "message_rate_per_s": pl.Float64,
    **metered_columns(),  # of the sender, for one payload
    "clear": pl.String,
    "verified": pl.Boolean,
}

COMPARED = Layout(
    ("series", "pattern", "payload", "fragments"),
    "pattern",
    (("latency_s", "latency"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any], series: str) -> dict[str, Any]:
    """A "sample" line as a row. Raises DamagedFile with the place in a wrong line."""
    line = Checked("the benchmark's output", document)
    latency = line.get("latency_s")
    return {
        "series": series,
        "pattern": line.choice("pattern", PATTERNS),
        **{
            key: line.integer(key) for key in ("payload", "fragments", "fragment_bytes", "repeat", "turn", "iterations")
        },
        **{key: line.number(key) for key in ("block_s", "unpack_s", "bandwidth_Bps", "message_rate_per_s")},
        "latency_s": latency.number("median"),
        **{f"latency_{key}_s": latency.number(key) for key in ("p25", "p75", "mean", "min")},
        **metered(line),
        "clear": line.text("clear"),
        "verified": line.get("verified").value is True,
    }
