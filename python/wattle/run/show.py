"""What a person sees after a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from wattle import balance, units
from wattle.console import Console, Text, plain, styled
from wattle.manifest import Manifest
from wattle.metrics import Spread, metrics, spread
from wattle.profile import RunProfile
from wattle.provenance import Joules, Provenance, joule_unit, significant
from wattle.run.lost import dropped_words, readers_words, silent_hosts_words
from wattle.run.node_table import node_table, one_machine_words
from wattle.run.pe_tables import joules_fit, joules_table, pe_table, shown_domains
from wattle.run.site_table import say_overrun, say_unresolved, site_table
from wattle.run.summary import node_domains
from wattle.runs import Run
from wattle.sites import merge
from wattle.tables import provenance_words, table

WRONG_CONFIGURATION = 78  # of the launcher and of the library, always before a program's own work


def show(run: Run, console: Console) -> None:
    """Everything a person wants to see after a run."""
    console.print()
    console.print(_headline(run), soft_wrap=True)
    if run.manifest.repeats:
        _show_repeats(run, console)
    profile = run.middle.profile
    if profile is None:
        console.print("No profile was asked for, so there is nothing to show by PE or call site.")
        return
    _show_lost(profile, run.middle.manifest, console)
    if words := dropped_words(profile):
        console.print(styled("[bad]Careful:[/bad] {}", words), soft_wrap=True)
    if not profile.pes:
        return
    console.print()
    console.print(pe_table(profile))
    if not joules_fit(profile):
        console.print()
        console.print(joules_table(profile))
    _show_nodes(profile, console)
    console.print(_joules_words(profile))
    _show_balance(profile, console)
    sites = merge(profile)
    if sites:
        console.print()
        console.print(site_table(sites, console.width))
    say_unresolved(sites, console)
    say_overrun(profile, console)


def _show_balance(profile: RunProfile, console: Console) -> None:
    """Who waited for whom, and what the governor made of it."""
    if found := balance.balance(profile):
        console.print(balance.words(found))
    intensity = balance.intensity(profile)
    if intensity.value is not None or any(pe.operations for pe in profile.pes):
        console.print(f"{intensity.words[0].upper() + intensity.words[1:]}.", soft_wrap=True)
    edp = balance.products(balance.of_nodes(profile, node_domains(profile)), profile.wall_s)[0]
    if edp.value is not None and edp.uncertainty is not None:
        words = f"{significant(edp.value, 3)} ± {significant(edp.uncertainty, 2)} {edp.unit}"
        console.print(
            f"Energy x delay (EDP) of the nodes: {words}, {balance.of_nodes(profile, node_domains(profile)).provenance}"
        )
    if words := balance.governor_words(profile.pes):
        console.print(words, soft_wrap=True)
    if dry := balance.dry_run(profile):
        console.print(dry.words, soft_wrap=True)


def _show_nodes(profile: RunProfile, console: Console) -> None:
    """Joules of the node, or of each where there are several."""
    if words := readers_words(profile):
        console.print(styled("[partly]{}[/partly]", words))
    if len(profile.nodes) > 1:
        console.print()
        console.print(node_table(profile))
        if words := one_machine_words(profile):
            console.print(styled("[partly]{}[/partly]", words))
        return
    for domain in node_domains(profile) if shown_domains(profile) else []:
        node, idle = profile.node_joules(domain), profile.idle_joules(domain)
        console.print(f"Node, {domain}: {node}; of that idle: {idle}")


def _headline(run: Run) -> Text:
    manifest = run.manifest
    pes = f" on {units.several(manifest.n_pes, 'PE')}" if manifest.knows_n_pes else ""
    nodes = len(run.middle.profile.nodes) if run.middle.profile is not None else 0
    pes += f" on {nodes} nodes" if nodes > 1 else ""
    times = f", {units.several(len(run.samples), 'repeat')}" if manifest.repeats else ""
    ended = "" if not manifest.exit_code else f", exit code {manifest.exit_code}"
    took = f"{pes}{manifest.on_cluster}{times}: {units.seconds(manifest.wall_s)} from start to end{ended}"
    return styled("[title]{}[/title]{}", shlex.join(manifest.command), took)


def _show_lost(profile: RunProfile, manifest: Manifest, console: Console) -> None:
    """Names the PEs whose figures are not there, so that nobody takes the table for the whole job."""
    if profile.damaged:
        for pe, wrong in sorted(profile.damaged.items()):
            console.print(styled("[bad]PE {}'s profile is damaged[/bad]: {}", pe, wrong))
    if not profile.missing:
        return
    why = _why_lost(manifest)
    if len(profile.missing) < profile.n_pes:
        console.print(styled("[bad]No profile from PE {}[/bad] ({}).", units.ranges(profile.missing), why))
        if words := silent_hosts_words(profile, manifest):
            console.print(words, soft_wrap=True)
    elif manifest.extra.get("interrupted"):
        console.print(styled("[bad]Interrupted[/bad]: nothing to show by PE."))
    elif manifest.exit_code == WRONG_CONFIGURATION:
        words = styled("[bad]The program did not start[/bad], its configuration was refused: nothing to show by PE.")
        console.print(words)
    else:
        console.print(styled("[bad]No PE left a profile[/bad] ({}): nothing to show by PE.", why))


def _why_lost(manifest: Manifest) -> str:
    if manifest.extra.get("interrupted"):
        return "interrupted"
    killed = "killed, aborted" if manifest.exit_code else "ended without finalize"
    unseen = ", or linked with its MPI statically" if manifest.extra.get("mpi") and not manifest.exit_code else ""
    return f"{killed}, or never initialised{unseen}"


def _joules_words(profile: RunProfile) -> Text:
    """One line on where the joules come from."""
    meters = "; ".join(_meter_words(meter, hosts, profile) for meter, hosts in profile.meters)
    meters = meters or "unknown: no PE left its node's joules"
    source = _sources(j for pe in profile.pes for j in pe.joules)
    words = provenance_words(j for pe in profile.pes for j in pe.joules)
    if words == Provenance.UNAVAILABLE:
        return plain(f"Joules are unavailable: meter {meters}.", "faint")
    return plain(
        f"Joules are {words}{source}; meter {meters}. ±, or the range in brackets, holds the truth at about 95 %.",
        "faint",
    )


def _meter_words(meter: dict[str, str], hosts: list[str], profile: RunProfile) -> str:
    """`model (no sensor)`, with the hosts where not all have the same."""
    where = f" on {', '.join(hosts)}" if len(hosts) < len(profile.nodes) else ""
    why = f" ({meter['why'].rstrip('.')})" if meter["why"] else ""
    return f"{meter['name']}{where}{why}"


def _sources(figures: Iterable[Joules]) -> str:
    """` by model x`, or ` by powercap a, powercap b, split by model x`."""
    heads, splits = {}, {}
    for figure in figures:
        head, _, split = figure.source.partition(" split by ")
        heads[head] = splits[split] = True
    text = ", ".join(filter(None, heads)) + "".join(f", split by {split}" for split in splits if split)
    return f" by {text}" if text else ""


def _show_repeats(run: Run, console: Console) -> None:
    """Median and spread of the totals over all repeats."""
    profiles = [s.profile for s in run.samples if s.profile is not None]
    result = table(title=f"Over {units.several(len(run.samples), 'repeat')}")
    result.add_column(styled("\nsum over PEs"), no_wrap=True)
    for name in (("", "median"), ("quartile", "range"), ("", "least"), ("", "most")):
        result.add_column(styled("{}\n{}", *name), justify="right", no_wrap=True)
    for metric in metrics(profiles):
        result.add_row(metric.label, *_spread_cells(spread(metric, run.samples)))
    console.print()
    console.print(result)
    words = f"Below: repeat {run.middle.directory.name}, the one with the median time."
    console.print(plain(words, "faint"))


def _spread_cells(figure: Spread) -> list[str]:
    if figure.joules is not None:
        plain = [_plain_joules(v) for v in (figure.iqr, figure.lo, figure.hi)]
        return [str(figure.joules), *plain]
    return [units.seconds(v) for v in (figure.median, figure.iqr, figure.lo, figure.hi)]


def _plain_joules(value: float | None) -> str:
    """Beside a figure that has its provenance in the same row."""
    if value is None:
        return units.UNKNOWN
    factor, unit = joule_unit(value)
    return f"{units.significant(value / factor, 3)} {unit}"
