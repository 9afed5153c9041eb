"""samples.parquet: one row a sample, checked when read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wattle import files
from wattle.checked import Checked
from wattle.errors import DamagedFile, WattleError
from wattle.provenance import Joules, read_joules, total, unavailable

FILE = "samples.parquet"

# Which sensors' domains make up the CPU and the DRAM; the model's are called just that.
SCOPES = {"cpu": "package", "dram": "dram"}


def energy_columns() -> dict[str, Any]:
    """Columns of a sample's joules, as joules_columns() and sum_domain() fill them."""
    found: dict[str, Any] = {}
    for domain in SCOPES:
        found |= {f"{domain}_J": pl.Float64, f"{domain}_uncertainty_J": pl.Float64}
        found |= {f"{domain}_provenance": pl.String, f"{domain}_source": pl.String}
    return found


def write(directory: Path, rows: Sequence[dict[str, Any]], schema: dict[str, Any]) -> Path:
    """Writes DIR/samples.parquet; the file is whole or is not there."""
    path = directory / FILE
    try:
        with files.writing(path) as out:
            pl.DataFrame(list(rows), schema=schema).write_parquet(out)
    except OSError as error:
        raise WattleError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path


def read(directory: Path, schema: dict[str, Any]) -> pl.DataFrame:
    """Reads DIR/samples.parquet and checks that it has the columns, and at least one row."""
    path = directory / FILE
    if not path.is_file():
        raise DamagedFile(path, "is missing; the study did not finish, or the file was taken away")
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DamagedFile(path, f"is not a Parquet file that can be read: {first}") from None
    except BaseException as error:  # a panic of the Parquet reader is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise DamagedFile(path, "is not a Parquet file that can be read") from None
    return _checked(path, frame, schema)


def _checked(path: Path, frame: pl.DataFrame, schema: dict[str, Any]) -> pl.DataFrame:
    for name, kind in schema.items():
        if name not in frame.columns:
            raise DamagedFile(path, f"has no column {name!r}")
        if frame.schema[name] != kind:
            raise DamagedFile(path, f"column {name!r} holds {frame.schema[name]}; expected {kind}")
    if frame.is_empty():
        raise DamagedFile(path, "holds no sample")
    return frame.select(list(schema))


def sum_domain(energy: Checked, key: str, want: str) -> Joules:
    """CPU or DRAM joules of a sample: the domain of that name, else the sum of the sensors' domains of its scope."""
    if not energy.has(key):
        return unavailable(want)
    figures = [read_joules(entry) for entry in energy.items(key)]
    named = [f for f in figures if f.domain == want]
    return total(named or [f for f in figures if f.scope == SCOPES[want]], domain=want)


def joules_columns(domain: str, figure: Joules) -> dict[str, Any]:
    return {
        f"{domain}_J": figure.joules,
        f"{domain}_uncertainty_J": figure.uncertainty,
        f"{domain}_provenance": str(figure.provenance),
        f"{domain}_source": figure.source,
    }
