"""Shows the history of runs as tables."""

from __future__ import annotations

from wattle.compare.show import median
from wattle.compare.verdict import Difference, Verdict
from wattle.figures.metrics import Spread
from wattle.history.found import Entry, History, Series
from wattle.history.steps import Step
from wattle.text import units
from wattle.text.console import Console, Text, plain
from wattle.text.provenance import Joules
from wattle.text.tables import provenance_words, table

MEANING = (
    "Saved: the difference to the line before, where it is beyond noise; positive is a saving. Dates are in UTC. "
    "+: files differed from the commit. ~: modelled joules."
)


def show(history: History, console: Console) -> None:
    for series in history.series:
        console.print()
        _show_series(series, console)
    console.print(plain(MEANING, "faint"))


def _show_series(series: Series, console: Console) -> None:
    labels = any(entry.label for entry in series.entries)
    console.print(plain(series.title, "title"), soft_wrap=True)
    result = table()
    for name in ("commit", "date", *(["label"] if labels else [])):
        result.add_column(name, no_wrap=name != "label")
    for name in ("n", "time", "saved", joules_title(series), "saved"):
        result.add_column(name, justify="right", no_wrap=name not in ("saved", "n"))
    for entry in series.entries:
        result.add_row(*_cells(entry, labels))
    console.print(result)
    for step in series.steps:
        console.print(plain(step_words(series, step), "bad" if step.rises else "good"))


def step_words(series: Series, step: Step) -> str:
    """`Step at 1a2b3c4d: time rose by 20 %, from 2.00 s to 2.40 s (p < 0.001). Most of it: halo.c:12 exchange() ...`"""
    entry, way = series.entries[step.at], "rose" if step.rises else "fell"
    name = entry.commit if entry.record.git else entry.label or entry.date
    show = units.seconds if step.metric == "time" else units.joules
    by = f" by {units.share(abs(step.saving_percent) / 100)}" if step.saving_percent is not None else ""
    words = (
        f"Step at {name}: {step.metric} {way}{by}, from {show(step.before)} to {show(step.after)} (p = {step.p:.2g})."
    )
    if step.metric == "joules" and entry.joules.joules is not None:
        words = words.replace("(p =", f"{entry.joules.joules.provenance} (p =")
    return words + (f" Most of it: {step.cause.words}." if step.cause else "")


def joules_title(series: Series) -> str:
    """`joules, modelled`: the word, with the provenance that all its figures have."""
    known = [entry.joules.joules for entry in series.entries if entry.joules.joules is not None]
    return f"joules, {provenance_words(known)}"


def _cells(entry: Entry, labels: bool) -> list[str | Text]:
    names: list[str | Text] = [entry.commit, *([entry.date[:10], entry.label] if labels else [entry.date])]
    if entry.failed:
        return [*names, str(entry.time.n), plain(f"exit code {entry.record.exit_code}", "bad"), "", "", ""]
    time, joules = entry.changes or (None, None)
    figures: list[str | Text] = [median(entry.time), _saved(time), joules_text(entry.joules), _saved(joules)]
    return [*names, str(entry.time.n), *figures]


def joules_text(figure: Spread) -> str:
    """A median such as `~12.3±4 J`; `-` where it is not known."""
    found: Joules | None = figure.joules
    mark = "~" if found is not None and found.known and str(found.provenance) == "modelled" else ""
    return mark + median(figure)


def _saved(change: Difference | None) -> str | Text:
    if change is None or change.verdict is not Verdict.BEYOND or change.saving_percent is None:
        return ""
    return plain(units.percent(change.saving_percent), "good" if change.saving_percent > 0 else "bad")
