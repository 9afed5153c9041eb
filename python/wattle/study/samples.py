"""The file samples.parquet: one row for each sample, checked when it is read."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wattle.base import files, input_files, limits
from wattle.base.checked import Checked, parse_json, shown
from wattle.base.errors import DamagedFile, WattleError
from wattle.text.provenance import Joules, Provenance, read_joules, total, unavailable
from wattle.text.units import in_unit


@dataclass(frozen=True)
class Layout:
    """The columns of a comparison. `cell`: the columns that identify a point of the sweep. `series`: the column of the
    cell that names the rows of the table. `figures`: column and label; a column X_J comes with X_uncertainty_J,
    X_provenance and X_source. `columns`: all columns of the samples, with their types.
    """

    cell: tuple[str, ...]
    series: str
    figures: tuple[tuple[str, str], ...]
    columns: dict[str, Any]

    def schema(self) -> dict[str, Any]:
        """The types of the columns that are compared."""
        figures = [column for column, _ in self.figures]
        domains = [column.removesuffix("_J") for column in figures if column.endswith("_J")]
        beside = [f"{domain}_{what}" for domain in domains for what in ("uncertainty_J", "provenance", "source")]
        return {column: self.columns[column] for column in (*self.cell, *figures, *beside)}


@dataclass(frozen=True)
class Metric:
    """A figure of a sample. `value`: from the row; None where it is not known. `energy`: the domains whose joules it
    uses. `counted`: whether it is a counter's.
    """

    name: str
    label: str
    unit: str
    value: Callable[[dict[str, Any]], float | None]
    energy: tuple[str, ...] = ()
    counted: bool = False
    lower_is_better: bool = True

    def shown(self, value: float | None) -> str:
        """An amount with its unit."""
        return in_unit(value, self.unit)


def metrics(*found: Metric) -> dict[str, Metric]:
    """The metrics by name."""
    return {metric.name: metric for metric in found}


FILE = "samples.parquet"
NETWORK = "network-"  # begins the names of folders of the study at an end of the half-widths of times

# Columns that samples of earlier versions lack, and how a row without them reads.
NO_NODE = {
    "node_J": None,
    "node_uncertainty_J": None,
    "node_provenance": str(Provenance.UNAVAILABLE),
    "node_source": None,
}
LATER = NO_NODE | {"spans_json": None, "no_core": None}

# The sensors' domains that form the CPU and the DRAM; the model's domains have these names.
SCOPES = {"cpu": "package", "dram": "dram"}


def common_columns() -> dict[str, Any]:
    """Columns that all studies have. `no_core` is the share of its time for which a PE of the job lacked a core
    (program.lacked). The others are a sample's joules. joules_columns() and sum_domain() fill those of CPU and DRAM.
    Joules of the node come from an external meter, by the spans: a list of begin, end and share (metered.py).
    """
    found: dict[str, Any] = {"no_core": pl.Float64, "spans_json": pl.String}
    for domain in (*SCOPES, "node"):
        found |= {f"{domain}_J": pl.Float64, f"{domain}_uncertainty_J": pl.Float64}
        found |= {f"{domain}_provenance": pl.String, f"{domain}_source": pl.String}
    return found


def metered_columns() -> dict[str, Any]:
    """The columns that metered() fills: common_columns(), the interval of the figures, and all that the meter said."""
    return {
        **common_columns(),
        "energy_interval_s": pl.Float64,
        "energy_covered_s": pl.Float64,
        "energy_why": pl.String,  # the reason where there are no joules
        "energy_json": pl.String,  # every domain the meter has
    }


def metered(line: Checked) -> dict[str, Any]:
    """The joules of a benchmark's sample. Raises DamagedFile with the place in a wrong line."""
    cpu, dram = sum_domain(line, "energy", "cpu"), sum_domain(line, "energy", "dram")
    return {
        **joules_columns("cpu", cpu),
        **joules_columns("dram", dram),
        "energy_interval_s": cpu.interval_s,
        "energy_covered_s": cpu.covered_s,
        "energy_why": line.value.get("energy_why"),
        "energy_json": json.dumps(line.value.get("energy")),
        "spans_json": spans_column(line),
    }


def write(directory: Path, rows: Sequence[dict[str, Any]], schema: dict[str, Any]) -> Path:
    """Writes DIR/samples.parquet atomically."""
    path = directory / FILE
    try:
        with files.writing(path) as out:
            pl.DataFrame(list(rows), schema=schema).write_parquet(out)
    except OSError as error:
        raise WattleError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path


