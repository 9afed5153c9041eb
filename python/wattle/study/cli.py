"""`wattle study NAME`: runs a study, keeps every sample, and compares the results with the published figures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import typer

from wattle.study import registry
from wattle.text import console

study_app = typer.Typer(
    help="Run a study of the papers here, and compare the results with the published figures.",
    no_args_is_help=True,
)


@study_app.callback()
def studies() -> None:
    """The group of commands, one for each study."""


def placed(command: Callable[..., None]) -> Callable[..., None]:
    """The command of a study with the option `--hosts`, which gives the study's `on` the form `hosts:A,B`. Without
    `--on` and `--hosts`, the place is where the launcher would start PEs.
    """
    from wattle.study import place
    from wattle.study.options import Hosts

    signature = inspect.signature(command, eval_str=True)
    usual = signature.parameters["on"].default

    @functools.wraps(command)
    def run(*, context: typer.Context, hosts: str | None = None, **options: Any) -> None:
        source = context.get_parameter_source("on")
        said = None if source is None or source.name == "DEFAULT" else options["on"]
        options["on"], remark = place.of_options(said, hosts, usual)
        if remark:
            console.note(remark)
        command(**options)

    keyword = inspect.Parameter.KEYWORD_ONLY
    option = inspect.Parameter("hosts", keyword, default=None, annotation=Hosts)
    context = inspect.Parameter("context", keyword, annotation=typer.Context)
    by_name = [p.replace(kind=keyword) for p in signature.parameters.values()]
    at = 1 + next(k for k, p in enumerate(by_name) if p.name == "on")
    run.__signature__ = signature.replace(parameters=[context, *by_name[:at], option, *by_name[at:]])  # type: ignore[attr-defined]
    return run


def choose(asked: str | None) -> None:
    """Adds the command of one study, or those of all where `asked` is None. Where it is no study, all are added for the
    list of `--help`, by name only, because the packages of studies take most of a second to import.
    """
    known = registry.commands()
    study_app.registered_commands.clear()
    for name in [asked] if asked in known else known:
        add = study_app.command(name, help=registry.words(name))
        add(_listed if asked not in (None, name) else whole(name))


def whole(name: str) -> Callable[..., None]:
    """The command of a study with all its options."""
    from wattle.study import measuring

    return placed(measuring.with_options(registry.command(name)))


def _listed() -> None:
    """Takes the place of a study in the list of `--help`."""
