"""The tables of findings, comparisons and histories, from what the commands compute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wattle.advise.given import Given
from wattle.compare.of_runs import Comparison
from wattle.compare.verdict import Difference, Verdict
from wattle.figures.metrics import Spread
from wattle.frames import made
from wattle.frames.made import Row
from wattle.frames.of_profile import place
from wattle.history.found import Entry, History
from wattle.text.provenance import unavailable

if TYPE_CHECKING:
    import polars as pl


def of_advice(given: Given) -> pl.DataFrame:
    """The table of findings."""
    return made.frame("findings", _findings(given))


def _findings(given: Given) -> Iterator[Row]:
    for number, finding in enumerate(given.findings, 1):
        saved, advice = finding.saved, finding.advice
        spot = finding.spots[0] if finding.spots else None
        lo, hi = (saved.joules.lo, saved.joules.hi) if saved.joules else (None, None)
        yield {
            "finding": number,
            "rule": finding.rule,
            "call": spot.call if spot else None,
            **(place(spot.place) if spot else {}),
            **{key: str(getattr(advice, key)) for key in ("title", "change", "effort", "sure", "rests_on")},
            "saved_s_low": saved.seconds.lo,
            "saved_s_high": saved.seconds.hi,
            "saved_percent_low": 100 * saved.share.lo,
            "saved_percent_high": 100 * saved.share.hi,
            "saved_joules": saved.joules.middle if saved.joules else None,
            "saved_joules_low": lo,
            "saved_joules_high": hi,
            "provenance": str(saved.provenance),
            "source": saved.source or None,
        }


def of_comparison(comparison: Comparison) -> pl.DataFrame:
    """The table of a comparison."""
    return made.frame(
        "comparison",
        (
            {
                "metric": row.metric.name,
                **_side("before", row.before),
                **_side("after", row.after),
                "saving_percent": row.difference.saving_percent,
                "verdict": str(row.difference.verdict),
                "why": row.difference.why,
            }
            for row in comparison.rows
        ),
    )


def _side(name: str, spread: Spread) -> Row:
    row: Row = {name: spread.median, f"{name}_least": spread.lo, f"{name}_most": spread.hi}
    figure = spread.joules
    if figure is not None:
        row |= {f"{name}_uncertainty": figure.uncertainty, f"{name}_source": figure.source or None}
        row[f"{name}_provenance"] = str(figure.provenance)
    return row


def of_history(history: History) -> pl.DataFrame:
    """The table of a history."""
    rows = (_entry(series.program, series.host, entry) for series in history.series for entry in series.entries)
    return made.frame("history", rows)


def _entry(program: str, host: str, entry: Entry) -> Row:
    git = entry.record.git or {}
    time, joules = entry.changes or (None, None)
    return {
        "program": program,
        "host": host,
        "commit": git.get("commit"),
        "dirty": None if git.get("dirty") is None else int(git["dirty"]),
        "label": entry.label or None,
        "started": entry.record.started,
        "repeats": len(entry.run.samples),
        "exit_code": entry.record.exit_code,
        "wall_s": entry.time.median,
        "wall_saving_percent": _beyond(time),
        "joules_saving_percent": _beyond(joules),
        **made.joules(entry.joules.joules or unavailable()),
    }


def _beyond(change: Difference | None) -> float | None:
    return change.saving_percent if change is not None and change.verdict is Verdict.BEYOND else None
