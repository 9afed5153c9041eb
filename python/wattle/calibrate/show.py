"""Shows prices and fits on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wattle.calibrate.prices import Cell, Prices
from wattle.record.pe import STATES
from wattle.text import units
from wattle.text.console import Console, styled
from wattle.text.provenance import amount, significant
from wattle.text.tables import Table, table

if TYPE_CHECKING:
    from wattle.calibrate.watts import Fit
    from wattle.study.network.study import Analysis

LEGEND = (
    "Median, and in brackets the middle half of the samples; n: number of samples. With a peer: a process computes on "
    "the other core; for the fence, it reads the cache line that is written; for membarrier, it is registered."
)


def show(prices: Prices, console: Console) -> None:
    console.print(prices_table(prices))
    console.print(styled("[faint]{}[/faint]", LEGEND))
    for reason, names in _lacks(prices).items():
        console.print(f"Not measured: {'; '.join(names)}: {reason}.")
    console.print(provenance(prices))
    if prices.disturbed:
        words = f"During the measurement there was {prices.disturbed}; measure again when the machine is quiet."
        console.print(styled("[partly]{}[/partly]", words))


def show_fit(found: Fit, console: Console) -> None:
    """Shows the watts of a fitted profile with their half-widths."""
    watts = table(title="Watts that a core adds")
    for name in ("at GHz", *STATES):
        watts.add_column(name, justify="right" if name != "at GHz" else "left", overflow="fold")
    for ghz, by_state in found.clocks.items():
        name = f"{ghz:g}" + (" (base)" if ghz == found.base else "")
        watts.add_row(name, *(amount(by_state[state].value, by_state[state].plus_minus) for state in STATES))
    console.print(watts)
    cpu, dram = (f"{amount(n.value, n.plus_minus)} W" for n in (found.idle_cpu, found.idle_dram))
    idle = f"{cpu} CPU with the {found.contains}" if found.contains else f"{cpu} CPU, {dram} DRAM"
    per_byte = amount(found.per_byte.value, found.per_byte.plus_minus, 1e-9)
    why = "no sensor separates memory from the cores" if found.contains else "no sensor of memory"
    assumed = f" (assumed: {why})" if found.per_byte.tag == "assumed" else ""
    console.print(f"Idle, by socket: {idle}; a byte moved: {per_byte} nJ{assumed}.")


def show_network(found: Analysis, console: Console) -> None:
    """Shows the fitted numbers of a network and their error."""
    from wattle.study.network.fit import FIT, HELD, shown

    numbers = table()
    for name in ("number", "fitted"):
        numbers.add_column(name, justify="right" if name == "fitted" else "left", no_wrap=True)
    for key, number in found.numbers.items():
        if number.tag == "measured":
            numbers.add_row(key, shown(number))
    console.print(numbers)
    scores = table()
    for name in ("held back", "times", "median error"):
        scores.add_column(name, justify="left" if name == "held back" else "right", no_wrap=True)
    for name, (n, error) in found.programs().items():
        scores.add_row(name, str(n), units.share(error))
    console.print(scores)
    fitted, held = (units.share(found.error(role)) for role in (FIT, HELD))
    console.print(f"Median error {held} on the programs held back, {fitted} on the programs used for the fit.")


def prices_table(prices: Prices) -> Table:
    result = table()
    result.add_column("price of", overflow="fold")
    for name in ("alone", "with a peer"):
        result.add_column(name, justify="right", no_wrap=True)
        result.add_column("n", justify="right", style="faint", no_wrap=True)
    for price in prices.prices:
        cells = [text for cell in (price.idle, price.peer) for text in (spread(cell), _count(cell))]
        result.add_row(price.what, *cells)
    return result


def provenance(prices: Prices) -> str:
    """When and where the prices were measured."""
    used = " and ".join(map(str, prices.used_cores))
    cores = f"core {used}" if len(prices.used_cores) == 1 else f"cores {used}"
    if prices.threads_of_one_core:
        cores += ", two threads of one core"
    where = f"{prices.host}: {prices.cpu}, {units.several(prices.cores, 'core')}, kernel {prices.kernel}"
    return f"Measured {prices.measured} on {where}; on {cores}."


def spread(cell: Cell) -> str:
    """A cell such as `38.6 (30.4–47.5) µs`, in the unit of the median."""
    numbers = [n for n in (cell.median_s, cell.quarter_s, cell.three_quarters_s) if n is not None]
    if len(numbers) < 3:
        return units.UNKNOWN
    factor, unit = units.scale_for(numbers[:1], units.SECONDS) if numbers[0] else units.SECONDS[-1]
    median, low, high = (_short(number / factor) for number in numbers)
    return f"{median} ({low}–{high}) {unit}"


def _short(number: float) -> str:
    return f"{number:.2f}" if 0 < abs(number) < 1 else f"{number:.0f}" if abs(number) >= 100 else significant(number, 3)


def _count(cell: Cell) -> str:
    return str(cell.samples) if cell.samples else ""


def _lacks(prices: Prices) -> dict[str, list[str]]:
    """The prices that could not be measured, by reason."""
    found: dict[str, list[str]] = {}
    beside = {p.peer.why if p.peer.median_s is None else "" for p in prices.prices if p.peer.applies}
    no_peer = (
        next(iter(beside)) if len(beside) == 1 else ""
    )  # set where one reason explains all missing prices with a peer
    if no_peer:
        found[no_peer] = ["everything with a peer"]
    for price in prices.prices:
        cells = [cell for cell in (price.idle, price.peer) if cell.applies]
        lacking = [cell.why for cell in cells if cell.median_s is None]
        for reason in dict.fromkeys(lacking):
            if lacking.count(reason) == len(cells):
                found.setdefault(reason, []).append(price.what)
            elif reason != no_peer:
                found.setdefault(reason, []).append(f"{price.what} (with a peer)" if len(lacking) == 1 else price.what)
    return found
