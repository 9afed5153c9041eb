"""The output of `wattle scale` on the terminal."""

from __future__ import annotations

from wattle.scale.answer import BEYOND, PAYS, Answer, Best
from wattle.text import units
from wattle.text.console import Console, plain
from wattle.text.provenance import significant
from wattle.text.tables import table


def show(found: Answer, console: Console) -> None:
    series = found.series
    where = f", simulated on {series.simulated}" if series.simulated else ""
    kind = "the work grows with them" if found.weak else "the same work"
    console.print(plain(f"{series.program} by number of {series.noun}s, {kind}{where}", "title"), soft_wrap=True)
    result = table()
    for name in (f"{series.noun}s", "runs", "time", f"joules, {series.provenance[0]}", "EDP, J s", "efficiency"):
        result.add_column(name, justify="right")
    for row in found.rows:
        edp = units.UNKNOWN if row.edp is None else significant(row.edp, 3)
        cells = (str(row.n), str(row.repeats), units.seconds(row.time_s), row.joules.words, edp)
        result.add_row(*cells, units.share(row.efficiency))
    console.print(result)
    for name, law, unit in (("Time", found.time, "s"), ("Joules", found.joules, "J")):
        if law is not None:
            console.print(plain(f"{name} of n {series.noun}s, fitted: {law.words} {unit}"), soft_wrap=True)
    for best in found.best:
        console.print(plain(words(found, best)))
    if found.time is None:
        console.print("Too few sizes for a law: run at least three numbers of processes.")
    if found.joules is None and found.time is not None:
        console.print(plain(f"No number of least joules: they are unavailable {series.provenance[1]}".rstrip() + "."))


def words(found: Answer, best: Best) -> str:
    """`Least joules: 8 PEs (6 to 11).`"""
    noun = found.series.noun
    largest = found.series.sizes[-1].n
    text = f"{best.what[0].upper()}{best.what[1:]}: {units.several(best.n, noun)}"
    if best.low is not None and best.high is not None:
        text += f" ({best.low} to {best.high})"
    if best.what == "last that pays":
        text += f", with an efficiency of at least {units.share(PAYS)}"
    if best.n >= BEYOND * largest:
        return f"{text}, or more: the law is evaluated up to {BEYOND} times the largest size. Beyond what ran."
    return f"{text}. Beyond what ran: run this number, or simulate it." if best.beyond else f"{text}."
