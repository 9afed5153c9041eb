"""Makes Polars frames of rows, with the schema of their table, and the columns of figures with a range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wattle.base import extras
from wattle.figures.pe_power import Watts
from wattle.frames.columns import TABLES
from wattle.text.provenance import Joules

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]


def frame(table: str, rows: Iterable[Row]) -> pl.DataFrame:
    """The frame of a table. A column that a row lacks is null. Raises WattleError without Polars."""
    extras.require(f"the table {table}", "polars")
    import polars as pl

    kinds = {"int": pl.Int64, "float": pl.Float64, "text": pl.String}
    schema = {column.name: kinds[column.kind] for column in TABLES[table]}
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for row in rows:
        if unknown := row.keys() - schema.keys():
            raise KeyError(f"table {table} has no column {', '.join(sorted(unknown))}")
        for name, values in columns.items():
            values.append(row.get(name))
    return pl.DataFrame(columns, schema=schema, strict=False)


def joules(figure: Joules, name: str = "joules") -> Row:
    """The columns of a figure in joules."""
    return _ranged(name, figure.joules, figure.uncertainty, str(figure.provenance), figure.source)


def watts(figure: Watts) -> Row:
    """The columns of a figure in watts."""
    return _ranged("watts", figure.watts, figure.uncertainty, str(figure.provenance), figure.source)


def _ranged(name: str, value: float | None, half: float | None, provenance: str, source: str) -> Row:
    known = value is not None and half is not None
    low = max(0.0, value - half) if known and value >= 0 else value - half if known else None  # type: ignore[operator]
    high = value + half if known else None  # type: ignore[operator]
    return {name: value, f"{name}_low": low, f"{name}_high": high, "provenance": provenance, "source": source or None}
