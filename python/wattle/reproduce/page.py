"""The one page of a reproduction: verdicts, each published figure beside ours, figures of all places, guidelines."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from wattle.base import files
from wattle.html import page as html_page
from wattle.html.page import Page
from wattle.record import manifest
from wattle.reproduce import gathered, guidelines, plan
from wattle.reproduce.gathered import Done, Study
from wattle.reproduce.plan import Step
from wattle.reproduce.state import State
from wattle.study import published
from wattle.study.published import JUDGED, Verdict
from wattle.text.visible import visible

FILE = "reproduction.html"
REST = tuple(verdict for verdict in Verdict if verdict not in JUDGED)  # say nothing for or against a published figure
CHAPTER = re.compile(r"[DP] (\d+|[IVX]+)")


def write(wanted: State, todo: Sequence[Step]) -> Path:
    """Writes the page, and the report of each finished study. Returns the page's path."""
    studies = gathered.read(wanted, todo)
    gathered.write_reports(studies)
    path = wanted.directory / FILE
    files.write(path, html_page.render(build(wanted, studies)))
    return path


def build(wanted: State, studies: Sequence[Study]) -> Page:
    record = manifest.start("study", ["wattle", "reproduce", "-o", str(wanted.directory)], 0)
    record.started, record.host, record.versions = wanted.started, wanted.host, wanted.versions
    record.extra = {"reproduction": wanted.as_dict()}
    with_results = [study for study in studies if study.done]
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title="The published figures, reproduced",
        subtitle="Every study of the papers at the places chosen, quick sweeps."
        if wanted.quick
        else "Every study of the papers at the places chosen, at the papers' sizes.",
        summary=_summary(wanted, studies),
        record=record,
        nav=[
            ("summary", "Summary"),
            ("verdicts", "Verdicts"),
            *((f"study-{study.name}", study.name) for study in with_results),
            ("guidelines", "Guidelines"),
            ("manifest", "Manifest"),
        ],
        figures=[figure for study in studies for group in study.figures for figure in group],
        content={
            "cards": (),
            "studies": with_results,
            "rows_of_tiles": [(head, places) for head in (REAL, SIMULATED) if (places := _places(with_results, head))],
            "left": [line for study in studies for line in _left(study)],
            "signs": published.signs(),
            "judged": JUDGED,
            "rest": REST,
            "guidelines": guidelines.found(studies),
            "code": _code,
        },
    )


REAL, SIMULATED = "On real machines", "Simulated"


def _places(studies: Sequence[Study], head: str) -> list[dict[str, Any]]:
    """The real or the simulated places, each with its machine and with a tile for each study, by chapter."""
    by_place: dict[str, list[Done]] = {}
    for found in (found for study in studies for found in study.done if found.simulated == (head == SIMULATED)):
        by_place.setdefault(found.step.on, []).append(found)
    return [
        {"on": on, "machine": done[0].machine, "tiles": sorted(map(_tile, done), key=lambda tile: tile["order"])}
        for on, done in by_place.items()
    ]


def _tile(found: Done) -> dict[str, Any]:
    """The verdicts of a study at a place. Its chapter is that of most of its rows."""
    chapters = [match[0] for row in found.rows.values() if (match := CHAPTER.match(row["source"]))]
    chapter = statistics.mode(chapters) if chapters else ""
    paper, _, number = chapter.partition(" ")
    return {
        "chapter": chapter,
        "order": (paper, number.zfill(3), found.step.study),
        "study": found.step.study,
        "tally": found.tally,
        "rest": sum(found.tally[verdict] for verdict in REST),
    }


def _left(study: Study) -> list[tuple[str, str]]:
    """The places at which the study is not complete, with the reasons."""
    found = [(f"{study.name} on {step.on}", result.why) for step, result in study.failed]
    for step in study.missing:
        usual = "" if step.usual_s is None else f"; it usually takes {plan.time_in_words(step.usual_s)} ({step.origin})"
        found.append((f"{study.name} on {step.on}", f"has not run yet{usual}"))
    return found


def _code(text: str) -> Markup:
    """The text with what is between backquotes as code."""
    parts = [escape(visible(part)) for part in text.split("`")]
    return Markup("").join(Markup("<code>{}</code>").format(part) if k % 2 else part for k, part in enumerate(parts))


def _summary(wanted: State, studies: Sequence[Study]) -> str:
    done = [found for study in studies for found in study.done]
    words = [
        f"{head}: {published.sentence_of(tally)}"
        for head, simulated in ((REAL, False), (SIMULATED, True))
        if (tally := sum((Counter(found.tally) for found in done if found.simulated == simulated), Counter()))
    ]
    if missing := [study.name for study in studies if study.failed or study.missing]:
        words.append(f"Studies that are not complete: {', '.join(missing)}.")
    if wanted.quick:
        words.append("Quick sweeps have fewer points and repeats than the papers.")
    return " ".join(words)
