"""The joules of a part of this process: a block, or the calls of a function."""

from __future__ import annotations

import csv
import functools
import inspect
import io
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.energy import cpu_time, division
from wattle.energy.cpu_time import CpuTime
from wattle.energy.division import PARTS, Division
from wattle.energy.library import Meter
from wattle.frames.columns import TABLES
from wattle.text.provenance import Joules, unavailable

if TYPE_CHECKING:
    import polars as pl

F = TypeVar("F", bound=Callable[..., Any])
COLUMNS = [column.name for column in TABLES["energy"]]
NOTHING = Division(meter="", why="", others_cpu_s=0.0, joules={part: [] for part in PARTS}, nested=[])


@dataclass(frozen=True)
class Measured:
    """The figures of one process.

    Attributes:
        name: as given to `wattle.energy`.
        host: name of the node.
        rank: number in a communicator; None for this process alone.
        blocks: number of blocks or calls that have ended.
        wall_s: time in them, in seconds. Blocks that overlap count their common time once.
        cpu_s: CPU time of this process and its children in that time, in seconds.
        division: the joules by part and domain.
    """

    name: str
    host: str
    rank: int | None
    blocks: int
    wall_s: float
    cpu_s: float
    division: Division

    @property
    def joules(self) -> Joules:
        """The joules of this process with its children, over the domains that are known."""
        return self.division.total("program")

    @property
    def domains(self) -> dict[str, Joules]:
        """The joules of this process by domain, such as `cpu`, `dram`, `package-0` or `gpu-0`."""
        return {figure.domain: figure for figure in self.division.joules["program"]}

    @property
    def parts(self) -> dict[str, list[Joules]]:
        """The joules of the node by part (`program`, `others`, `idle`, `node`), one figure for each domain."""
        return self.division.joules

    @property
    def meter(self) -> str:
        """The name of the meter, such as `powercap` or `model`."""
        return self.division.meter

    @property
    def why(self) -> str:
        """Why no better meter was used; empty where there is nothing to say."""
        return self.division.why

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table `energy`: one for each part and domain."""
        head = {key: getattr(self, key) for key in ("name", "host", "rank", "blocks", "wall_s", "cpu_s")}
        figures = [(part, figure) for part in PARTS for figure in self.division.joules[part]]
        figures += [("nested", figure) for figure in self.division.nested]
        return [{**head, "part": part, **_figure(figure)} for part, figure in figures]

    def csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table `energy` as text with a line of names, and in a file where `path` is given. Raises WattleError."""
        return _csv(self.rows(), path)

    def frame(self) -> pl.DataFrame:
        """The table `energy` as a Polars frame."""
        from wattle.frames import made

        return made.frame("energy", self.rows())

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        source = f" ({self.joules.source})" if self.joules.source else ""
        return f"{name}{self.joules}{source} in {self.wall_s:.3g} s, {self.cpu_s:.3g} s of CPU time"


