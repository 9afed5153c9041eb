"""The common part of all study commands: a new directory, the run of the study, and its output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from wattle.machine import stopping
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.run import directory as directories
from wattle.sim import cluster as clusters
from wattle.study import kept, measuring, published, samples
from wattle.study.course import Work
from wattle.study.engine import Study
from wattle.study.published import Evidence, Row, Verdict
from wattle.text import console
from wattle.text.console import plain, styled

STYLES = {
    Verdict.AGREES: "good",
    Verdict.DIFFERS: "partly",
    Verdict.FIT: "faint",
    Verdict.CONSTRUCTION: "faint",
    Verdict.NOT_TESTABLE: "faint",
}
Found = TypeVar("Found", bound=Evidence)


def conduct(
    study: Study[Found],
    work: Callable[[], Work],
    show: Callable[[Found], None],
    output: Path | None,
    as_json: bool,
    tells_tally: bool = False,
) -> None:
    """Runs the study in a new directory, reads it back, and prints its results, or shows them: the summary, what `show`
    prints and, with `tells_tally`, how many of the published figures agree. `work`: makes the jobs.
    """
    directory = directories.prepare(output, f"study-{study.name}")
    words = ["wattle", *sys.argv[1:]]
    with stopping.measuring(), measuring.around(directory) as facts:
        if measuring.varies_network(study.name):
            facts["networks"] = {"words": _at_both_ends(directory, lambda where: study.run(work(), where, words))}
        record = study.run(work(), directory, words)
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
    show_results(study, record, found, show, tells_tally)
    for key in ("shield", "external", "networks"):
        if words := record.extra.get(key, {}).get("words"):
            console.out.print(plain(words), soft_wrap=True)
    say_where(directory)


def show_results(
    study: Study[Found], record: Manifest, found: Found, show: Callable[[Found], None], tells_tally: bool
) -> None:
    """Prints the summary, what `show` prints, and the tally where it is wanted."""
    rows = study.judge(found)
    console.out.print(study.summary(found, rows, study.judge_bars(found), record, on_page=False))
    console.out.print()
    show(found)
    console.out.print()
    if tells_tally:
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


def say_place(found: Evidence) -> None:
    """Prints the place of a study on several nodes."""
    if found.place.across:
        console.out.print(styled("\n[faint]{}[/faint]", found.place.sentence))


def print_results(directory: Path, record: Manifest, found: dict[str, Any]) -> None:
    """Prints the document of `--json` for a study that has just ended. `found`: its results.json."""
    console.print_json({"directory": str(directory), "manifest": record.as_dict(), **found})


def _say_tally(rows: Sequence[Row]) -> None:
    """Prints how many of the published figures agree."""
    counts = plain("")
    styles = {published.PLURAL[verdict]: style for verdict, style in STYLES.items()}
    for said, count in published.counted(rows).items():
        words = plain(f"{count} {said}", styles[said])
        counts = styled("{}, {}", counts, words) if counts.plain else words
    console.out.print(
        styled("{} published figures: {}. The report shows each with our figure and the reasons.", len(rows), counts)
    )


def say_where(directory: Path) -> None:
    """Prints the last lines of every study: its directory, and the command for its report."""
    console.out.print(f"Kept in {directory}", soft_wrap=True)
    console.out.print(f"The report: wattle report {directory}", soft_wrap=True)
