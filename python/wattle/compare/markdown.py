"""A comparison of two runs as Markdown: a table and one sentence of verdict, for a pull request."""

from __future__ import annotations

from wattle.compare.gate import Gate
from wattle.compare.of_runs import Comparison, Row, changed_settings
from wattle.compare.show import MEANING, WORDS, median
from wattle.compare.verdict import FEWEST_REPEATS, Verdict
from wattle.text import units


def markdown(comparison: Comparison, gate: Gate | None) -> list[str]:
    """The lines. With `gate` its figures come first, each with its limit, and its sentence is the verdict."""
    sides = [cell(run.directory) for run in (comparison.before, comparison.after)]
    n = [len(run.samples) for run in (comparison.before, comparison.after)]
    lines = [f"### Wattle: `{sides[0]}` and `{sides[1]}`", "", f"**{gate.sentence if gate else sentence(comparison)}**"]
    lines += ["", f"| medians of {n[0]} and {n[1]} repeats | before | after | difference | beyond noise? |"]
    lines += ["|---|--:|--:|--:|---|", *(_line(row, limit) for row, limit in _rows(comparison, gate)), "", MEANING]
    careful = [f"careful: {words}" for words in comparison.warnings]
    careful += [
        f"{name}: {b} before, {a} after" for name, b, a in changed_settings(comparison.before, comparison.after)
    ]
    return [*lines, "", *(f"- {cell(words)}" for words in careful)] if careful else lines


def sentence(comparison: Comparison) -> str:
    """The verdict where no limit was given."""
    if min(len(run.samples) for run in (comparison.before, comparison.after)) < FEWEST_REPEATS:
        return f"With fewer than {FEWEST_REPEATS} repeats on a side, no difference can be told from noise."
    found = [row for row in comparison.rows if row.difference.verdict is Verdict.BEYOND]
    if not found:
        return "No difference is beyond noise."
    return f"Beyond noise: {', '.join(f'{row.metric.label} {_change(row)}' for row in found)}."


def _change(row: Row) -> str:
    percent = row.difference.saving_percent
    return "changed" if percent is None else f"{'fell' if percent > 0 else 'rose'} by {units.share(abs(percent) / 100)}"


def _rows(comparison: Comparison, gate: Gate | None) -> list[tuple[Row, str]]:
    """The rows, each with the words of its limit: those of the gate, then the others."""
    judged = gate.judged if gate else []
    limited = [(one.row, f", limit {one.limit_percent:g} %: {one.result}") for one in judged]
    names = {row.metric.name for row, _ in limited}
    return [*limited, *((row, "") for row in comparison.rows if row.metric.name not in names)]


def _line(row: Row, limit: str) -> str:
    known = [side.joules for side in (row.before, row.after) if side.joules is not None]
    of = dict.fromkeys(f"{j.provenance} by {j.source}" if j.known and j.source else str(j.provenance) for j in known)
    label = row.metric.label + (f" ({'; '.join(of)})" if of else "")
    verdict = f"{WORDS[row.difference.verdict]}, {row.difference.why}{limit}"
    middle = [median(row.before), median(row.after), units.percent(row.difference.saving_percent)]
    return "| " + " | ".join(cell(text) for text in (label, *middle, verdict)) + " |"


def cell(text: object) -> str:
    """Text whose characters of Markdown are escaped, so that it stays in its cell."""
    found = " ".join(str(text).split())
    for character in "\\`|<>*_[]":
        found = found.replace(character, f"\\{character}")
    return found