class Energy:
    """Measures blocks of this process. `wattle.energy` makes it.

    It is a context manager, for `with` and `async with`, and a decorator for functions, coroutines and generators.
    Blocks of one object may follow each other, nest, or overlap in threads: the object has the sum, in which common
    time counts once. All figures can be read within a block, and then reach up to now.

    The figures are those of `Measured`: `joules`, `domains`, `parts`, `meter`, `why`, `blocks`, `wall_s`, `cpu_s`,
    `rows()`, `csv()` and `frame()`.
    """

    def __init__(self, name: str = "", print_at_end: bool = False) -> None:
        self.name = name
        self._print_at_end = print_at_end
        self._keeps_meter = False  # between calls of a function
        self._reset()

    def _reset(self) -> None:
        """Forgets what the parent of a forked process had open. Its meter is left alone: it belongs to the parent."""
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._meter: Meter | None = None
        self._open = 0
        self._begun: tuple[float, CpuTime] = (0.0, CpuTime(0.0, 0))
        self._ended: Measured | None = None

    # ---- blocks ----

    def begin(self) -> Energy:
        """Begins a block. Raises WattleError where Wattle's library is missing, or where a setting is wrong."""
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            if self._open == 0:
                self._meter = self._meter or Meter()
                self._begun = (time.monotonic(), cpu_time.here())
                self._meter.begin()
            self._open += 1
        return self

    def end(self) -> None:
        """Ends a block. In a process that was forked within the block it does nothing. Raises WattleError without one.

        A meter that gives no figures makes the joules unavailable: the program goes on.
        """
        if self._pid != os.getpid():
            return
        with self._lock:
            if self._open == 0:
                raise WattleError("energy: no block is open; call begin() first")
            self._ended = self._so_far(blocks=1, add=self._open == 1)
            self._open -= 1
            if self._open == 0 and not self._keeps_meter:
                self._close()
        if self._print_at_end:
            from wattle.text import console  # rich, which a program that prints nothing does not need

            console.err.print(str(self), soft_wrap=True)

    def _so_far(self, blocks: int, add: bool) -> Measured:
        """The sum of what has ended, and with `add` of the block that is open."""
        before = self._ended or Measured(self.name, os.uname().nodename, None, 0, 0.0, 0.0, NOTHING)
        wall_s, cpu_s, found = before.wall_s, before.cpu_s, before.division
        if add and self._meter is not None:
            at, cpu = self._begun
            now = cpu_time.here()
            used = max(0.0, now.seconds - cpu.seconds)
            switches = 0 if now.switches is None or cpu.switches is None else max(0, now.switches - cpu.switches)
            wall_s, cpu_s = wall_s + time.monotonic() - at, cpu_s + used
            new = _read(self._meter, f"{used!r}~{switches}@{self._pid}")
            found = new if before.division is NOTHING else division.added([found, new])
        return Measured(self.name, before.host, None, before.blocks + blocks, wall_s, cpu_s, found)

    def _close(self) -> None:
        if self._meter is not None and self._pid == os.getpid():
            self._meter.close()
        self._meter = None

    def __del__(self) -> None:
        if getattr(self, "_meter", None) is not None:
            self._close()

    def __enter__(self) -> Energy:
        return self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()

    async def __aenter__(self) -> Energy:
        return self.begin()

    async def __aexit__(self, *error: object) -> None:
        self.end()

    def __call__(self, function: F) -> F:
        """Measures the calls of a function, of a coroutine up to its end, or of a generator up to its last value."""
        self.name = self.name or function.__qualname__
        self._keeps_meter = True

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        @functools.wraps(function)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            with self:
                return await function(*arguments, **named)

        @functools.wraps(function)
        def generated(*arguments: Any, **named: Any) -> Any:
            with self:
                return (yield from function(*arguments, **named))

        is_coroutine, is_generator = inspect.iscoroutinefunction(function), inspect.isgeneratorfunction(function)
        made: Any = awaited if is_coroutine else generated if is_generator else call
        made.energy = self
        found: F = made
        return found

    # ---- figures ----

    @property
    def measured(self) -> Measured:
        """All figures, which no later block changes. Without a block they are unavailable."""
        if self._pid != os.getpid():
            return self._ended or Measured(self.name, os.uname().nodename, None, 0, 0.0, 0.0, NOTHING)
        with self._lock:
            return self._so_far(blocks=0, add=self._open > 0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in FIGURES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.measured, name)

    def gather(self, comm: Any, root: int = 0) -> Gathered | None:
        """Collects the figures of all ranks of a communicator. All of them must call it.

        Args:
            comm: a communicator of mpi4py, or any object with its `gather(object, root)` and `rank`.
            root: the rank that gets the result.

        Returns:
            On `root` the figures of all ranks, by rank; None on the others. Each rank has its own share of its node's
            joules, so they may be added.
        """
        mine = self.measured
        every = comm.gather(Measured(**{**vars(mine), "rank": comm.rank}), root=root)
        return None if every is None else Gathered(every)

    def __str__(self) -> str:
        return str(self.measured)

    def __repr__(self) -> str:
        return f"<wattle.Energy {self.measured}>"


FIGURES = ("joules", "domains", "parts", "meter", "why", "blocks", "wall_s", "cpu_s", "rows", "csv", "frame")


@dataclass(frozen=True)
class Gathered:
    """The figures of the ranks of a communicator.

    Attributes:
        ranks: the figures of each, by rank.
    """

    ranks: list[Measured]

    @property
    def joules(self) -> Joules:
        """The sum over the ranks. Unavailable where those of one rank are."""
        return division.added([one.division for one in self.ranks]).total("program")

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table `energy` of all ranks."""
        return [row for one in self.ranks for row in one.rows()]

    def csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table `energy` as text with a line of names, and in a file where `path` is given. Raises WattleError."""
        return _csv(self.rows(), path)


def _read(meter: Meter, line: str) -> Division:
    """The figures of the interval. Where the meter gives none they are unavailable, with the reason."""
    try:
        return division.read(meter.end(line))
    except WattleError as error:
        parts = {part: [unavailable("cpu")] if part != "others" else [] for part in PARTS}
        return Division(meter="", why=str(error), others_cpu_s=0.0, joules=parts, nested=[])


def _figure(figure: Joules) -> dict[str, Any]:
    from wattle.frames import made

    return {"domain": figure.domain, "scope": figure.scope or None, **made.joules(figure)}


def _csv(rows: list[dict[str, Any]], path: str | os.PathLike[str] | None) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if path is not None:
        files.write(Path(path), out.getvalue())
    return out.getvalue()
