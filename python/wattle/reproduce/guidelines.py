"""The papers' guidelines, with the figures that the studies of a reproduction give for each."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from wattle.reproduce.gathered import Study

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Rule:
    """A guideline. `rows`: study, id and label of the published figures that show it. `found`: for each place with
    results, the figures there in words.
    """

    source: str
    rule: str
    apply: str
    rows: tuple[tuple[str, str, str], ...]
    found: list[tuple[str, str]] = field(default_factory=list)


@cache
def rules() -> tuple[Rule, ...]:
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["rule"]
    return tuple(
        Rule(e["source"], e["rule"], e["apply"], tuple((s, row, label) for s, row, label in e["rows"])) for e in entries
    )


def found(studies: Sequence[Study]) -> list[Rule]:
    """The rules with the figures of these studies. A figure that cannot be tested at a place is left out there."""
    return [Rule(r.source, r.rule, r.apply, r.rows, _by_place(r, studies)) for r in rules()]


def _by_place(rule: Rule, studies: Sequence[Study]) -> list[tuple[str, str]]:
    by_place: dict[str, list[str]] = {}
    for name, key, label in rule.rows:
        for done in (done for study in studies if study.name == name for done in study.done):
            row = done.rows.get(key)
            if row is not None and row["ours"] not in ("", "-"):
                mark = "" if row["provenance"] == "measured" else f" ({row['provenance']})"
                by_place.setdefault(done.step.on, []).append(f"{label}: {row['ours']}{mark}")
    return [(place, "; ".join(words)) for place, words in by_place.items()]
