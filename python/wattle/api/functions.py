"""The functions of `import wattle`. The commands of the same names use the same readers and computations."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from wattle.api.guest import guest
from wattle.api.run import Run
from wattle.base.errors import WattleError
from wattle.record import manifest, runs

if TYPE_CHECKING:
    import polars as pl

    from wattle.api.bench import Bench
    from wattle.api.study import Study
    from wattle.energy.region import Energy

Place = str | os.PathLike[str]
F = TypeVar("F", bound=Callable[..., Any])


def open(path: Place, *, allow_damaged: bool = False) -> Run | Study | Bench:
    """Opens what a command left: the directory of a run or study, or the file of `make bench`.

    Only the manifest is read. Each table is read when it is first used, and kept.

    Args:
        path: the directory of `wattle run`, of `wattle study` or of WATTLE_PROFILE_DIR, or a file `bench.json`.
        allow_damaged: of a run, leave out profiles that cannot be read.

    Returns:
        A `Run`, `Study` or `Bench`, by the kind of `path`.

    Raises:
        WattleError: `path` does not exist, or no command wrote it.
        DamagedFile: its manifest has contents that the format does not allow.
    """
    place = Path(path)
    if place.is_file():
        from wattle.api.bench import Bench

        return Bench(place)
    if runs.is_bare(place):
        return Run(place, None, allow_damaged)
    record = manifest.read(place)
    if record.kind == "run":
        return Run(place, record, allow_damaged)
    from wattle.api.study import Study

    return Study(place, record)


def compare(before: Run | Place, after: Run | Place, *, by: str = "run") -> pl.DataFrame:
    """Compares two runs as `wattle compare` does.

    Args:
        before: a run, or the directory of one, or a folder with several runs of one program.
        after: another one.
        by: `run`, or `region` for the figures of each region that the programs mark.

    Returns:
        The table `comparison`, with a row for each figure.

    Raises:
        WattleError: a run cannot be read, or has no figure in common with the other.
    """
    from wattle.api.tables import of_comparison
    from wattle.compare import of_runs

    if by not in of_runs.BY:
        raise WattleError(f"by={by!r}: expected one of {', '.join(of_runs.BY)}")
    with guest():
        return of_comparison(of_runs.compare(_directory(before), _directory(after), by))


def advise(run: Run | Place) -> pl.DataFrame:
    """The findings of `wattle advise` on a run; the same as `run.findings`.

    Raises:
        WattleError: the run cannot be read, or has no profile.
    """
    found = run if isinstance(run, Run) else open(run)
    if not isinstance(found, Run):
        raise WattleError(f"{found.directory}: is no run; give a directory of `wattle run`")
    return found.findings


def history(*directories: Place) -> pl.DataFrame:
    """The time and joules of runs by commit, host and date, as `wattle history` shows them.

    Args:
        directories: run directories, or folders that hold some at any depth.

    Returns:
        The table `history`, with a row for each commit and day, the oldest of a program first.

    Raises:
        WattleError: no directory holds a run that can be read.
    """
    from wattle.api.tables import of_history
    from wattle.history import found

    with guest():
        read = found.read(Path(directory) for directory in directories)
    if not read.series:
        why = [f"{directory}: {reason}" for directory, reason in read.skipped]
        raise WattleError("; ".join(why) or "no directory is given")
    return of_history(read)


@overload
def energy(function: F) -> F: ...


@overload
def energy(function: None = None, *, name: str = "", print_at_end: bool = False) -> Energy: ...


def energy(function: F | None = None, *, name: str = "", print_at_end: bool = False) -> F | Energy:
    """Measures the joules of a part of this process: a `with` block, an `async with` block, or the calls of a function.

        with wattle.energy() as e:
            train()
        print(e.joules, e.domains)

        @wattle.energy(name="train")
        def train(): ...

    The sensors, the model and the settings (WATTLE_METER, WATTLE_MACHINE) are those of `wattle energy`. A sensor's
    joules are divided among this process with its children, other programs and the idle node by their CPU time. So two
    blocks that run at the same time, in two threads or tasks, count the same joules. The measurement starts no thread
    and no process. A child of fork() cannot use the object of its parent; it opens its own.

    Args:
        function: the function, where this is used as a decorator without arguments.
        name: of the block or function, for `csv()` and for printing.
        print_at_end: print the joules to standard error at the end of each block.

    Returns:
        An `Energy`; as a decorator, the function with the same signature. Its attribute `energy` is the `Energy` with
        the sum over all calls that have ended.

    Raises:
        WattleError: at the begin of a block: Wattle's library is not installed, or a setting is wrong.
    """
    from wattle.energy.region import Energy

    made = Energy(name, print_at_end)
    return made if function is None else made(function)


def load_ipython_extension(shell: Any) -> None:
    """Adds the magic `%%wattle` to a notebook: `%load_ext wattle`."""
    from wattle.energy.magic import register

    register(shell)


def _directory(run: Run | Place) -> Path:
    return run.directory if isinstance(run, Run) else Path(run)
