"""The command `wattle reproduce`."""

from __future__ import annotations

import getpass
import math
import os
import pwd
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from wattle.base import extras
from wattle.base.errors import Interrupted, WattleError
from wattle.machine import paths, stopping
from wattle.reproduce import plan, state
from wattle.reproduce.plan import Step
from wattle.reproduce.state import DONE, FAILED, Result, State
from wattle.run import directory as directories
from wattle.study import hosts as study_hosts
from wattle.study import place
from wattle.study.place import LOCAL, SIMULATED
from wattle.text import console, units
from wattle.text.console import plain, styled
from wattle.text.tables import table

USUAL_ON = f"{LOCAL},{SIMULATED}"


def reproduce(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Directory; one that was begun is continued."),
    ] = None,
    hosts: Annotated[
        str | None, typer.Option("--hosts", metavar="A,B", help="Hosts to run on, in place of this node.")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="PLACE,...", help=f"Places: local, two-nodes, sim:CLUSTER ({USUAL_ON})."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Quick sweeps instead of those of the papers.")] = False,
    only: Annotated[str | None, typer.Option("--only", metavar="STUDY,...", help="Only these studies.")] = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="NAME", help="Author of the data, for its citation (your name).")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the studies with the usual times, and exit.")] = False,
) -> int:
    """Run all studies at the papers' sizes, and write one page and one archive.

    The page has each published figure beside ours, with its verdict, the figures of all places side by side, and the
    papers' guidelines with the thresholds found here. The archive has samples, manifests, results and the description
    of all columns, for citation. Ctrl-C ends it; the same command with -o DIR continues with the studies that are not
    complete.
    """
    extras.require("wattle reproduce", *extras.LAB)
    from wattle.reproduce import archive, page

    known = state.read(output) if output is not None else None
    if known is None:
        wanted = _begin(hosts, on, quick, only, author)
    else:
        _check_same(known, hosts, on, quick, only)
        known.author = author or known.author
        wanted = known
    todo = plan.steps(wanted.studies, wanted.on, wanted.quick)
    _list(wanted, todo)
    if list_:
        return 0
    paths.find_home().tool("oshrun")
    wanted.directory = _directory(output, known is not None)
    wanted.write()
    stop = None
    with stopping.measuring():
        stop = _run_all(wanted, todo)
        made = page.write(wanted, todo)
        kept = archive.write(wanted, todo)
    _say_end(wanted, todo, made, kept)
    if stop is not None:
        left = sum(not _is_done(wanted, step) for step in todo)
        code = stopping.exit_code(stop)
        words = f"{stopping.words(code)}; {left} of {len(todo)} studies left"
        raise Interrupted(f"{words}: `wattle reproduce -o {wanted.directory}` continues", code)
    return 1 if any(r.state == FAILED for r in wanted.results) else 0


def _begin(hosts: str | None, on: str | None, quick: bool, only: str | None, author: str | None) -> State:
    names = plan.studies(only)
    wanted = plan.places(on or USUAL_ON)
    here, remark = place.of_options(LOCAL if on and LOCAL in wanted and hosts is None else None, hosts, LOCAL)
    if hosts is not None:
        study_hosts.given(hosts)
        wanted = [*([] if LOCAL in wanted else [LOCAL]), *wanted]
    if remark:
        console.note(remark)
    return State(Path(), quick, [here if p == LOCAL else p for p in wanted], names, author or _user())


def _user() -> str:
    """The user's full name, or the name of the login."""
    try:
        full = pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0].strip()
        return full or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def _check_same(known: State, hosts: str | None, on: str | None, quick: bool, only: str | None) -> None:
    """Options of a reproduction that continues may be left out. If they are given, they must be those it began with."""
    places_given = None if hosts is None and on is None else _begin(hosts, on, quick, only, known.author).on
    for name, given, kept in (
        ("--hosts or --on", places_given, known.on),
        ("--quick", quick or None, known.quick),
        ("--only", None if only is None else plan.studies(only), known.studies),
    ):
        if given is not None and given != kept:
            said = kept if isinstance(kept, bool) else ",".join(kept)
            raise WattleError(
                f"{known.directory}: was begun with another {name} ({said}); leave the option out to continue, or give "
                "another directory with -o"
            )


