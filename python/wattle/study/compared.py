"""The columns of a study's samples that `wattle compare` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Layout:
    """`cell`: the columns that name one point of the sweep. `series`: the cell's column that rows of the table stand
    for. `figures`: column and label; beside X_J stand X_uncertainty_J, X_provenance and X_source. `columns`: of all
    samples, with their types."""

    cell: tuple[str, ...]
    series: str
    figures: tuple[tuple[str, str], ...]
    columns: dict[str, Any]

    def schema(self) -> dict[str, Any]:
        """Of the columns that are compared."""
        figures = [column for column, _ in self.figures]
        domains = [column.removesuffix("_J") for column in figures if column.endswith("_J")]
        beside = [f"{domain}_{what}" for domain in domains for what in ("uncertainty_J", "provenance", "source")]
        return {column: self.columns[column] for column in (*self.cell, *figures, *beside)}
