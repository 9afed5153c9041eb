"""The command `wattle compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.base.errors import WattleError
from wattle.compare import gate as gates
from wattle.compare import of_runs
from wattle.compare.gate import Gate
from wattle.compare.show import show_gate, show_runs
from wattle.record import manifest, runs
from wattle.text import console


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Directory of a run or study, or folder of runs.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another one of the same kind.")],
    fail_above: Annotated[
        str | None,
        typer.Option(
            metavar="LIMITS",
            help="Exit code 1 where a figure rose by more than its limit and than noise: time=3%,joules=5%.",
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="WHAT", help="Of runs: `region` compares the regions that the programs mark.")
    ] = "run",
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Markdown, for a pull request.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Compare two runs or two studies: time, CPU seconds, waiting, joules.

    A folder with several runs of one program counts as one run with all their repeats.

    Names of --fail-above are time, cpu, joules, and those of the rows of the table and of --json, as in
    'solve > halo: time=3%'. It needs four repeats on each side. A figure that is not known never passes: the exit code
    is 2 where joules are unavailable or a program failed. Joules are compared only with joules of the same source:
    measured with measured by that sensor, modelled with modelled by that machine profile.
    """
    if as_markdown and json:
        raise WattleError("--markdown and --json: expected one of them")
    if by not in of_runs.BY:
        raise WattleError(f"--by {by}: expected one of {', '.join(of_runs.BY)}")
    limits = gates.limits(fail_above) if fail_above is not None else {}
    if of_runs.same_kind(_kind(before), _kind(after)) == "study":
        if fail_above is not None or as_markdown or by != "run":
            raise WattleError(f"{before}: --fail-above, --markdown and --by are for runs, and this is a study")
        _compare_studies(before, after, json)
        return
    comparison = of_runs.compare(before, after, by)
    gate = gates.judge(comparison, limits) if limits else None
    if json:
        console.print_json(comparison.as_dict() | ({"gate": gate.as_dict()} if gate else {}))
    elif as_markdown:
        from wattle.compare.markdown import markdown

        console.print_lines(markdown(comparison, gate))
    else:
        show_runs(comparison, console.out)
        if gate:
            show_gate(gate, console.out)
    _end(gate)


def _kind(directory: Path) -> str:
    """`run` or `study`. A folder without a manifest can only hold runs."""
    is_folder = directory.is_dir() and not (directory / manifest.FILE).exists()
    return "run" if is_folder or runs.is_bare(directory) else manifest.read(directory).kind


def _compare_studies(before: Path, after: Path, json: bool) -> None:
    from wattle.compare import of_studies  # imported late, because it needs the extra `lab`
    from wattle.compare.show_studies import show_studies

    comparison = of_studies.compare(before, after)
    console.print_json(comparison.as_dict()) if json else show_studies(comparison, console.out)


def _end(gate: Gate | None) -> None:
    """Ends the command with the code of its limits, with one line on standard error where one did not hold."""
    if gate is not None and gate.exit_code:
        console.error(f"--fail-above: {gate.sentence}")
        raise typer.Exit(gate.exit_code)
