"""The command `wattle`: runs programs and studies and shows where their time and joules went."""

from __future__ import annotations

import copy
import gc
import importlib
import re
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from wattle import __version__
from wattle.base import extras
from wattle.base.errors import Interrupted, WattleError
from wattle.machine import command_end, stopping
from wattle.text import console

# The commands with the first sentence of their help, so that `wattle --help` need not import them.
COMMANDS = {
    "doctor": "List what can be measured and controlled on this machine, and how to get the rest.",
    "calibrate": "Measure what ways of waiting cost on this machine, and keep the result for later programs.",
    "run": "Run a program and show where its time and joules went.",
    "collect": "Complete the manifest of a run that another launcher started, and show its figures.",
    "energy": "Run any program and show the joules of its process tree.",
    "top": "Show where each PE of this node waits now, how it spends its time and joules, and in which call sites.",
    "study": "Run a study of the papers here, and compare the results with the published figures.",
    "compare": "Compare two runs or two studies: time, CPU seconds, waiting, joules.",
    "history": "Show the time and joules of runs by commit, host and date.",
    "report": "Write one HTML file with interactive figures, tables, provenance and manifest. It needs no network.",
    "scale": "Show time, joules, EDP and efficiency over the number of processes, and how many to use.",
    "export": "Write a run in the format of other tools.",
    "advise": "Name the lines that cost more than they must, the change, and the time and joules that it saves.",
    "plan": "Compute a clock for each PE at which it still arrives in time, from its waiting in a run.",
    "sim": "Run a program on a simulated cluster with any number of PEs, clocks and joules.",
    "external": "Read the log of an external power meter into a run or study that has ended.",
    "reproduce": "Run all studies at the papers' sizes, and write one page and one archive.",
    "machines": "List the CPUs whose watts are known, show one, or predict the watts of a machine.",
    "acceptance": "Test everything on this machine, and write all results into one file.",
}
GROUPS = ("study", "machines")  # commands that have commands of their own

# An option's type in messages, by the names of Typer and, from Typer 0.29 on, of pydantic.
KINDS = {"int": "a whole number", "integer": "a whole number", "float": "a number", "number": "a number"}
VALUES = {"int": "NUMBER", "float": "NUMBER", "str": "TEXT", "path": "PATH"}  # an option's value in the help
HELP = {"help_option_names": ["-h", "--help"]}


class _Whole(typer.core.TyperGroup):
    """Ends a command on a signal with a message and the exit code of that signal, which Typer alone does not."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            code = stopping.exit_code(stop)
            raise Interrupted(stopping.words(code), code) from None


app = typer.Typer(
    cls=_Whole,
    help="Run OpenSHMEM and MPI programs and studies, and show where their time and joules went.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.out.print(f"wattle {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of `wattle` itself."""


