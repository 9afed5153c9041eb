"""Reads the finished studies of a reproduction: their pages, and their published figures by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.base.checked import Checked, read_json
from wattle.base.errors import WattleError
from wattle.html import page as html_page
from wattle.html.figures import Figure
from wattle.html.page import Page
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.report import study_page
from wattle.reproduce.plan import Step
from wattle.reproduce.state import DONE, FAILED, Result, State
from wattle.study.place import SIMULATED
from wattle.study.published import Verdict
from wattle.text import console

LEGEND_PX = 40  # the height of a legend of two lines
TEXTS = (
    "id",
    "about",
    "source",
    "condition",
    "published",
    "setup",
    "tolerance",
    "ours",
    "verdict",
    "why",
    "provenance",
)


@dataclass(frozen=True)
class Done:
    """A finished study at a place. `rows`: its published figures by id, each with the texts of results.json."""

    step: Step
    folder: Path
    record: Manifest
    page: Page
    results: Checked
    rows: dict[str, dict[str, str]]

    @property
    def simulated(self) -> bool:
        return self.step.kind == SIMULATED

    @property
    def machine(self) -> str:
        """The machine of the figures, in a few words."""
        cluster = self.record.extra.get("simulated") or {}
        if cluster:
            return f"cluster {cluster['cluster']}, network {cluster['network']}"
        return f"{self.record.host.get('cpu') or 'an unknown processor'}, {self.record.host.get('cores') or '?'} cores"

    @property
    def tally(self) -> dict[Verdict, int]:
        return {verdict: sum(row["verdict"] == verdict for row in self.rows.values()) for verdict in Verdict}


@dataclass(frozen=True)
class Study:
    """A study at all its places. `failed`: steps that failed, with results. `missing`: steps that did not run yet."""

    name: str
    done: list[Done]
    failed: list[tuple[Step, Result]] = field(default_factory=list)
    missing: list[Step] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.done[0].page.title if self.done else self.name

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The published figures, each once: its texts, and its results by place (None: it has none there)."""
        first: dict[str, dict[str, str]] = {}
        for found in self.done:
            for key, row in found.rows.items():
                first.setdefault(key, row)
        return [{**row, "at": [found.rows.get(key) for found in self.done]} for key, row in first.items()]

    @property
    def figures(self) -> list[list[Figure]]:
        """The figures, those of the same name at different places together, with ids that are unique on the page."""
        by_id: dict[str, list[Figure]] = {}
        for found in self.done:
            for figure in found.page.figures:
                title = f"{figure.title}, {found.step.on}" if len(self.done) > 1 else figure.title
                named = replace(
                    figure,
                    id=f"{found.step.name}-{figure.id}".replace(".", "_"),
                    title=title,
                    layout={**figure.layout, "showlegend": len(figure.traces) > 1},  # this page has no other legend
                    height=figure.height + LEGEND_PX,
                )
                by_id.setdefault(figure.id, []).append(named)
        return list(by_id.values())


def read(wanted: State, todo: Sequence[Step]) -> list[Study]:
    """The studies in the order of their names. A finished one whose files cannot be read counts as failed."""
    found: dict[str, Study] = {}
    for step in sorted(todo, key=lambda step: (step.study, wanted.on.index(step.on) if step.on in wanted.on else 0)):
        study = found.setdefault(step.study, Study(step.study, []))
        result = wanted.of(step)
        if result is None:
            study.missing.append(step)
        elif result.state != DONE:
            study.failed.append((step, result))
        else:
            try:
                study.done.append(_done(step, wanted.folder(step)))
            except WattleError as error:
                study.failed.append((step, Result(step.study, step.on, FAILED, result.seconds, str(error))))
    return list(found.values())


def _done(step: Step, folder: Path) -> Done:
    record = manifest.read(folder)
    made = study_page.build(folder, record)
    results = read_json(folder / "results.json")
    rows = {entry.text("id"): {key: entry.text(key) for key in TEXTS} for entry in results.items("published")}
    for entry in results.items("published"):
        entry.choice("verdict", tuple(Verdict))
    return Done(step, folder, record, made, results, rows)


def write_reports(studies: Sequence[Study]) -> None:
    """Writes the report of each finished study beside its samples."""
    for found in (done for study in studies for done in study.done):
        try:
            files.write(found.folder / "report.html", html_page.render(found.page))
        except WattleError as error:
            console.error(str(error))