def _directory(output: Path | None, continues: bool) -> Path:
    if not continues or output is None:
        return directories.prepare(output, "reproduce")
    return directories.resume(output, directories.WITH_O)


def _is_done(wanted: State, step: Step) -> bool:
    result = wanted.of(step)
    return result is not None and result.state == DONE and (wanted.folder(step) / "results.json").exists()


def _run_all(wanted: State, todo: list[Step]) -> KeyboardInterrupt | None:
    """Runs the steps that are not complete. Returns the interruption that ended them early, if any."""
    from wattle.acceptance import steps, trial

    base = wanted.directory / "studies"
    base.mkdir(exist_ok=True)
    with console.progress("studies", len(todo), estimates=False) as bar:
        for step in todo:
            if _is_done(wanted, step):
                bar.advance(now=step.name)
                continue
            shutil.rmtree(wanted.folder(step), ignore_errors=True)
            bar.advance(0, now=f"{step.name}; {_left(wanted, todo)}")
            command = [sys.executable, "-m", "wattle", "study", *step.options(wanted.quick)]
            named = steps.Step(step.name, "", "", partial(_with_output, command))
            try:
                found = trial.run(named, base, math.inf)
            except KeyboardInterrupt as stop:
                return stop
            good = found.state == "passed"
            wanted.add(Result(step.study, step.on, DONE if good else FAILED, found.seconds, "" if good else found.why))
            bar.advance(now=step.name)
    return None


def _with_output(command: list[str], out: Path) -> list[str]:
    return [*command, "-o", str(out)]


def _left(wanted: State, todo: list[Step]) -> str:
    """The estimate of the remaining time. Later steps are taken to need as much more than usual as the earlier ones."""
    ended = [(step.usual_s, result.seconds) for step in todo if step.usual_s and (result := wanted.of(step))]
    pace = sum(took for _, took in ended) / sum(usual for usual, _ in ended) if ended else 1.0
    return plan.left_in_words([step for step in todo if not _is_done(wanted, step)], pace) + " left"


def _list(wanted: State, todo: list[Step]) -> None:
    shown = table(title="Quick sweeps" if wanted.quick else "Sweeps of the papers' sizes")
    for head in ("study", "place", "usual time", "known how", ""):
        shown.add_column(head, justify="right" if head == "usual time" else "left", overflow="fold")
    for step in todo:
        done = _is_done(wanted, step)
        usual = units.UNKNOWN if step.usual_s is None else plan.time_in_words(step.usual_s)
        shown.add_row(step.study, step.on, usual, step.origin, plain("complete", "good") if done else "")
    console.err.print(shown)
    left = [step for step in todo if not _is_done(wanted, step)]
    if not left:
        console.err.print("All of them are complete.")
        return
    words = plan.left_in_words(left)
    console.err.print(
        f"{words[0].upper()}{words[1:]}, on two cores that other work keeps busy. The estimate follows the pace as "
        "studies end."
    )


def _say_end(wanted: State, todo: list[Step], made: Path, kept: Path) -> None:
    for result in wanted.results:
        if result.state == FAILED:
            console.err.print(styled("[bad]{} on {}[/bad]: {}", result.study, result.on, result.why), soft_wrap=True)
    done = sum(_is_done(wanted, step) for step in todo)
    console.out.print(f"{done} of {len(todo)} studies complete", soft_wrap=True)
    console.out.print(f"The page: {made}", soft_wrap=True)
    console.out.print(f"The data, for citation: {kept}", soft_wrap=True)
