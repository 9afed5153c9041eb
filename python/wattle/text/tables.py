"""Tables that fit 80 columns and look alike everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich import box
from rich.cells import cell_len
from rich.table import Table as Table

from wattle.text.console import Text, plain, styled
from wattle.text.provenance import Joules, Provenance, amount
from wattle.text.units import UNKNOWN

MARK = {Provenance.MEASURED: "", Provenance.MODELLED: "~", Provenance.UNAVAILABLE: ""}


def table(title: str | Text = "", caption: str | Text = "") -> Table:
    """An empty table in the lab's style: rules above and below, no frame, one blank between columns. A `str` in it is
    plain text; `console.styled` makes styled text.
    """
    return Table(
        title=title or None,
        title_justify="left",
        title_style="title",
        caption=caption or None,
        caption_justify="left",
        caption_style="faint",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
        pad_edge=False,
        header_style="bold",
    )


def grid() -> Table:
    """Columns without rules and headings, as wide as the terminal."""
    return Table.grid(padding=(0, 1, 0, 0), expand=True)


def columns_of(text: str) -> int:
    """The columns of the terminal that the longest line of a text takes."""
    return max(map(cell_len, text.split("\n")))


def in_lines(text: str) -> Text:
    """Plain text in several lines: a `str` shows a line feed as a control character."""
    return Text("\n").join(map(plain, text.split("\n")))


def faint(text: str) -> Text:
    """The same in the style of what matters less."""
    return Text("\n").join(styled("[faint]{}[/faint]", line) for line in text.split("\n"))


def folded(name: str, width: int, indent: str = "") -> str:
    """A name in lines of at most `width` columns. A line ends where the name has a separator, so that a file keeps its
    line number; only a longer part is left longer. Further lines begin with `indent`.
    """
    parts = re.findall(r"\s*.+?(?:::|[/\s]|$)", name)
    parts = [p for part in parts for p in ([part] if cell_len(part) <= width else re.findall(r".+?(?:[_+<(]|$)", part))]
    lines = [""]
    for part in parts:
        if lines[-1].strip() and cell_len((lines[-1] + part).rstrip()) > width:
            lines.append(indent)
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def joules_cell(figure: Joules, factor: float, mark: bool) -> Text:
    """A cell such as `12.3±4` in the column's unit. `mark`: a `~` before a modelled figure, where provenances mix."""
    if figure.joules is None:
        return plain(UNKNOWN, "unavailable")
    text = amount(figure.joules, figure.uncertainty, factor).replace(" ± ", "±")
    return plain((MARK[figure.provenance] if mark else "") + text)


def provenance_words(figures: Iterable[Joules]) -> str:
    """`measured`, `modelled`, `unavailable`, or `mixed`."""
    known = {f.provenance for f in figures}
    return str(known.pop()) if len(known) == 1 else "mixed" if known else str(Provenance.UNAVAILABLE)
