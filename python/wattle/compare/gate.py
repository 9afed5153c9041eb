"""`--fail-above`: whether a figure rose by more than its limit, and by more than noise."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wattle.base.checked import shown
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.compare.of_runs import Comparison, Row, row_of
from wattle.compare.verdict import FEWEST_REPEATS, Verdict
from wattle.figures.metrics import metrics, run_time, whole_joules
from wattle.text import units
from wattle.text.visible import visible

SHORT = ("time", "cpu", "joules")  # names beside those of the rows of --json
LIMIT = re.compile(r"(\d+(?:\.\d+)?) ?%")
NAMED = 16  # names in the message on an unknown one
FORM = "expected NAME=PERCENT%, as in time=3%,joules=5%"


class Result(StrEnum):
    HOLDS = "holds"
    WITHIN_NOISE = "within noise"
    EXCEEDED = "exceeded"
    NOT_KNOWN = "not known"


EXIT_CODES = {Result.EXCEEDED: 1, Result.NOT_KNOWN: WattleError.exit_code}


@dataclass(frozen=True)
class Judged:
    """A figure with its limit. `rise_percent`: positive is more than before; None where it is not known."""

    name: str
    limit_percent: float
    row: Row
    result: Result
    why: str

    @property
    def rise_percent(self) -> float | None:
        percent = self.row.difference.saving_percent
        return None if percent is None else -percent

    @property
    def words(self) -> str:
        """`time rose by 12.0 % (limit 3 %, p = 0.0079)`."""
        known = self.result is not Result.NOT_KNOWN
        joules = self.row.after.joules
        facts = [f"limit {self.limit_percent:g} %", str(joules.provenance) if joules and known else ""]
        facts.append("" if self.result is Result.HOLDS else self.why)
        return f"{self.name} {self._change if known else 'cannot be checked'} ({', '.join(f for f in facts if f)})"

    @property
    def _change(self) -> str:
        percent = self.rise_percent or 0.0
        return f"{'rose' if percent > 0 else 'fell'} by {units.share(abs(percent) / 100)}" if percent else "is the same"

    def as_dict(self) -> dict[str, Any]:
        return fields(self, "name limit_percent rise_percent result why") | {"figure": self.row.as_dict()}


@dataclass(frozen=True)
class Gate:
    """All limits of a comparison. `runs`: the number of runs before and after."""

    judged: list[Judged]
    runs: tuple[int, int]

    @property
    def exit_code(self) -> int:
        """1 where a limit is exceeded, else 2 where one could not be checked, else 0."""
        results = [one.result for one in self.judged]
        return next((code for result, code in EXIT_CODES.items() if result in results), 0)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, which names the figures that decide it first."""
        order = (Result.EXCEEDED, Result.NOT_KNOWN, Result.WITHIN_NOISE, Result.HOLDS)
        ranked = sorted(self.judged, key=lambda one: order.index(one.result))
        found = f"{'; '.join(one.words for one in ranked)}."
        if ranked[0].result is Result.WITHIN_NOISE:
            before, after = self.runs
            of = f"{before} before, {after} after"
            return f"Not beyond noise: {found} The runs ({of}) cannot tell such a rise from noise."
        heads = {0: "Within the limits", 1: "Above a limit", 2: "Not checked"}
        return f"{heads[self.exit_code]}: {found}"

    def as_dict(self) -> dict[str, Any]:
        return {"exit_code": self.exit_code, "limits": [one.as_dict() for one in self.judged]}


def limits(text: str) -> dict[str, float]:
    """The percentages of `time=3%,joules=5%` by name. A region's name may have a comma and an equals sign."""
    found: dict[str, float] = {}
    for pair in re.split(r"(?<=%)\s*,", text):
        name, _, value = (part.strip() for part in pair.rpartition("="))
        percent = LIMIT.fullmatch(value)
        if not name or percent is None or not math.isfinite(float(percent[1])):
            raise WattleError(f"--fail-above {shown(pair.strip())}: {FORM}")
        if name in found:
            raise WattleError(f"--fail-above: {shown(name)} has two limits; give one")
        found[name] = float(percent[1])
    return found


def judge(comparison: Comparison, of: dict[str, float]) -> Gate:
    """Applies limits to a comparison. Raises WattleError for an unknown name, and for fewer runs on a side than the
    test for noise needs: such a limit could never be exceeded.
    """
    rows = {name: _row(comparison, name) for name in of}
    n = len(comparison.before.samples), len(comparison.after.samples)
    if min(n) < FEWEST_REPEATS:
        raise WattleError(
            f"--fail-above: {units.several(n[0], 'run')} before and {n[1]} after; the test for noise needs "
            f"{FEWEST_REPEATS} on each side, as `wattle run --repeat {FEWEST_REPEATS}` makes them"
        )
    failed = _failed(comparison)
    return Gate([_judged(name, of[name], row, failed) for name, row in rows.items()], n)


def _row(comparison: Comparison, name: str) -> Row:
    """The row of a figure of the runs, or of the table by its name in --json or its label."""
    samples = [*comparison.before.samples, *comparison.after.samples]
    whole = {"time": run_time(samples), "joules": whole_joules(samples)}
    of_runs = {metric.name: metric for metric in metrics(samples)}
    if "cpu_s" in of_runs:
        whole["cpu"] = of_runs["cpu_s"]
    if name in whole:
        return row_of(whole[name], comparison.before, comparison.after)
    labels = {visible(row.metric.label): row for row in comparison.rows}
    rows = {row.metric.name: row for row in comparison.rows}
    if name in rows or name in labels:
        return rows[name] if name in rows else labels[name]
    known = [*(short for short in SHORT if short in whole), *(labels if comparison.by == "region" else rows)]
    more = [f"and {len(known) - NAMED} more"] if len(known) > NAMED else []
    words = ", ".join([*known[:NAMED], *more])
    raise WattleError(f"--fail-above {shown(name)}: not a figure of these runs; known: {words}")


def _failed(comparison: Comparison) -> str:
    """Why figures of these runs say nothing: a program that failed may have ended early."""
    for side, run in (("before", comparison.before), ("after", comparison.after)):
        codes = [sample.manifest.exit_code for sample in run.samples if sample.manifest.exit_code]
        if codes:
            return f"the program ended with exit code {codes[0]} {side}"
    return ""


def _judged(name: str, limit: float, row: Row, failed: str) -> Judged:
    found = row.difference
    if failed:
        return Judged(name, limit, row, Result.NOT_KNOWN, failed)
    if found.saving_percent is None or found.verdict in (Verdict.UNKNOWN, Verdict.UNTESTED):
        return Judged(name, limit, row, Result.NOT_KNOWN, _unknown(row))
    if -found.saving_percent <= limit:
        return Judged(name, limit, row, Result.HOLDS, found.why)
    result = Result.EXCEEDED if found.verdict is Verdict.BEYOND else Result.WITHIN_NOISE
    return Judged(name, limit, row, result, found.why)


def _unknown(row: Row) -> str:
    """Why a row has no verdict, with the side that lacks a figure."""
    if row.before.median == 0:
        return "it was 0 before"
    sides = (("before", row.before), ("after", row.after))
    lacking = [f"{'unavailable' if side.joules else 'not known'} {name}" for name, side in sides if side.median is None]
    if lacking:
        return " and ".join(lacking)
    if row.before.joules and row.after.joules:
        found = [
            f"{side.joules.provenance} by {side.joules.source or '?'} {name}" for name, side in sides if side.joules
        ]
        return f"{row.difference.why}: {' and '.join(found)}" if found[0] != found[1] else row.difference.why
    return row.difference.why
