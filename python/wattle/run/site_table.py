"""The table of the costliest call sites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wattle.figures import call_paths
from wattle.figures.call_paths import Row
from wattle.figures.sites import MergedSite, assigned_of
from wattle.record.pe import NO_CORE, add
from wattle.run.view import View
from wattle.text import units
from wattle.text.console import Text, styled
from wattle.text.provenance import Provenance, total
from wattle.text.tables import Table, columns_of, faint, folded, in_lines, provenance_words, table

SITES_SHOWN = 10
WIDE = 110
LEAST_NAME = 20  # columns
GAP = 2  # columns between two of the table


def site_table(view: View, width: int, depth: int | None = None, by: str = "path") -> Table:
    """The costliest call sites, summed over the processes, and the rest of the processes' time, so that the shares add
    up to 100 %. `depth`, `by`: as for `call_paths.rows`. `width`: the columns that the table may take. In few columns
    the bytes are below the calls, and a range below its joules, so that names have space.
    """
    rows, noun, wide = call_paths.rows(view.sites, view.program, depth, by), view.noun, width >= WIDE
    sites = [row.site for row in rows]
    shown = sites[:SITES_SHOWN]
    known = total([total(s.joules) for s in shown]).known
    result = table(title=f"Costliest call sites, by {'joules' if known else 'time'}, sum over {noun}s")
    if len(sites) > len(shown):
        result.caption = f"{len(shown)} of {len(sites)} sites; --json has all"
    words = provenance_words(total(s.joules) for s in shown)
    both = words != Provenance.UNAVAILABLE and any(site.elsewhere for site in shown)
    whole = _whole(view, known)
    heads = _heads(wide, f"{words}, here" if both else str(words), "joules" if known else "time")
    unshown = {"joules"} if words == Provenance.UNAVAILABLE else set()
    unshown |= set() if both else {"elsewhere"}
    unshown |= set() if whole else {"share"}
    body = [_figures(site, wide) for site in shown]
    for figures, site in zip(body, shown, strict=True):
        figures["share"] = _share(site.all_joules.joules if known else site.time_s, whole)
    ends = []
    for name, seconds, joules in _rest(view, sites[SITES_SHOWN:], known) if whole else ():
        figure = "" if joules is None else units.joules(joules)
        share = _share(joules if known else seconds, whole)
        ends.append((name, {"time": units.seconds(seconds), "joules": figure, "share": share}))
    columns = {
        name: [head, *(figures.get(name, "") for figures in (*body, *(end for _, end in ends)))]
        for name, head in heads.items()
        if name not in unshown
    }
    for name in ("calls", "time", "elsewhere"):
        if _left(width, columns) < LEAST_NAME:
            columns.pop(name, None)
    result.add_column(in_lines("\ncall site"), overflow="fold")
    for head, *_ in columns.values():
        result.add_column(in_lines(head), justify="right", no_wrap=True)
    names = [_name(row, max(LEAST_NAME, _left(width, columns))) for row in rows[:SITES_SHOWN]]
    for i, name in enumerate((*names, *(name for name, _ in ends))):
        if i == len(names):
            result.add_section()
        result.add_row(name, *(in_lines(cells[1 + i]) for cells in columns.values()))
    return result


def _heads(wide: bool, joules: str, share: str) -> dict[str, str]:
    """The heads of the columns."""
    first = {"calls": "\ncalls", "bytes": "\nbytes"} if wide else {"calls": "calls\nbytes"}
    waits = {stage: f"wait:\n{stage}" for stage in ("spin", "yield", "asleep")} if wide else {"wait": "\nwaiting"}
    last = {"joules": f"joules\n{joules}", "elsewhere": "\nelsewhere", "share": f"share of\n{share}"}
    return {**first, "time": "\ntime", **waits, **last}


def _left(width: int, columns: dict[str, list[str]]) -> int:
    """The columns of the terminal that are left for names."""
    return width - sum(GAP + max(map(columns_of, cells)) for cells in columns.values())


def _whole(view: View, known: bool) -> float | None:
    """The joules, or the seconds, of all processes together."""
    return total(view.total.joules).joules if known else view.total.seconds[0]


def _share(part: float | None, whole: float | None) -> str:
    return units.UNKNOWN if part is None or not whole else f"{100 * part / whole:.1f} %"


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


def _name(row: Row, width: int) -> Text:
    """The place, its callers and the call, in lines of at most `width` columns. A place without a line number is named
    by its function first.
    """
    place = row.place
    names = [place.label, *([f"{place.function}()"] if place.function and not place.is_name else [])]
    names = names if place.file else names[::-1]
    if columns_of(" ".join(names)) <= width:
        lines = [styled("{} [faint]{}[/faint]", names[0], " ".join(names[1:]))]
    else:
        lines = [in_lines(folded(names[0], width)), *(faint(folded(name, width)) for name in names[1:])]
    lines += [faint(folded(f"  < {caller}", width, "    ")) for caller in row.callers]
    lines += [] if row.site.call == place.label else [in_lines(folded(f"  {row.site.call}", width, "    "))]
    return Text("\n").join(lines)


def _figures(site: MergedSite, wide: bool) -> dict[str, str]:
    """The cells of a row by column."""
    calls, size = units.count(site.calls), units.size(site.bytes) if site.bytes else ""
    waits = site.wait_s if wide else {"wait": site.waiting_s}
    joules = total(site.joules).words.replace(" ± ", "±")
    return {
        **({"calls": calls, "bytes": size} if wide else {"calls": f"{calls}\n{size}".rstrip()}),
        "time": units.seconds(site.time_s),
        **{stage: units.seconds(wait) if wait != 0 else "" for stage, wait in waits.items()},
        "joules": joules if wide else re.sub(r"(.*) (\(.*\))( .*)", r"\1\3\n\2", joules),
        "elsewhere": units.joules(total(site.elsewhere).joules or 0.0) if site.elsewhere else "",
    }
