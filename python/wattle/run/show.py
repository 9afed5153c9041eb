"""The output of `wattle run` on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wattle.figures import balance, merged
from wattle.figures.metrics import Spread
from wattle.record import jobs
from wattle.record.manifest import machine_words
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.run import counts
from wattle.run.node_table import node_table
from wattle.run.pe_tables import PES_SHOWN, joules_fit, joules_table, pe_table, shown_domains
from wattle.run.region_table import region_table
from wattle.run.site_table import SITES_SHOWN, site_table
from wattle.run.unfinished import ended_table
from wattle.run.view import View, overrun, passed, unresolved
from wattle.run.view import view as view_of
from wattle.text import units
from wattle.text.console import Console, Text, plain, styled
from wattle.text.provenance import Joules, Provenance, significant
from wattle.text.tables import provenance_words, table

WRONG_CONFIGURATION = 78  # exit code of the launcher and the library, always before the program's own work


def show(run: Run, console: Console, depth: int | None = None, by: str = "path") -> None:
    """Shows the results of a run. `depth`, `by`: the rows of the table of call sites (`call_paths.rows`)."""
    view = view_of(run)
    console.print()
    console.print(_headline(view), soft_wrap=True)
    if view.repeats:
        _show_repeats(view, console)
    _show_external(view, console)
    if view.slurm:
        console.print(plain(view.slurm), soft_wrap=True)
    profile = view.profile
    if profile is None:
        console.print("No profile was requested, so there is nothing to show by process or call site.")
        return
    if view.jobs:
        cells = [([job.cells()[0]], job.cells()[1:]) for job in view.jobs[: jobs.ROWS_SHOWN]]
        heads = [("", head) for head in jobs.HEADS[1:]]
        _show_table(console, "Jobs of the command, in the order of their starts", jobs.HEADS[:1], heads, cells)
        console.print(plain(view.jobs_words), soft_wrap=True)
    _show_lost(view, profile, console)
    if view.ended:
        console.print(styled("[bad]{}[/bad]", view.ended), soft_wrap=True)
    if view.lost.dropped:
        console.print(styled("[bad]Careful:[/bad] {}", view.lost.dropped), soft_wrap=True)
    if not profile.pes:
        return
    if view.verdict:
        console.print(plain(view.verdict))
    console.print()
    console.print(pe_table(view, console.width))
    if view.unknown_cores:
        console.print(plain(view.unknown_cores, "partly"), soft_wrap=True)
    if view.ends:
        console.print()
        console.print(ended_table(view.ends, view.noun))
        for words in view.end_remarks:
            console.print(plain(words, "partly"), soft_wrap=True)
    if not joules_fit(view, console.width):
        console.print()
        console.print(joules_table(view))
    _show_nodes(view, console)
    for words in view.nested:
        console.print(words, soft_wrap=True)
    console.print(_joules_words(view, profile))
    if view.carbon is not None:
        console.print(f"Electricity of the nodes: {view.carbon}")
    _show_balance(view, console)
    if words := merged.words(profile):
        console.print(words, soft_wrap=True)
    _show_counts(view, console)
    if view.user_regions:
        console.print()
        console.print(region_table(view))
    if view.sites:
        console.print()
        console.print(site_table(view, console.width, depth, by))
    for words in unresolved(view.sites[:SITES_SHOWN]):
        console.print(plain(words, "faint"))
    if words := passed(profile):
        console.print(words, soft_wrap=True)
    if words := overrun(profile):
        console.print(plain(words, "partly"))


def _show_balance(view: View, console: Console) -> None:
    """Shows the balance of the run and the effects of the governor."""
    if view.balance:
        console.print(balance.words(view.balance, view.noun, view.short is not None, bool(view.unknown_cores)))
    if view.pop:
        console.print(view.pop.words)
    intensity = view.intensity
    if intensity.value is not None or any(line.pe.operations for line in view.lines):
        console.print(f"{intensity.words[0].upper() + intensity.words[1:]}.", soft_wrap=True)
    edp = view.products[0]
    if edp.value is not None and edp.uncertainty is not None:
        words = f"{significant(edp.value, 3)} ± {significant(edp.uncertainty, 2)} {edp.unit}"
        console.print(f"Energy x delay (EDP) of the nodes: {words}, {view.node_joules.provenance}")
    for words in view.governed:
        console.print(words, soft_wrap=True)


def _show_counts(view: View, console: Console) -> None:
    """Shows the counters by PE, the packets by network interface, and why some are missing."""
    if found := counts.rows(view)[:PES_SHOWN]:
        console.print()
        rows = [([str(pe.pe)], cells) for pe, cells in found]
        _show_table(console, f"Counters by {view.noun}, user mode", [view.noun], counts.HEADS, rows)
    if seen := counts.interface_rows(view):
        console.print()
        named = [([host, one.name], cells) for host, one, cells in seen]
        title = "Network interfaces, all programs of the node"
        _show_table(console, title, ["node", "interface"], counts.WAYS_HEADS, named)
    for words in counts.reasons(view):
        if words[1:-1] not in view.intensity.why:
            console.print(plain(words, "faint"), soft_wrap=True)


def _show_table(
    console: Console,
    title: str,
    names: Sequence[str],
    heads: Sequence[tuple[str, str]],
    rows: Sequence[tuple[list[str], list[str]]],
) -> None:
    result = table(title=title)
    for name in names:
        result.add_column(styled("\n{}", name), no_wrap=True)
    for head in heads:
        result.add_column(styled("{}\n{}", *head), justify="right", no_wrap=True)
    for first, cells in rows:
        result.add_row(*first, *cells)
    console.print(result)


def _show_nodes(view: View, console: Console) -> None:
    """Shows the joules of the node, or of each node."""
    if view.lost.readers:
        console.print(styled("[partly]{}[/partly]", view.lost.readers))
    if view.nodes:
        console.print()
        console.print(node_table(view))
        if view.one_machine:
            console.print(styled("[partly]{}[/partly]", view.one_machine))
        return
    for node, idle, others in zip(view.whole, view.idle, view.others, strict=True) if shown_domains(view) else ():
        rest = f"; other programs: {others}" if others is not None else ""
        console.print(f"Node, {node.domain}: {node}; of that idle: {idle}{rest}", soft_wrap=True)
    means = (
        [f"{node.domain} {node.mean_watts}" for node in view.whole if node.mean_watts] if shown_domains(view) else []
    )
    if means:
        console.print(f"Mean power of the node: {', '.join(means)}")


def _show_external(view: View, console: Console) -> None:
    """Shows the joules of an external meter, and the clock of its log."""
    if view.external is None or view.external.why:
        return
    for words in view.external.words(view.interval):
        console.print(plain(words), soft_wrap=True)
    console.print(plain(view.external.meter_words, "faint"), soft_wrap=True)


def _headline(view: View) -> Text:
    pes = f" on {view.pes}" if view.pes else ""
    ended = "" if not view.exit_code else f", exit code {view.exit_code}"
    return styled("[title]{}[/title]{}", view.title, f"{pes}{view.extent}: {view.took}{ended}")


def _show_lost(view: View, profile: RunProfile, console: Console) -> None:
    """Names the PEs without figures, so that the table is not taken for the whole job."""
    lost = view.lost
    for pe, wrong in lost.damaged.items():
        console.print(styled("[bad]{} {}'s profile is damaged[/bad]: {}", view.noun, pe, wrong))
    if profile.pes or lost.damaged:
        if not lost.missing:
            return
        console.print(styled("[bad]No profile from {} {}[/bad] ({}).", view.noun, units.ranges(lost.missing), lost.why))
        if lost.hosts:
            console.print(lost.hosts, soft_wrap=True)
    elif view.run.middle.manifest.extra.get("interrupted"):
        console.print(styled("[bad]Interrupted[/bad]: nothing to show by {}.", view.noun))
    elif view.run.middle.manifest.exit_code == WRONG_CONFIGURATION:
        words = styled(
            "[bad]The program did not start[/bad] because its configuration is wrong: nothing to show by {}.",
            view.noun,
        )
        console.print(words)
    else:
        console.print(
            styled("[bad]No {} left a profile[/bad] ({}): nothing to show by {}.", view.noun, lost.why, view.noun)
        )


def _joules_words(view: View, profile: RunProfile) -> Text:
    """One line on the source of the joules."""
    meters = "; ".join(_meter_words(meter, hosts, profile) for meter, hosts in view.meters)
    meters = meters or f"unknown: no {view.noun} left its node's joules"
    known = [j for line in view.lines for j in line.pe.joules if j.known]  # the meter's words say why others are not
    source, words = _sources(known), provenance_words(known)
    if words == Provenance.UNAVAILABLE:
        return plain(f"Joules are unavailable: meter {meters}.", "faint")
    machine = machine_words(view.run.middle.manifest.extra)
    machine = f" ({machine})" if machine and words != Provenance.MEASURED else ""
    return plain(
        f"Joules are {words}{source}{machine}; meter {meters}. ±, or the range in brackets: about 95 % confidence.",
        "faint",
    )


def _meter_words(meter: dict[str, str], hosts: list[str], profile: RunProfile) -> str:
    """The meter with its reason, such as `model (no sensor)`, and its hosts where they have different meters."""
    where = f" on {', '.join(hosts)}" if len(hosts) < len(profile.nodes) else ""
    why = f" ({meter['why'].rstrip('.')})" if meter["why"] else ""
    return f"{meter['name']}{where}{why}"


def _sources(figures: Iterable[Joules]) -> str:
    """The sources as text: ` by model x`, or ` by powercap a, powercap b, split by model x`."""
    heads, splits = {}, {}
    for figure in figures:
        head, _, split = figure.source.partition(" split by ")
        heads[head] = splits[split] = True
    text = ", ".join(filter(None, heads)) + "".join(f", split by {split}" for split in splits if split)
    return f" by {text}" if text else ""


def _show_repeats(view: View, console: Console) -> None:
    """Shows median and spread of the totals over all repeats."""
    result = table(title=f"Over {units.several(len(view.run.samples), 'repeat')}")
    result.add_column(styled("\nsum over {}s", view.noun), no_wrap=True)
    for name in (("", "median"), ("quartile", "range"), ("", "least"), ("", "most")):
        result.add_column(styled("{}\n{}", *name), justify="right", no_wrap=True)
    for label, found in view.repeats:
        result.add_row(label, *_spread_cells(found))
    console.print()
    console.print(result)
    words = f"Below: repeat {view.run.middle.directory.name}, the one with the median time."
    console.print(plain(words, "faint"))


def _spread_cells(figure: Spread) -> list[str]:
    if figure.joules is not None:
        return [str(figure.joules), *map(units.joules, (figure.iqr, figure.lo, figure.hi))]
    return [units.seconds(v) for v in (figure.median, figure.iqr, figure.lo, figure.hi)]
