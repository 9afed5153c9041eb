"""The file of `make bench`, with its tables."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.base import extras
from wattle.report import bench_file

if TYPE_CHECKING:
    import polars as pl


class Bench:
    """The file of `make bench`. `wattle.open` makes it.

    Attributes:
        directory: the folder of the file.
    """

    def __init__(self, file: Path) -> None:
        self.directory = file.parent
        self._found = bench_file.read(file)

    @cached_property
    def bars(self) -> pl.DataFrame:
        """A row for each bar: `section`, `label`, `ours`, `other`, `value` with `low` and `high` (a ratio, or CPU
        seconds where there is no peer), `best`, `bar`, `verdict`, `beyond` (the relative amount by which it is missed)
        and `disturbed`.
        """
        return self._frame(self._found.bars)

    @cached_property
    def limits(self) -> pl.DataFrame:
        """The limits of the machine itself: `label`, `bytes` and `median_s`."""
        return self._frame(self._found.limits)

    @property
    def manifest(self) -> dict[str, Any]:
        """When, where and with which versions it was run."""
        return self._found.record.as_dict()

    @staticmethod
    def _frame(records: list[Any]) -> pl.DataFrame:
        extras.require("a table of a benchmark", "polars")
        import polars as pl

        return pl.DataFrame([vars(one) for one in records], infer_schema_length=None)

    def __repr__(self) -> str:
        return f"<wattle.Bench in {self.directory}>"
