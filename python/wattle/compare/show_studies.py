"""Shows the table of two compared studies."""

from __future__ import annotations

import statistics

from wattle.compare.of_studies import Cell, StudyComparison, Verdicts, beyond, joules
from wattle.compare.show import MEANING, heading
from wattle.text import units
from wattle.text.console import Console, plain, styled
from wattle.text.tables import provenance_words, table


def show_studies(comparison: StudyComparison, console: Console) -> None:
    heading(comparison.before, comparison.after, comparison.warnings, console)
    result = table(title=f"Study {comparison.study}, medians over the sweep")
    result.add_column(styled("\n{}", comparison.layout.series))
    for column, label in comparison.layout.figures:
        figures = joules([c for c in comparison.cells if c.figure == column])
        words = provenance_words(figures) if figures else ""
        result.add_column(styled("{}\n{}", label, words), justify="right")
    for series in comparison.series:
        result.add_row(series, *(_study_cell(comparison.of(series, column)) for column, _ in comparison.layout.figures))
    console.print()
    console.print(result)
    words = (
        "In brackets: the number of points of the sweep at which it exceeds the uncertainty and the spread of repeats; "
        "--json has every point."
    )
    console.print(plain(f"{MEANING} {words}", "faint"))
    _show_verdicts(comparison.verdicts, console)


def _show_verdicts(verdicts: Verdicts, console: Console) -> None:
    """The tally of published figures on both sides, and the figures with another verdict."""
    console.print()
    for side, tally in zip(("before", "after"), verdicts.tallies, strict=True):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in tally.items() if count)
        console.print(styled("Published figures {}: {}", side, counts or "none"), soft_wrap=True)
    for name, before, after in verdicts.changed:
        console.print(styled("  {}: {} before, {} after", name, before, after), soft_wrap=True)


def _study_cell(cells: list[Cell]) -> str:
    known = [c.difference.saving_percent for c in cells if c.difference.saving_percent is not None]
    if not known:
        return units.UNKNOWN
    return f"{units.percent(statistics.median(known))} ({beyond(cells)}/{len(cells)})"
