"""Tables that fit 80 columns and look alike everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.table import Table as Table

from wattle.text.console import Text, plain
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
