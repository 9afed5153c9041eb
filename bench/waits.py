"""CPU seconds that a PE uses while it waits; the same for one node and for two."""

from __future__ import annotations

import statistics

from wattle import tables

from bench.jobs import Figures, Side
from bench.pairs import Row
from bench.show import judged, section

WAIT_ROWS = [Row("wait_until", "wait_until"), Row("wait_barrier", "barrier")]
WAIT_BAR_S = 0.05  # CPU seconds in a wait of 3 s


def show_waits(where: str, seconds: float, sides: list[Side], rounds: list[list[Figures]]) -> list[dict]:
    """Prints the table and returns the same as data. The bar holds for the first side, at its worst."""
    limit = WAIT_BAR_S * max(1.0, seconds / 3)
    table = tables.table()
    table.add_column("waiting in")
    for side in sides:
        table.add_column(side.name, justify="right")
    table.add_column(f"{sides[0].name} at worst", justify="right")
    table.add_column("bar")
    data = []
    for row in WAIT_ROWS:
        values = {side.name: [r[i][row.key] for r in rounds] for i, side in enumerate(sides)}
        worst = max(values[sides[0].name])
        verdict = "met" if worst <= limit else "not met"
        medians = [f"{statistics.median(v):.4f} s" for v in values.values()]
        table.add_row(row.label, *medians, f"{worst:.4f} s", judged(f"{limit:g} s", verdict))
        data.append({"row": row.key, "cpu_s": values, "bar_s": limit, "verdict": verdict})
    section(f"{where}: CPU seconds used by a PE that waits {seconds:g} s", table)
    return data
