"""The joules of an external meter in the samples of a study, and the verdicts that follow from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from wattle.base.checked import Checked, parse_json
from wattle.meter_log import kept as logs
from wattle.meter_log.figures import Reader
from wattle.meter_log.given import READINGS
from wattle.meter_log.kept import External
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.study import kept, registry, samples
from wattle.study.samples import SCOPES, joules_columns, sum_domain
from wattle.text import units
from wattle.text.provenance import Joules

WHOLE = ("node", "wall")  # scopes of a meter of the whole node; the first one that the log has is used
MOST_DOUBT = 0.5  # half-width as a share of the joules, in the median, above which joules are not used


def add(directory: Path, found: External) -> None:
    """Writes the joules of a log that was just read into DIR/samples.parquet. Each scope is used for all samples that
    have spans of time or for none, so that no comparison mixes two sources. `found.samples` has the choice, and is
    kept in DIR/external.json.
    """
    if found.reader is None or not (directory / samples.FILE).exists():
        return
    schema = _schema(directory)
    if schema is None:
        return
    rows = list(samples.read(directory, schema).iter_rows(named=True))
    timed = [row for row in rows if row["spans_json"]]
    figures = [found.reader.of_spans(parse_json(samples.FILE, row["spans_json"]).value) for row in timed]
    scopes = [trace.series.scope for trace in found.reader.traces]
    reasons = {scope: _why_not(found.reader, k, timed, [f[k] for f in figures]) for k, scope in enumerate(scopes)}
    used = [scope for scope in scopes if not reasons[scope]]
    for row, some in zip(timed, figures, strict=True):
        row |= _columns(row, {f.scope: f for f in some if f.scope in used})
    samples.write(directory, rows, schema)
    found.samples = _said(used, reasons)
    logs.write(directory, found)


def judge_again(directory: Path, record: Manifest) -> None:
    """Writes DIR/results.json anew from the samples of a study that has finished."""
    if record.exit_code == 0:
        kept.write_results(directory / kept.RESULTS, registry.results(directory, record))


def _schema(directory: Path) -> dict[str, Any] | None:
    """The columns of the study's samples; None for a study whose samples have no joules."""
    name = manifest.study(directory, manifest.read(directory)).text("name")
    return registry.study(name).layout.columns if name in registry.commands() else None


def _why_not(reader: Reader, k: int, timed: Sequence[dict[str, Any]], figures: Sequence[Joules]) -> str:
    """Why the joules of the log's column `k` are not used; empty where they are."""
    if not timed:
        return "its samples tell sender and receiver apart, or have no times of their own"
    step = READINGS * reader.traces[k].series.step_s
    spans = [parse_json(samples.FILE, row["spans_json"]).value for row in timed]
    if short := sum(any(end - begin < step for begin, end, _ in some) for some in spans):
        return f"{_of(short, timed)} last less than {READINGS} readings of the meter, {step:.3g} s"
    if lost := sum(not figure.known for figure in figures):
        return f"the log does not cover {_of(lost, timed)}"
    doubts = [(f.uncertainty or 0.0) / abs(f.joules) if f.joules else float("inf") for f in figures]
    if (doubt := median(doubts)) > MOST_DOUBT:
        return f"their half-width is {units.share(min(doubt, 99.0))} of them, more than {units.share(MOST_DOUBT)}"
    return ""


def _of(some: int, timed: Sequence[Any]) -> str:
    return f"{some} of {units.several(len(timed), 'sample')}"


def _columns(row: dict[str, Any], by_scope: dict[str, Joules]) -> dict[str, Any]:
    """The columns of joules that change: those of the log where it has the scope. Joules of an earlier log give way to
    what the job itself found.
    """
    own = Checked(samples.FILE, {"energy": json.loads(row["energy_json"] or "null")})
    found = dict(samples.NO_NODE)
    for domain, scope in SCOPES.items():
        if scope in by_scope:
            found |= joules_columns(domain, _named(by_scope[scope]))
        elif (row[f"{domain}_source"] or "").endswith(f", {scope}"):
            found |= joules_columns(domain, sum_domain(own, "energy", domain))
    whole = next((by_scope[scope] for scope in WHOLE if scope in by_scope), None)
    return found | joules_columns("node", _named(whole)) if whole else found


def _named(figure: Joules) -> Joules:
    """The figure with its scope in the source."""
    return replace(figure, source=f"{figure.source}, {figure.scope}")


def _said(used: Iterable[str], reasons: dict[str, str]) -> str:
    parts = [f"samples and verdicts use its joules ({', '.join(used)})"] if used else []
    for reason in dict.fromkeys(filter(None, reasons.values())):
        listed = ", ".join(scope for scope, why in reasons.items() if why == reason)
        parts.append(f"samples and verdicts do not use its joules ({listed}): {reason}")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]
