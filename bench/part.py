"""A section of the benchmark while it runs: it prints its tables, and keeps the figures for the file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wattle.base.errors import WattleError
from wattle.machine.nodes import unavailable
from wattle.report.bench_file import Bar
from wattle.text.console import note, progress

from bench import verdicts
from bench.jobs import BenchError, Figures, Rounds, Runs, Toolchain, alternate
from bench.pairs import Comparison, Pairs, Row, as_data, compare
from bench.show import comparison_table, own_table, say_skipped, section

Limit = tuple[str, int, list[float]]  # label, bytes for a bandwidth, seconds of each run


@dataclass
class Part:
    """`found`: the section's entry of the file. `failed`: parts of the section without figures."""

    options: argparse.Namespace
    tools: Toolchain
    found: dict[str, Any] = field(default_factory=lambda: {"raw": {}})
    bars: list[Bar] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def attempt(self, what: str, measure: Callable[[], None]) -> None:
        """Measures a part of the section. If that fails, it is reported, and the rest is measured nevertheless."""
        try:
            measure()
        except (BenchError, WattleError, OSError) as error:
            note(f"bench: {what}: {error}")
            self.failed.append(what)

    def rounds(self, what: str, sides: Sequence[Runs], arguments: Iterable[str] = (), n: int = 0) -> Rounds:
        """Runs all sides alternately, `n` times, by default --pairs. `what` names the progress."""
        n = n or self.options.pairs
        with progress(what, n * len(sides)) as steps:
            return alternate(sides, n, list(arguments), steps.advance)

    def compared(
        self, title: str, sides: tuple[str, str], rows: Iterable[Row], pairs: Pairs, **more: Any
    ) -> list[Comparison]:
        """Prints and keeps the comparison of all rows for which both sides have figures; see `show`."""
        return self.show(title, sides, compare(rows, pairs), **more)

    def show(
        self,
        title: str,
        sides: tuple[str, str],
        found: list[Comparison],
        keep: str = "rows",
        under: str = "",
        promise: str = "",
        other: str = "",
        best: bool = False,
    ) -> list[Comparison]:
        """Prints the table, and adds it to the file's entry `keep`, of the entry `under` if that is given. `promise`:
        the title of the bars; without one there are none. `other`: the second side's name there, by default as in the
        table. `best`: with the ratio of the best batches.
        """
        section(title, comparison_table(*sides, found, best=best))
        place = self.found.setdefault(under, {}) if under else self.found
        place.setdefault(keep, []).extend(as_data(found))
        if promise:
            self.bars += verdicts.of_comparisons(promise, other or sides[1], found)
        return found

    def alone(self, title: str, rows: Iterable[Row], figures: Iterable[Figures]) -> None:
        """Prints the medians of one side, where there is no other."""
        section(title, own_table(rows, list(figures)))

    def has_nodes(self, what: str, key: str = "skipped") -> bool:
        """Whether nodes can be made. Otherwise prints the reason and keeps it under `key`."""
        if reason := unavailable():
            say_skipped(f"{what}: skipped, {reason}")
            self.found[key] = reason
        return not reason
