"""`wattle study NAME`: runs a study, keeps every sample, and compares the results with the published figures."""

from __future__ import annotations

import typer

from wattle.study import registry

study_app = typer.Typer(
    help="Run a study of the papers here, and compare the results with the published figures.",
    no_args_is_help=True,
)


@study_app.callback()
def studies() -> None:
    """The group of commands, one for each study."""


def choose(asked: str | None) -> None:
    """Adds the command of one study, or those of all where `asked` is None. Where it is no study, all are added for the
    list of `--help`, by name only, because the packages of studies take most of a second to import.
    """
    known = registry.commands()
    study_app.registered_commands.clear()
    for name in [asked] if asked in known else known:
        add = study_app.command(name, help=registry.words(name))
        add(_listed if asked not in (None, name) else registry.command(name))


def _listed() -> None:
    """Takes the place of a study in the list of `--help`."""
