"""`wattle study race`: the study itself, or a user's program at each clock."""

from __future__ import annotations

from typing import Annotated

import typer

from wattle.base.errors import WattleError
from wattle.study.options import AsJson, Link, On, Output, Quick, Rounds
from wattle.study.place import LOCAL, check_place
from wattle.study.race import own
from wattle.study.race.study import STUDY
from wattle.study.sweep.command import plan_of, study

MOST_PES = 100_000


def command(
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROGRAM", help="A program of your own and its arguments, after --: it runs at each clock."
        ),
    ] = None,
    quick: Quick = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    n: Annotated[int | None, typer.Option("-n", "--np", metavar="N", help="PEs of your own program (2).")] = None,
    rounds: Rounds = None,
    as_json: AsJson = False,
) -> None:
    """The command with the options of its own."""
    if not program:
        if n is not None:
            raise WattleError(f"-n {n}: is for a program of your own, as in `wattle study race -n 4 -- ./app`")
        study(STUDY, plan_of(quick, rounds, check_place(on, link, simulates=True)), output, as_json)
        return
    if n is not None and not 1 <= n <= MOST_PES:
        raise WattleError(f"-n {n}: allowed are 1 to {MOST_PES}")
    own.check_program(program[0])
    plan = plan_of(quick, rounds, check_place(on, link, simulates=True))
    own.check_clocks(plan)
    study(own.sweep_of(program, 2 if n is None else n), plan, output, as_json)
