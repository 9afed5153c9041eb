"""The prices of waiting: measured by the tool `wattle-calibrate` and kept in a file of the user's cache.

The tool computes this machine's key and file name, and reads the file as a program does. So the lab and the runtime
cannot disagree about them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.base.checked import Checked, read_json, require_schema
from wattle.base.errors import WattleError
from wattle.calibrate import tool
from wattle.calibrate.watts import BUSY_FROM
from wattle.machine import paths
from wattle.machine.commands import run_quietly
from wattle.record import manifest
from wattle.text import console, units

SCHEMA = 1
KIND = "prices"
UNFIT_FROM = 0.5  # cores: with more CPU time of other work than this, prices are not kept
# Wake-ups of a sleeper on an idle core. An idle machine takes 3 to 70 us; a scheduler's tick is 1 to 10 ms.
WAKES = ("futex_same", "futex_other", "epoll_same", "epoll_other")
SLOW_WAKE_S = 1e-3
TRIES = 3


@dataclass(frozen=True)
class Cell:
    """One price in one situation. `applies`: it has a meaning there. `why`: of a price, or samples, not known."""

    median_s: float | None
    quarter_s: float | None
    three_quarters_s: float | None
    samples: int
    why: str
    applies: bool


@dataclass(frozen=True)
class Price:
    """One price. `idle`: nothing else ran. `peer`: another process computed on the other core."""

    name: str
    what: str
    idle: Cell
    peer: Cell


@dataclass(frozen=True)
class Prices:
    """The contents of a file of prices."""

    measured: str  # ISO 8601, UTC
    host: str
    cpu: str
    kernel: str
    cores: int
    used_cores: tuple[int, ...]
    threads_of_one_core: bool
    others_cores: float | None  # CPU time that other work took meanwhile, in cores
    stolen_cores: float | None  # CPU time that the host of a virtual machine took, in cores
    prices: tuple[Price, ...]

    @property
    def disturbed(self) -> str:
        """A description of other work during the measurement; empty where there was little."""
        parts = [
            f"{cores:.1f} cores' worth of {what}"
            for cores, what in ((self.others_cores, "other work"), (self.stolen_cores, "time taken by the host"))
            if cores is not None and cores >= BUSY_FROM
        ]
        return " and ".join(parts)

    @property
    def unfit(self) -> str:
        """Why these prices must not be kept: other work, or wake-ups that a loaded machine delayed. Else empty."""
        taken = (self.others_cores or 0.0) + (self.stolen_cores or 0.0)
        if taken >= UNFIT_FROM:
            return f"there was {self.disturbed} meanwhile"
        for price in self.prices:
            median = price.idle.median_s if price.name in WAKES else None
            if median is not None and median >= SLOW_WAKE_S:
                return f"{price.what}: the median is {units.seconds(median)}, as on a machine where other programs run"
        return ""


@dataclass(frozen=True)
class Where:
    """This machine's price file, and the prices that a program which starts now would use."""

    file: Path | None
    no_file: str  # why there is no place for a file
    source: Path | None  # the file that a program reads
    known: bool
    why: str  # why no prices are known


def where() -> Where:
    """Asks the tool for the price file of this machine."""
    path = paths.tool(tool.NAME)
    done = run_quietly([str(path), "where"])
    if done.returncode != 0:
        raise tool.failed(path, done.returncode, done.stderr)
    answer = tool.parsed(path, done.stdout)
    read = answer.get("read")
    return Where(
        Path(answer.text("file")) if answer.has("file") else None,
        answer.text("no_file") if answer.has("no_file") else "",
        Path(read.text("from")) if read.has("from") else None,
        read.get("known").value is True,
        read.text("why") if read.has("why") else "",
    )


def measure(progress: Callable[[int, int, str], None]) -> dict[str, Any]:
    """Runs the tool and returns its document. `progress` gets a price's number, the number of prices and the name."""
    started = manifest.now()
    answer, _ = tool.run([], progress, "nothing is kept")
    document = answer.object()
    read(Checked(answer.file, {**document, "measured": started}))  # check it before it is kept
    return {**document, "measured": started, "versions": manifest.versions()}


def load(file: Path) -> Prices:
    """Reads and checks a file of prices."""
    return read(read_json(file))


def read(document: Checked) -> Prices:
    """Checks a document of prices."""
    require_schema(document, SCHEMA)
    document.choice("kind", (KIND,))
    machine, how, load_ = document.get("machine"), document.get("how"), document.get("load")
    prices = document.get("prices")
    return Prices(
        measured=document.text("measured"),
        host=machine.text("host"),
        cpu=machine.text("cpu"),
        kernel=machine.text("kernel"),
        cores=machine.integer("cores", lo=1),
        used_cores=tuple(core.expect("a whole number").value for core in how.items("cores")),
        threads_of_one_core=how.flag("threads_of_one_core"),
        others_cores=load_.number("others_cores"),
        stolen_cores=load_.number("stolen_cores"),
        prices=tuple(_price(name, prices.get(name)) for name in prices.object()),
    )


def _price(name: str, row: Checked) -> Price:
    return Price(name, row.text("what"), _cell(row.get("idle")), _cell(row.get("peer")))


def _cell(cell: Checked) -> Cell:
    why = cell.text("why") if cell.has("why") else ""
    applies = cell.flag("applies")
    if not cell.has("median_s"):
        return Cell(None, None, None, 0, why, applies)
    # No lower bound: the price of a fence is a difference, which can be below zero where the fence costs little.
    median, low, high = (cell.number(key, lo=None) for key in ("median_s", "quarter_s", "three_quarters_s"))
    return Cell(median, low, high, cell.integer("samples"), why, applies)


def store(document: dict[str, Any], file: Path) -> None:
    """Writes the file atomically and durably."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(file, console.json_text(document, indent=1), durable=True)
    except OSError as error:
        raise WattleError(f"{file}: the prices cannot be kept: {error.strerror}") from None
