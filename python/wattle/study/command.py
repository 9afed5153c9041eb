"""`wattle study NAME`: the options of a study, its run in a new directory, and its output."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from wattle.machine import info, stopping
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.run import directory as directories
from wattle.sim import cluster as clusters
from wattle.study import kept, measuring, options, place, published, samples
from wattle.study.engine import Study
from wattle.study.published import Row, Verdict
from wattle.text import console
from wattle.text.console import plain, styled
from wattle.text.tables import table


def of(study: Study[Any]) -> Callable[..., None]:
    """The command of a study: its function, whose signature has the options."""

    def run(
        *,
        context: typer.Context,
        quick: bool,
        output: Path | None,
        on: str,
        hosts: str | None,
        link: str | None,
        as_json: bool,
        shield: str | None,
        meter_log: Path | None,
        meter_set: list[str] | None,
        **own: Any,
    ) -> None:
        source = context.get_parameter_source("on")
        said = None if source is None or source.name == "DEFAULT" else on
        on, remark = place.of_options(said, hosts, place.LOCAL)
        if remark:
            console.note(remark)
        with measuring.asking(on, quick, not own.get("program"), shield, meter_log, meter_set):
            info.check_machine(info.ask())
            made, plan = study.asked(on, link, quick, **own)
            _conduct(made, plan, output, as_json)

    keyword = inspect.Parameter.KEYWORD_ONLY
    own = dict(study.options)
    first: dict[str, Any] = {name: own.pop(name) for name in ("program", "quick") if name in own}
    usual = {"quick": False, "on": place.LOCAL, "as_json": False}
    kinds = {"context": typer.Context, **first, **options.BEFORE, **own, **options.AFTER}
    parameters = [
        inspect.Parameter(name, keyword, annotation=kind)
        if name == "context"
        else inspect.Parameter(name, keyword, annotation=kind, default=usual.get(name))
        for name, kind in kinds.items()
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _conduct(study: Study[Any], plan: Any, output: Path | None, as_json: bool) -> None:
    """Runs the study in a new directory, reads it back, and prints its results, or shows them."""
    directory = directories.prepare(output, f"study-{study.name}")
    words = ["wattle", *sys.argv[1:]]

    def run(where: Path) -> Manifest:
        if not as_json and (remark := study.remark(plan)):
            console.note(remark)
        return study.run(study.work(plan), where, words)

    with stopping.measuring(), measuring.around(directory) as facts:
        if measuring.varies_network(study.name):
            facts["networks"] = {"words": _at_both_ends(directory, run)}
        record = run(directory)
    if facts:
        record.extra |= facts
        manifest.write(directory, record)
    found = study.load(directory, record)
    if "external" in facts:
        kept.write_results(directory / kept.RESULTS, study.results(found))
    if as_json:
        print_results(directory, record, study.results(found))
        return
    console.out.print()
    show_results(study, record, found)
    for key in ("shield", "external", "networks"):
        if words := record.extra.get(key, {}).get("words"):
            console.out.print(plain(words), soft_wrap=True)
    say_where(directory)


def show_results(study: Study[Any], record: Manifest, found: Any) -> None:
    """Prints the summary, the study's tables and remarks, and the tally where it is wanted."""
    rows = study.judge(found)
    console.out.print(study.summary(found, rows, study.judge_bars(found), record, on_page=False))
    for title, heads, lines in study.tables(found):
        shown = table(title=title)
        numbered = all(line[0].isdigit() for line in lines)
        for k, head in enumerate(heads):
            over, _, under = head.partition("\n")
            text = styled("{}\n{}", over, under) if under else plain(over)
            shown.add_column(text, justify="right" if k or numbered else "left", overflow="fold")
        for line in lines:
            shown.add_row(*line)
        console.out.print()
        console.out.print(shown)
    for words in study.remarks(found):
        console.out.print(words, soft_wrap=True)
    if found.place.across:
        console.out.print(styled("\n[faint]{}[/faint]", found.place.sentence))
    console.out.print()
    if study.tells_tally:
        _say_tally(rows)


def _at_both_ends(directory: Path, run: Callable[[Path], Manifest]) -> str:
    """Simulates the study with the times of network and core at either end of their half-widths, in folders of their
    own, before the study itself. Returns a sentence about it.
    """
    for end in clusters.ENDS:
        console.note(f"times of network and core at the {end} end of their half-widths")
        where = directory / f"{samples.NETWORK}{end}"
        where.mkdir()
        with clusters.times_at(end):
            run(where)
    return "Verdicts hold for times of network and core at both ends of their half-widths, or are not testable."


def print_results(directory: Path, record: Manifest, found: dict[str, Any]) -> None:
    """Prints the document of `--json` for a study that has just ended. `found`: its results.json."""
    console.print_json({"directory": str(directory), "manifest": record.as_dict(), **found})


def _say_tally(rows: Sequence[Row]) -> None:
    """Prints the tally of the published figures."""
    counts = plain("")
    for said, count in published.counted(published.tally(rows)).items():
        words = plain(f"{count} {said}", published.WORDS[Verdict(said)][2])
        counts = styled("{}, {}", counts, words) if counts.plain else words
    console.out.print(
        styled("{} published figures: {}. The report shows each with our figure and the reasons.", len(rows), counts)
    )


def say_where(directory: Path) -> None:
    """Prints the last lines of every study: its directory, and the command for its report."""
    console.out.print(f"Kept in {directory}", soft_wrap=True)
    console.out.print(f"The report: wattle report {directory}", soft_wrap=True)
