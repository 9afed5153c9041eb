"""The table of the costliest call sites."""

from __future__ import annotations

from wattle import units
from wattle.console import Text, styled
from wattle.provenance import Provenance, total
from wattle.sites import MergedSite
from wattle.tables import Table, provenance_words, table

SITES_SHOWN = 10
WIDE = 110


def site_table(sites: list[MergedSite], width: int, noun: str) -> Table:
    """The costliest call sites, summed over the processes, which are called `noun`."""
    shown = sites[:SITES_SHOWN]
    known = total([total(s.joules) for s in shown]).known
    result = table(title=f"Costliest call sites, by {'joules' if known else 'time'}, sum over {noun}s")
    if len(sites) > len(shown):
        result.caption = f"{len(shown)} of {len(sites)} sites; --json has all"
    wide = width >= WIDE
    result.add_column(styled("\ncall site"), overflow="fold")
    for name in ("calls", "bytes", "time"):
        result.add_column(styled("\n{}", name), justify="right", no_wrap=True)
    for name in (("wait:", "spin"), ("wait:", "yield"), ("wait:", "asleep")) if wide else (("", "waiting"),):
        result.add_column(styled("{}\n{}", *name), justify="right", no_wrap=True)
    words = provenance_words(total(s.joules) for s in shown)
    if words != Provenance.UNAVAILABLE:
        result.add_column(styled("joules\n{}", words), justify="right", no_wrap=True)
    for site in shown:
        result.add_row(*_site_cells(site, wide)[: len(result.columns)])
    return result


def _site_cells(site: MergedSite, wide: bool) -> list[str | Text]:
    function = f" {site.place.function}()" if site.place.function else ""
    waits = list(site.wait_s.values()) if wide else [site.waiting_s]
    joules = total(site.joules)
    figure = str(joules).removesuffix(f" {joules.provenance}") if joules.known else units.UNKNOWN
    return [
        styled("{}[faint]{}[/faint]\n  {}", site.place.label, function, site.call),
        units.count(site.calls),
        units.size(site.bytes) if site.bytes else "",
        units.seconds(site.time_s),
        *(units.seconds(w) if w != 0 else "" for w in waits),
        figure.replace(" ± ", "±"),
    ]
