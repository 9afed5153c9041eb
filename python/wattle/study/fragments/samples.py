"""The output of the benchmark, line by line, as rows of samples.parquet."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study.compared import Layout
from wattle.study.fragments.plan import PATTERN
from wattle.study.samples import metered, metered_columns

EVENTS = ("instructions", "cycles", "cache_references", "cache_misses")

SCHEMA: dict[str, Any] = {
    "pattern": pl.String,
    "payload": pl.Int64,  # bytes
    "fragments": pl.Int64,
    "fragment_bytes": pl.Int64,
    "repeat": pl.Int64,
    "iterations": pl.Int64,
    "block_s": pl.Float64,  # all iterations, with clearing and barriers
    "latency_s": pl.Float64,  # of one payload: median; the next three columns are its spread within this sample
    "latency_p25_s": pl.Float64,
    "latency_p75_s": pl.Float64,
    "latency_mean_s": pl.Float64,
    "bandwidth_Bps": pl.Float64,
    **metered_columns(),  # of the sender, for one payload
    **dict.fromkeys(EVENTS, pl.Float64),  # of the sender's thread in user mode, for one payload
    "counted_why": pl.String,  # the reason where one of them is not counted
    "interfaces_json": pl.String,  # packets and bytes of each network interface of the sender's node, for one payload
    "clear": pl.String,
    "verified": pl.Boolean,
}

COMPARED = Layout(
    ("pattern", "payload", "fragments"),
    "pattern",
    (("latency_s", "latency"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any]) -> dict[str, Any]:
    """A "sample" line as a row. Raises DamagedFile with the place in a wrong line."""
    line = Checked("the benchmark's output", document)
    latency = line.get("latency_s")
    counted = line.get("counted") if line.has("counted") else None
    return {
        "pattern": line.choice("pattern", (PATTERN,)),
        **{key: line.integer(key) for key in ("payload", "fragments", "fragment_bytes", "repeat", "iterations")},
        **{key: line.number(key) for key in ("block_s", "bandwidth_Bps")},
        "latency_s": latency.number("median"),
        **{f"latency_{key}_s": latency.number(key) for key in ("p25", "p75", "mean")},
        **metered(line),
        **{key: counted.number(key) if counted else None for key in EVENTS},
        "counted_why": counted.text("why") if counted else "a simulated processor has no counters",
        "interfaces_json": json.dumps([interface(entry) for entry in counted.items("interfaces")] if counted else []),
        "clear": line.text("clear"),
        "verified": line.get("verified").value is True,
    }


WAYS = ("packets_sent", "packets_received", "bytes_sent", "bytes_received")


def interface(entry: Checked) -> dict[str, Any]:
    """One interface of a line, checked."""
    return {"name": entry.text("name"), **{way: entry.number(way) for way in WAYS}}
