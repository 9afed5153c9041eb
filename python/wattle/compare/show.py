"""Shows the table of two compared runs."""

from __future__ import annotations

from wattle.compare.gate import Gate, Result
from wattle.compare.of_runs import Comparison, Row, changed_settings
from wattle.compare.verdict import Verdict
from wattle.figures.metrics import Spread
from wattle.machine import allocation
from wattle.text import units
from wattle.text.console import Console, Text, plain, styled
from wattle.text.provenance import amount, in_joules
from wattle.text.tables import table

STYLES = {Verdict.BEYOND: "title", Verdict.WITHIN: "faint", Verdict.UNTESTED: "faint", Verdict.UNKNOWN: "unavailable"}
WORDS = {Verdict.BEYOND: "yes", Verdict.WITHIN: "no", Verdict.UNTESTED: "open", Verdict.UNKNOWN: "unknown"}
GATE_STYLES = {
    Result.HOLDS: "good",
    Result.WITHIN_NOISE: "faint",
    Result.EXCEEDED: "bad",
    Result.NOT_KNOWN: "unavailable",
}
MEANING = "Difference = (before - after) / before: positive is a saving."


def show_runs(comparison: Comparison, console: Console) -> None:
    heading(comparison.before.directory, comparison.after.directory, comparison.warnings, console)
    for name, run in (("before", comparison.before), ("after", comparison.after)):
        if job := allocation.words(run.manifest.allocation):
            console.print(styled("{} ran in {}", name, job), soft_wrap=True)
        if (slurm := run.middle.manifest.slurm_energy) and not slurm.joules.known:
            console.print(styled("{}: {}", name, slurm.words), soft_wrap=True)
    for name, before, after in changed_settings(comparison.before, comparison.after):
        console.print(f"{name}: {before} before, {after} after", soft_wrap=True)
    repeats = " and ".join(str(len(run.samples)) for run in (comparison.before, comparison.after))
    result = table(title=f"Medians of {repeats} repeats, sums over {comparison.noun}s")
    result.add_column("")
    for name in ("before", "after", "difference"):
        result.add_column(name, justify="right", no_wrap=True)
    result.add_column("beyond noise?")
    for row in comparison.rows:
        result.add_row(*_run_cells(row))
    console.print()
    console.print(result)
    words = (
        "±, or the range in brackets, is the meter's uncertainty where there is one, else half the interquartile range."
    )
    console.print(plain(f"{MEANING} {words}", "faint"))


def show_gate(gate: Gate, console: Console) -> None:
    """The verdict of `--fail-above`, and each limit in a line."""
    console.print()
    for one in gate.judged:
        console.print(styled("{}: {}", plain(one.result, GATE_STYLES[one.result]), one.words), soft_wrap=True)


def heading(before: object, after: object, warnings: list[str], console: Console) -> None:
    """Shows the two directories, and the differences that make them less comparable."""
    console.print(styled("[title]before[/title]  {}", before), soft_wrap=True)
    console.print(styled("[title]after[/title]   {}", after), soft_wrap=True)
    for warning in warnings:
        console.print(styled("[partly]careful:[/partly] {}", warning), soft_wrap=True)


def _run_cells(row: Row) -> list[str | Text]:
    verdict = row.difference.verdict
    return [
        _label(row),
        median(row.before),
        median(row.after),
        plain(units.percent(row.difference.saving_percent), _sign_style(row)),
        plain(f"{WORDS[verdict]}, {row.difference.why}", STYLES[verdict]),
    ]


def _label(row: Row) -> Text:
    """The label of a row. Joules always have their provenance."""
    figures = {str(s.joules.provenance) for s in (row.before, row.after) if s.joules is not None}
    label = plain(row.metric.label)
    return styled("{}\n[faint]{}[/faint]", label, " / ".join(sorted(figures))) if figures else label


def median(figure: Spread) -> str:
    """A median with the half-width or half the interquartile range, such as `12.3±0.4 s`."""
    if figure.median is None:
        return units.UNKNOWN
    if figure.joules is not None:
        return in_joules(figure.median, figure.joules.uncertainty).replace(" ± ", "±")
    if figure.iqr is None:
        return units.seconds(figure.median)
    factor, unit = units.scale_for([figure.median], units.SECONDS)
    return f"{amount(figure.median, figure.iqr / 2, factor).replace(' ± ', '±')} {unit}"


def _sign_style(row: Row) -> str:
    percent = row.difference.saving_percent
    if row.difference.verdict is not Verdict.BEYOND or percent is None:
        return ""
    return "good" if percent > 0 else "bad"
