"""The one page of a reproduction: verdicts, each published figure beside ours, figures of all places, guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from wattle.base import files
from wattle.html import page as html_page
from wattle.html.page import Page
from wattle.record import manifest
from wattle.reproduce import gathered, guidelines, plan
from wattle.reproduce.gathered import Study
from wattle.reproduce.plan import Step
from wattle.reproduce.state import State
from wattle.study.published import Verdict
from wattle.text import units
from wattle.text.visible import visible

FILE = "reproduction.html"
# Checks can fail. The others are no evidence for a published figure.
COLUMNS = (
    (Verdict.AGREES, "agree"),
    (Verdict.DIFFERS, "differ"),
    (Verdict.FIT, "fit"),
    (Verdict.CONSTRUCTION, "by construction"),
    (Verdict.NOT_TESTABLE, "not testable"),
)


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
            "lines": [_line(wanted, study) for study in studies],
            "heads": [words for _, words in COLUMNS],
            "sums": _sums(studies),
            "classes": {verdict.value: verdict.name.lower().replace("_", "-") for verdict in Verdict},
            "signs": {"agrees": "✓", "differs": "≠", "fit": "=", "by construction": "="},
            "guidelines": guidelines.found(studies),
            "code": _code,
        },
    )


def _code(text: str) -> Markup:
    """The text with what is between backquotes as code."""
    parts = [escape(visible(part)) for part in text.split("`")]
    return Markup("").join(Markup("<code>{}</code>").format(part) if k % 2 else part for k, part in enumerate(parts))


def _sums(studies: Sequence[Study]) -> list[int]:
    return [sum(found.tally[verdict] for study in studies for found in study.done) for verdict, _ in COLUMNS]


def _line(wanted: State, study: Study) -> dict[str, Any]:
    """The lines of the table of verdicts for one study: a cell a place."""
    places: list[dict[str, Any]] = []
    for found in study.done:
        result = wanted.of(found.step)
        places.append(
            {
                "on": found.step.on,
                "counts": [found.tally[verdict] for verdict, _ in COLUMNS],
                "took": units.seconds(result.seconds) if result else "",
                "href": f"studies/{found.step.name}/report.html",
                "why": "",
            }
        )
    for step, result in study.failed:
        places.append(
            {"on": step.on, "counts": None, "took": units.seconds(result.seconds), "href": "", "why": result.why}
        )
    for step in study.missing:
        why = "has not run yet"
        if step.usual_s is not None:
            why += f"; it usually takes {plan.time_in_words(step.usual_s)} ({step.origin})"
        places.append({"on": step.on, "counts": None, "took": "", "href": "", "why": why})
    return {"name": study.name, "linked": bool(study.done), "places": places}


def _summary(wanted: State, studies: Sequence[Study]) -> str:
    done = [found for study in studies for found in study.done]
    total = sum(len(found.rows) for found in done)
    agree, differ, fit, made, not_testable = _sums(studies)
    missing = [study for study in studies if study.failed or study.missing]
    words = (
        f"{len(done)} runs of {len({found.step.study for found in done})} studies judged {total} published figures. Of "
        f"the checks, {agree} agree and {differ} differ. {fit} figures are fits and {made} follow by construction from "
        f"the model; both are no evidence. {not_testable} cannot be tested at their place."
    )
    if missing:
        words += f" Studies that are not complete: {', '.join(study.name for study in missing)}."
    if wanted.quick:
        words += " Quick sweeps have fewer points and repeats than the papers."
    return words
