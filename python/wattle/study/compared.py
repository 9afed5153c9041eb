"""The columns of a study's samples that `wattle compare` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