def read(directory: Path, schema: dict[str, Any]) -> pl.DataFrame:
    """Reads DIR/samples.parquet and checks that it has the columns and at least one row. Raises DamagedFile."""
    path = directory / FILE
    if not path.exists():
        raise DamagedFile(path, "is missing; the study did not finish, or the file was removed")
    data = input_files.read_bytes(path, limits.TABLE_BYTES)
    with _silent():
        frame = _parsed(path, data, schema)
    return _checked(path, frame, schema)


@contextmanager
def _silent() -> Iterator[None]:
    """Discards the Parquet reader's messages about a damaged file, which it writes past sys.stderr."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _parsed(path: Path, data: bytes, schema: dict[str, Any]) -> pl.DataFrame:
    try:
        # Rows are counted first, because a small file may claim many rows.
        rows = pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item()
        if rows > limits.SAMPLES:
            raise DamagedFile(path, f"holds {rows} samples; a study has at most {limits.SAMPLES}")
        there = pl.read_parquet_schema(io.BytesIO(data))
        return pl.read_parquet(io.BytesIO(data), columns=[name for name in schema if name in there])
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DamagedFile(path, f"is not a Parquet file that can be read: {first}") from None
    except BaseException as error:  # a panic of the Parquet reader is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise DamagedFile(path, "is not a Parquet file that can be read") from None


def _checked(path: Path, frame: pl.DataFrame, schema: dict[str, Any]) -> pl.DataFrame:
    for name in LATER.keys() & schema.keys():
        column = pl.col(name) if name in frame.columns else pl.lit(None, schema[name])
        frame = frame.with_columns(pl.coalesce(column, pl.lit(LATER[name], schema[name])).alias(name))
    for name, kind in schema.items():
        if name not in frame.columns:
            raise DamagedFile(path, f"has no column {name!r}")
        if frame.schema[name] != kind:
            raise DamagedFile(path, f"column {name!r} holds {frame.schema[name]}; expected {kind}")
    if frame.is_empty():
        raise DamagedFile(path, "holds no sample")
    for name in schema:
        _check_column(path, frame, name)
    return frame.select(list(schema))


def _check_column(path: Path, frame: pl.DataFrame, name: str) -> None:
    """Checks that numbers are within the limits, provenances are valid, and JSON columns are JSON."""
    column, kind = pl.col(name), frame.schema[name]
    if kind == pl.Float64:
        wrong, expected = ~(column.abs() <= limits.NUMBER), "a finite number"
    elif kind == pl.Int64:
        most = limits.PES if name == "pes" else limits.COUNT
        wrong, expected = ~column.is_between(0, most), f"a whole number from 0 to {most}"
    elif name.endswith("_provenance"):
        unknown = pl.col(f"{name.removesuffix('_provenance')}_J").is_null()
        wrong = ~column.is_in(list(Provenance)) | (unknown != (column == Provenance.UNAVAILABLE))
        wrong, expected = wrong.fill_null(True), "the provenance of its joules"
    elif name.endswith("_json"):
        for text in frame[name].drop_nulls().unique():
            parse_json(f"{path}: column {name!r}", text)
        return
    else:
        return
    if (row := frame.select(wrong.arg_true().first()).item()) is not None:
        raise DamagedFile(path, f"column {name!r}, row {row}: expected {expected}, found {shown(frame[name][row])}")


def sum_domain(energy: Checked, key: str, want: str) -> Joules:
    """CPU or DRAM joules of a sample: the domain of that name, else the sum of the sensors' domains of its scope."""
    if not energy.has(key):
        return unavailable(want)
    figures = [read_joules(entry) for entry in energy.items(key)]
    named = [f for f in figures if f.domain == want]
    return total(named or [f for f in figures if f.scope == SCOPES[want]], domain=want)


def of_networks(directory: Path, schema: dict[str, Any]) -> list[pl.DataFrame]:
    """The samples of the same study with times at the ends of their half-widths, where it was simulated so."""
    return [read(path.parent, schema) for path in sorted(directory.glob(f"{NETWORK}*/{FILE}"))]


def spans_column(line: Checked) -> str | None:
    """The spans of a sample's line, for `spans_json`; None where it has none."""
    if not line.has("spans"):
        return None
    spans = line.items("spans")
    return json.dumps([[s.known("begin_s"), s.known("end_s"), s.number("share", lo=None) or 0.0] for s in spans])


def joules_columns(domain: str, figure: Joules) -> dict[str, Any]:
    return {
        f"{domain}_J": figure.joules,
        f"{domain}_uncertainty_J": figure.uncertainty,
        f"{domain}_provenance": str(figure.provenance),
        f"{domain}_source": figure.source,
    }
