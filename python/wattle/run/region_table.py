"""The table of the regions that the program marks."""

from __future__ import annotations

from wattle.figures import call_paths, user_regions
from wattle.run.view import View
from wattle.text import units
from wattle.text.console import styled
from wattle.text.provenance import Provenance, joule_unit, total
from wattle.text.tables import Table, joules_cell, provenance_words, table

REGIONS_SHOWN = 20


def region_table(view: View) -> Table:
    """A row for each region, without its inner regions, and one for the time outside. The shares add up to 100 %."""
    found = view.user_regions
    result = table(title=f"By region, sum over {view.noun}s")
    remarks = [f"{REGIONS_SHOWN} of {len(found)} regions; --json has all"] if len(found) > REGIONS_SHOWN else []
    remarks += user_regions.limit_words(view.profile) if view.profile is not None else []
    result.caption = "\n".join(remarks) or None
    result.add_column(styled("\nregion"), overflow="fold")
    for over, name in (("", "times"), ("", "time"), ("in", "calls"), ("", "waiting")):
        result.add_column(styled("{}\n{}", over, name), justify="right", no_wrap=True)
    sums = [total(region.joules) for region in found]
    words = provenance_words(sums)
    factor, unit = joule_unit(max((j.joules for j in sums if j.joules is not None), default=0.0))
    if has_joules := words != Provenance.UNAVAILABLE:
        result.add_column(styled("{}\n{}", unit, words), justify="right", no_wrap=True)
    result.add_column(styled("share of\ntime"), justify="right", no_wrap=True)
    shares = user_regions.shares(found)
    for region, joules, share in zip(found[:REGIONS_SHOWN], sums, shares, strict=False):
        cells = [
            call_paths.region_words(region.name),
            "" if not region.name else units.count(region.times) if region.times is not None else units.UNKNOWN,
            *(units.seconds(s) for s in (region.time_s, region.calls_s, region.waiting_s)),
            *([joules_cell(joules, factor, words == "mixed")] if has_joules else []),
            share,
        ]
        result.add_row(*cells)
    return result
