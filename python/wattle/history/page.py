"""The page of a history: for each series a chart of time, one of joules, and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattle.compare.show import median
from wattle.compare.verdict import Difference, Verdict
from wattle.figures.metrics import Spread
from wattle.history.found import Entry, History, Series
from wattle.history.show import MEANING, step_words
from wattle.html.figures import Figure, Look, hover_text, line, value_axis
from wattle.html.page import Page
from wattle.text import units
from wattle.text.provenance import Provenance

TICKS_MOST = 12  # commits named below a chart
TITLE_MOST = 40  # characters of a series in the navigation
SYMBOLS = {Provenance.MEASURED: "circle", Provenance.MODELLED: "circle-open"}


def build(history: History) -> Page:
    n = sum(len(series.entries) for series in history.series)
    figures = [f for k, series in enumerate(history.series) for f in _figures(k, series)]
    series = [
        (_id(k), one.title, [_row(entry) for entry in one.entries], [step_words(one, step) for step in one.steps])
        for k, one in enumerate(history.series)
    ]
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title="History of runs",
        subtitle=f"{units.several(n, 'entry')}, each of a commit, a host and a day",
        summary=_summary(history),
        record=None,
        nav=[("summary", "Summary"), *((_id(k), _short(one.title)) for k, one in enumerate(history.series))],
        figures=figures,
        content={"cards": [], "series": series, "skipped": history.skipped, "meaning": MEANING},
    )


def _id(k: int) -> str:
    return f"series-{k + 1}"


def _short(title: str) -> str:
    return title if len(title) <= TITLE_MOST else f"{title[:TITLE_MOST]}…"


def _summary(history: History) -> str:
    """One sentence on the last entry of each series that differs from the one before it."""
    words = []
    for series in history.series:
        last = series.entries[-1]
        for name, change in zip(("time", "joules"), last.changes or (), strict=False):
            if (percent := _beyond(change)) is not None:
                way = "fell" if percent > 0 else "rose"
                words.append(f"{series.title}: {name} {way} by {units.share(abs(percent) / 100)} at {last.commit}.")
    return " ".join(words) or "The last entry of no series differs from the one before it beyond noise."


def _beyond(change: Difference | None) -> float | None:
    """The saving in percent where it is beyond noise."""
    return change.saving_percent if change is not None and change.verdict is Verdict.BEYOND else None


# ---- charts ----


def _figures(k: int, series: Series) -> list[Figure]:
    places = [place for place, entry in enumerate(series.entries) if not entry.failed]
    entries = [series.entries[place] for place in places]
    time = _figure(f"time-{k + 1}", "Time", [entry.time for entry in entries], entries, "s", "--first")
    time.layout["shapes"] = _marks(series, "time", places)
    if not any(entry.joules.median is not None for entry in entries):
        return [time]
    joules = _figure(f"joules-{k + 1}", "Joules", [entry.joules for entry in entries], entries, "J", "--third")
    joules.note = "filled: measured; open: modelled; whiskers: ± of the meter; dotted lines: steps"
    joules.layout["shapes"] = _marks(series, "joules", places)
    return [time, joules]


def _marks(series: Series, metric: str, places: list[int]) -> list[dict[str, Any]]:
    """A line before each entry at which the figure has a step."""
    at = [places.index(step.at) - 0.5 for step in series.steps if step.metric == metric]
    return [{"type": "line", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": {"dash": "dot"}} for x in at]


def _figure(name: str, title: str, spreads: list[Spread], entries: list[Entry], unit: str, colour: str) -> Figure:
    ends = [_ends(spread) for spread in spreads]
    hover = [_hover(entry, spread) for entry, spread in zip(entries, spreads, strict=True)]
    x, middle = list(range(len(entries))), [spread.median for spread in spreads]
    trace = line(x, middle, [lo for lo, _ in ends], [hi for _, hi in ends], Look(colour), title, hover)
    trace["line"] |= {"width": 1}
    trace["marker"] |= {"size": 9, "symbol": [_symbol(spread) for spread in spreads]}
    every = max(1, -(-len(entries) // TICKS_MOST))
    shown = x[::every]
    return Figure(
        id=name,
        title=title,
        label=f"{title} of each entry, the oldest left",
        traces=[trace],
        layout={
            "showlegend": False,
            "xaxis": {
                "tickmode": "array",
                "tickvals": shown,
                "ticktext": [_tick(entries[k]) for k in shown],
                "tickangle": -40,
                "showgrid": False,
                "range": [-0.5, len(entries) - 0.5],
            },
            "yaxis": value_axis(unit, log=False),
        },
        height=300,
        note="whiskers: least and most of the repeats; dotted lines: steps",
    )


def _tick(entry: Entry) -> str:
    return entry.commit if entry.record.git else entry.label or entry.date[:10]


def _symbol(spread: Spread) -> str:
    return "circle" if spread.joules is None else SYMBOLS.get(spread.joules.provenance, "x")


def _ends(spread: Spread) -> tuple[float | None, float | None]:
    """The ends of the whiskers: the meter's uncertainty, and else the least and the most of the repeats."""
    found = spread.joules
    if found is None or found.joules is None or found.uncertainty is None:
        return spread.lo, spread.hi
    return max(0.0, found.joules - found.uncertainty), found.joules + found.uncertainty


def _hover(entry: Entry, spread: Spread) -> str:
    found = spread.joules
    source = f"{found.provenance} by {found.source}" if found is not None and found.known else ""
    lines = [("date", entry.date), ("label", entry.label), ("median", median(spread)), ("joules", source)]
    return hover_text(entry.commit, [*lines, ("repeats", str(spread.n))])


# ---- table ----


def _row(entry: Entry) -> dict[str, Any]:
    found = entry.joules.joules
    time, joules = (_beyond(change) for change in entry.changes or (None, None))
    return {
        "commit": entry.commit,
        "full": entry.record.git["commit"] if entry.record.git else "",
        "date": entry.date,
        "label": entry.label,
        "repeats": entry.time.n,
        "failed": f"exit code {entry.record.exit_code}" if entry.failed else "",
        "time": median(entry.time),
        "time_saved": "" if time is None else units.percent(time),
        "joules": median(entry.joules),
        "joules_saved": "" if joules is None else units.percent(joules),
        "provenance": str(found.provenance) if found is not None else str(Provenance.UNAVAILABLE),
        "source": found.source if found is not None else "",
        "directories": ", ".join(map(str, entry.directories)),
    }