@app.command()
def version(
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Print the versions of the lab and of the runtime that it uses."""
    from wattle.machine import info, paths
    from wattle.record import manifest

    found: dict[str, Any] = {**manifest.versions(), "runtime": None, "pmix": None, "home": None}
    try:
        answer = info.ask()
        found |= {"runtime": answer.version, "pmix": answer.pmix, "home": str(paths.find_home().root)}
    except WattleError as error:
        if not json:
            console.note(str(error))
    if json:
        console.print_json(found)
        return
    for name, value in found.items():
        console.out.print(f"{name:10} {value or '-'}", soft_wrap=True)


def _add_commands(arguments: list[str]) -> None:
    """Adds the requested command from its own package. Others are not imported, so that no command waits for the
    libraries of another one. Where none was requested, all are added for the list of `--help`, by name only.
    """
    asked = arguments[0] if arguments else None
    if asked in COMMANDS:
        _add((asked,), next((word for word in arguments[1:] if not word.startswith("-")), ""))
    elif asked != "version":
        _begin_list()
        for name, words in COMMANDS.items():
            app.command(name, help=words)(_only_listed)


def whole() -> Any:
    """The command with all its commands, as for the pages of the documentation."""
    _add(COMMANDS)
    return _command()


def _begin_list() -> None:
    """Removes the commands that were added before."""
    app.registered_groups.clear()
    app.registered_commands[:] = [known for known in app.registered_commands if known.callback is version]


def _add(names: Iterable[str], part: str | None = None) -> None:
    """Adds commands. `part` is the requested study of `study`; None: all."""
    _begin_list()
    for name in names:
        loaded = importlib.import_module(f"wattle.{name}.cli")
        if name == "study":
            loaded.choose(part)
        if name in GROUPS:
            app.add_typer(getattr(loaded, f"{name}_app"), name=name)
        else:
            # The arguments after the first plain word of `run`, `energy` and `sim` belong to the program.
            settings = {"allow_interspersed_args": False} if name in ("run", "sim", "energy") else None
            app.command(name, context_settings=settings)(getattr(loaded, name))


def _only_listed() -> None:
    """Takes the place of a command in the list of `--help`."""


def _command() -> Any:
    """The whole command, with three changes to its help: options without a value show no value column, other values
    and arguments have plain names, and paragraphs wrap at the width of the terminal only. An empty path is an error;
    Python would take it for the working directory.
    """
    whole = typer.main.get_command(app)
    commands = [whole]
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        command.help = re.sub(r"(?<=\S)\n(?=\S)", " ", command.help or "")
        context = command.context_class(command, **{**HELP, **command.context_settings})
        for parameter in command.get_params(context):
            if getattr(getattr(parameter, "type", None), "name", None) == "path":
                parameter.type = _of_paths(parameter.type)
            if getattr(parameter, "is_bool_flag", False):
                parameter.metavar = ""
            elif isinstance(parameter, typer.core.TyperArgument):
                _name_argument(parameter)
            elif parameter.metavar is None and hasattr(parameter, "type"):
                parameter.metavar = VALUES.get(parameter.type.name)
    return whole


def _of_paths(kind: Any) -> Any:
    """The type of an option or argument, without the empty path."""

    def convert(value: Any, parameter: Any, context: Any) -> Any:
        if not value:
            raise typer.BadParameter("the path is empty", context, parameter)
        return kind.convert(value, parameter, context)

    made = copy.copy(kind)
    made.convert = convert
    return made


def _name_argument(argument: Any) -> None:
    """Shows an argument as `PROGRAM [ARGUMENT]...`, `DIRECTORY` or `[PID]`, without the name of a type."""
    name = argument.metavar or argument.name.upper()
    usage = f"{name} [ARGUMENT]..." if argument.nargs == -1 else name if argument.required else f"[{name}]"
    argument.metavar = name
    argument.make_metavar = lambda ctx, usage=False, short=name, whole=usage: whole if usage else short
    if hasattr(argument, "type"):
        argument.type = copy.copy(argument.type)
        argument.type.get_metavar = lambda **_: ""


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Each failure ends in one line on standard error and an exit code, never in a traceback."""
    sys.exit(_guarded(sys.argv[1:] if arguments is None else arguments))


def _guarded(arguments: list[str]) -> int:
    return command_end.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> Any:
    try:
        with extras.named(arguments):
            _add_commands(arguments)
            whole = _command()
            gc.enable()
            command_end.begin_afresh()
            return whole(args=arguments, prog_name="wattle", standalone_mode=False)
    except typer.TyperException as error:
        return _usage(error)
    except typer.Abort:
        raise KeyboardInterrupt from None


def _usage(error: Any) -> int:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if not message:  # without arguments the help has been shown already
        return WattleError.exit_code
    where = f"; see `{context.command_path} --help`" if context is not None else ""
    return command_end.end(_plain_words(message).rstrip(".") + where, WattleError.exit_code)


def _plain_words(message: str) -> str:
    """A message such as `-n: expected a whole number`, instead of the argument parser's text about its types."""
    wrong = r"(?:.* is not a valid|Input should be a valid|Unable to parse input string as an) (\w+)"
    found = re.match(f"Invalid value for (.+?): {wrong}", message, re.DOTALL)
    if not found or found[2] not in KINDS:
        return message
    return f"{found[1].replace(chr(39), '')}: expected {KINDS[found[2]]}"
