"""The table of the costliest call sites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wattle.figures import call_paths
from wattle.figures.call_paths import Row
from wattle.figures.sites import MergedSite, assigned_of
from wattle.record.pe import NO_CORE, add
from wattle.run.view import View
from wattle.text import units
from wattle.text.console import Text, plain, styled
from wattle.text.provenance import Provenance, total
from wattle.text.tables import Table, provenance_words, table

SITES_SHOWN = 10
WIDE = 110


def site_table(view: View, width: int, depth: int | None = None, by: str = "path") -> Table:
    """The costliest call sites, summed over the processes, and the rest of the processes' time, so that the shares add
    up to 100 %. `depth`, `by`: as for `call_paths.rows`.
    """
    rows, noun = call_paths.rows(view.sites, view.program, depth, by), view.noun
    sites = [row.site for row in rows]
    shown = sites[:SITES_SHOWN]
    known = total([total(s.joules) for s in shown]).known
    result = table(title=f"Costliest call sites, by {'joules' if known else 'time'}, sum over {noun}s")
    if len(sites) > len(shown):
        result.caption = f"{len(shown)} of {len(sites)} sites; --json has all"
    wide = width >= WIDE
    result.add_column(styled("\ncall site"), overflow="fold")
    for name in ("calls", "bytes", "time"):
        result.add_column(styled("\n{}", name), justify="right", no_wrap=True)
    for over, name in (("wait:", "spin"), ("wait:", "yield"), ("wait:", "asleep")) if wide else (("", "waiting"),):
        result.add_column(styled("{}\n{}", over, name), justify="right", no_wrap=True)
    words = provenance_words(total(s.joules) for s in shown)
    both = words != Provenance.UNAVAILABLE and any(site.elsewhere for site in sites)
    if words != Provenance.UNAVAILABLE:
        here = f"{words}, here" if both else str(words)
        result.add_column(styled("joules\n{}", here), justify="right", no_wrap=True)
    if both:
        result.add_column(styled("\nelsewhere"), justify="right", no_wrap=True)
    whole = _whole(view, known)
    if whole:
        result.add_column(styled("share of\n{}", "joules" if known else "time"), justify="right", no_wrap=True)
    n = len(result.columns) - bool(whole)
    for row in rows[:SITES_SHOWN]:
        site = row.site
        amount = site.all_joules.joules if known else site.time_s
        result.add_row(*_site_cells(row, wide)[:n], *([_share(amount, whole)] if whole else []))
    if whole:
        result.add_section()
        for name, seconds, joules in _rest(view, sites[SITES_SHOWN:], known):
            blank = [""] * (3 if wide else 1)
            figure = "" if joules is None else units.joules(joules)
            cells = [name, "", "", units.seconds(seconds), *blank, figure, ""][:n]
            result.add_row(*cells, _share(joules if known else seconds, whole))
    return result


def _whole(view: View, known: bool) -> float | None:
    """The joules, or the seconds, of all processes together."""
    return total(view.total.joules).joules if known else view.total.seconds[0]


def _share(part: float | None, whole: float) -> str:
    return units.UNKNOWN if part is None else f"{100 * part / whole:.1f} %"


def _seconds(site: MergedSite) -> float:
    """The time of a site. Of a call that has not returned, such as the last one, only the waits are known."""
    return site.time_s if site.time_s is not None else site.waiting_s or 0.0


def _rest(view: View, others: Sequence[MergedSite], known: bool) -> Iterator[tuple[str, float | None, float | None]]:
    """The rest of the processes' time with its joules: other sites, no core, and computing, which has the remainder."""
    no_core = view.profile.sum("time_s", NO_CORE) if view.profile else None
    other_s, in_calls = sum(map(_seconds, others)), sum(map(_seconds, view.sites))
    figures = [s.all_joules.joules for s in view.sites] if known else []
    served = total(assigned_of(view.profile).rest.sums()) if known and view.profile else None
    whole_s, whole_j = view.total.seconds[0], total(view.total.joules).joules
    if others:
        other_j = add(s.all_joules.joules for s in others) if known else None
        yield f"{units.several(len(others), 'other site')}", other_s, other_j
    if no_core:
        yield "no core", no_core, 0.0 if known else None
    if served is not None and served.joules:
        figures.append(served.joules)
        yield "for messages of no call site", None, served.joules  # beside the processes' own time
    computed = None if whole_s is None else max(0.0, whole_s - in_calls - (no_core or 0.0))
    left = add(figures)
    name = "compute or no core" if view.unknown_cores else "compute"
    yield name, computed, max(0.0, whole_j - left) if known and whole_j is not None and left is not None else None


def _site_cells(row: Row, wide: bool) -> list[str | Text]:
    site, place = row.site, row.place
    function = f" {place.function}()" if place.function and not place.is_name else ""
    called = [] if site.call == place.label else [site.call]
    name = styled("{}[faint]{}[/faint]", place.label, function)
    callers = [styled("[faint]  < {}[/faint]", caller) for caller in row.callers]
    waits = list(site.wait_s.values()) if wide else [site.waiting_s]
    joules = total(site.joules)
    return [
        Text("\n").join([name, *callers, *(plain(f"  {call}") for call in called)]),
        units.count(site.calls),
        units.size(site.bytes) if site.bytes else "",
        units.seconds(site.time_s),
        *(units.seconds(w) if w != 0 else "" for w in waits),
        joules.words.replace(" ± ", "±"),
        units.joules(total(site.elsewhere).joules or 0.0) if site.elsewhere else "",
    ]
