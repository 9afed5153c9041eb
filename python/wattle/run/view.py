"""The view model of a run: its figures, their provenance and notes, computed once.

The terminal (show.py) and the page (`wattle.report`) show it and choose units and layout.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from wattle.figures import balance, no_core, pop, power_budget, user_regions
from wattle.figures import carbon as carbons
from wattle.figures.balance import Balance, Intensity, Product
from wattle.figures.carbon import Carbon
from wattle.figures.metrics import Spread, metrics, spread
from wattle.figures.no_core import Shortage
from wattle.figures.pop import Factors
from wattle.figures.sites import MergedSite, merge
from wattle.figures.user_regions import UserRegion
from wattle.meter_log import kept as external
from wattle.record import jobs
from wattle.record.by_node import Node, on_one_machine
from wattle.record.manifest import Manifest
from wattle.record.pe import NO_CORE, PE, add, find
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.run import unfinished, verdicts
from wattle.run.unfinished import Row as EndedRow
from wattle.text import units
from wattle.text.provenance import Joules, unavailable

LABEL_WIDTH = 12
TOLERATED = 1.2  # largest ratio of the sampled times of a PE's call sites to the PE's own time

COMPUTE, LACKED = ("", "compute"), ("no", "core")
BOUNDS = {COMPUTE: "≤ ", LACKED: "≥ "}  # where time without a core is not known up to the end
COLUMNS: tuple[tuple[tuple[str, str], Callable[[PE], float | None]], ...] = (
    (("", "time"), lambda pe: pe.wall_s),
    (COMPUTE, lambda pe: pe.time_s["compute"]),
    (("", "transfer"), lambda pe: pe.time_s["transfer"]),
    (("wait:", "spin"), lambda pe: pe.state_s["spin"]),
    (("wait:", "yield"), lambda pe: pe.state_s["yield"]),
    (("wait:", "asleep"), lambda pe: pe.state_s["asleep"]),
    (LACKED, lambda pe: pe.state_s[NO_CORE]),
    (("CPU", "time"), lambda pe: pe.cpu_s),
)


class Line(msgspec.Struct, frozen=True):
    """A PE, or a sum over PEs. `seconds`: by COLUMNS; `joules`: by the view's domains. `is_bound`: its computing time
    may contain more time without a core.
    """

    name: str
    node: str
    seconds: tuple[float | None, ...]
    joules: tuple[Joules, ...]
    is_bound: bool = False

    def times(self, show: Callable[[float | None], str]) -> list[str]:
        """The seconds in words; a bound with its sign."""
        signs = [BOUNDS.get(name, "") if self.is_bound else "" for name, _ in COLUMNS]
        return [show(s) if s is None else sign + show(s) for s, sign in zip(self.seconds, signs, strict=True)]


class PELine(Line, frozen=True, kw_only=True):
    pe: PE


class NodeLine(msgspec.Struct, frozen=True):
    """A node, or all nodes. `figures`: (domain, share of its PEs, idle, whole)."""

    label: str
    host: str
    pes: str
    figures: list[tuple[str, Joules, Joules, Joules]]


class Lost(msgspec.Struct, frozen=True):
    """Missing profiles with the reason. `hosts`, `readers`, `dropped`: sentences on hosts without a profile, on nodes
    with several readers of the meter, and on dropped messages; empty where there are none.
    """

    damaged: dict[int, str] = {}
    missing: list[int] = []
    why: str = ""
    hosts: str = ""
    readers: str = ""
    dropped: str = ""


class View(msgspec.Struct, frozen=True):
    """A run. `profile`: of the repeat with the median time; None where none was requested. The fields that depend on it
    are empty without it, or where no PE left a profile.
    """

    run: Run
    profile: RunProfile | None
    title: str
    noun: str  # the word for a process: `PE`, or `rank` for MPI
    pes: str  # `4 PEs`; empty where the number is not known
    extent: str  # ` on 2 nodes, 3 repeats`
    took: str
    lost: Lost
    repeats: list[tuple[str, Spread]]
    external: external.External | None = None
    jobs: list[jobs.Job] = []  # where the command started several; the other fields are of one of them
    jobs_words: str = ""  # which one that is
    slurm: str = ""  # a sentence on Slurm's own joules; empty outside a job of Slurm
    domains: list[str] = []
    lines: list[PELine] = []
    total: Line = Line("", "", (None,) * len(COLUMNS), ())
    nodes: list[NodeLine] = []  # with the sum at the end; empty for a single node
    one_machine: str = ""
    idle: list[Joules] = []
    whole: list[Joules] = []  # of all nodes by domain, like idle
    others: list[Joules | None] = []  # of other programs by domain; None: none was seen
    meters: list[tuple[dict[str, str], list[str]]] = []
    balance: Balance | None = None
    intensity: Intensity = Intensity(None, "")
    products: list[Product] = []
    node_joules: Joules = unavailable()
    carbon: Carbon | None = None  # of the nodes' joules
    nested: list[str] = []  # sentences on figures of nodes that are in no sum
    governed: list[str] = []
    sites: list[MergedSite] = []
    user_regions: list[UserRegion] = []  # that the program marks, and the time outside
    short: Shortage | None = None  # processes without a core
    unknown_cores: str = ""  # a sentence on processes whose time without a core is not known
    pop: Factors | None = None
    verdict: str = ""  # the most important fact of the run, in one sentence or two
    ended: str = ""  # how the job ended, where processes could not write their profiles
    ends: list[EndedRow] = []
    end_remarks: list[str] = []

    @property
    def exit_code(self) -> int | None:
        return self.run.manifest.exit_code

    @property
    def program(self) -> str:
        """The path of the program; empty where no process left a profile."""
        return self.profile.program if self.profile else ""

    @property
    def interval(self) -> str:
        """The name of the shown run among the intervals of an external meter."""
        return self.run.middle.directory.name if self.run.manifest.repeats else ""


def view(run: Run) -> View:
    """The view of a run, from its profiles and manifests."""
    record, profile = run.manifest, run.middle.profile
    nodes = len(profile.nodes) if profile is not None else 0
    extent = f" on {nodes} nodes" if nodes > 1 else ""
    extent += record.on_cluster + (f", {units.several(len(run.samples), 'repeat')}" if record.repeats else "")
    noun = profile.noun if profile is not None and profile.pes else record.noun
    repeats = [(m.label, spread(m, run.samples)) for m in metrics(run.samples)] if record.repeats else []
    begun = partial(
        View,
        run=run,
        profile=profile,
        title=shlex.join(record.command),
        noun=noun,
        pes=units.several(record.n_pes, noun) if record.knows_n_pes else "",
        extent=extent,
        took=f"{units.seconds(record.wall_s)} from start to end",
        lost=_lost(profile, run.middle.manifest),
        repeats=repeats,
        external=external.load(run.directory),
        jobs=jobs.of(run.middle.directory) if profile is not None else [],
        jobs_words=jobs.words(run.middle.directory) if profile is not None else "",
        slurm=found.words if (found := run.middle.manifest.slurm_energy) else "",
    )
    if profile is None or not profile.pes:
        return begun()
    domains = profile.node_domains
    joules = balance.of_nodes(profile, domains)
    grams = record.extra.get("carbon_g_per_kwh")
    sites, short, factors = merge(profile), no_core.shortage(profile), pop.factors(profile)
    return begun(
        domains=profile.domains,
        lines=_lines(profile),
        total=_total(profile),
        nodes=_node_lines(profile),
        one_machine=_one_machine(profile),
        idle=[profile.idle_joules(d) for d in domains],
        whole=[profile.node_joules(d) for d in domains],
        others=[profile.others_joules(d) for d in domains],
        meters=profile.meters,
        balance=balance.balance(profile),
        intensity=balance.intensity(profile),
        products=balance.products(joules, profile.wall_s),
        node_joules=joules,
        carbon=None if grams is None else carbons.of(joules, grams),
        nested=_nested(profile),
        governed=_governed(profile),
        sites=sites,
        user_regions=user_regions.merge(profile),
        short=short,
        unknown_cores=no_core.unknown(profile),
        pop=factors,
        verdict=verdicts.verdict(profile, sites, short, factors),
        ended=unfinished.words(profile, run.middle.manifest),
        ends=unfinished.rows(profile),
        end_remarks=unfinished.remarks(profile),
    )


def _governed(profile: RunProfile) -> list[str]:
    """The power budget, the changes of the governor, and the saving of a dry run."""
    budget, dry = power_budget.of(profile), balance.dry_run(profile)
    lines = (budget.words if budget else "", balance.governor_words(profile.pes), dry.words if dry else "")
    return [words for words in lines if words]


# ---- PEs and nodes ----


def _lines(profile: RunProfile) -> list[PELine]:
    """The PEs by node, in order of number."""
    found, domains = [], profile.domains
    for node, label in zip(profile.nodes, labels(profile.nodes), strict=True):
        for pe in node.pes:
            joules = tuple(find(pe.joules, domain) for domain in domains)
            seconds = tuple(of(pe) for _, of in COLUMNS)
            found.append(PELine(str(pe.pe), label, seconds, joules, no_core.is_unknown(pe), pe=pe))
    return found


def _nested(profile: RunProfile) -> list[str]:
    """A sentence for each node or accelerator that is measured and in no sum, without those that stand still."""

    def of(label: str) -> str:
        return f" of {label}" if len(profile.nodes) > 1 else ""

    return [
        f"In no sum, because it overlaps with other figures: {j.domain}{of(label)}, {j} by {j.source}."
        for node, label in zip(profile.nodes, labels(profile.nodes), strict=True)
        for j in node.nested
        if j.known and j.scope in ("node", "device")
    ]


def _total(profile: RunProfile) -> Line:
    """The sum over PEs. A PE without a profile makes the sum of joules unknown."""
    seconds = tuple(add(of(pe) for pe in profile.pes) for _, of in COLUMNS)
    name = "all" if profile.complete else "these"
    joules = tuple(profile.joules(domain) for domain in profile.domains)
    return Line(name, "", seconds, joules, is_bound=any(map(no_core.is_unknown, profile.pes)))


def domains_of(profile: RunProfile) -> list[str]:
    """The domains in which a node or PE has a known figure."""
    figures = [j for pe in profile.pes for j in (*(pe.node.joules if pe.node else ()), *pe.joules)]
    return list(dict.fromkeys(j.domain for j in figures if j.known))


def _node_lines(profile: RunProfile) -> list[NodeLine]:
    if len(profile.nodes) < 2:
        return []
    domains, found = domains_of(profile), []
    for node, label in zip(profile.nodes, labels(profile.nodes), strict=True):
        figures = [(d, node.share(d), node.idle(d), node.joules(d)) for d in domains]
        found.append(NodeLine(label, node.host, units.ranges(node.numbers), figures))
    figures = [(d, profile.joules(d), profile.idle_joules(d), profile.node_joules(d)) for d in domains]
    name = "all" if profile.all_nodes else "these"
    return [*found, NodeLine(name, f"{name} nodes", units.several(len(profile.pes), profile.noun), figures)]


def labels(nodes: Sequence[Node]) -> list[str]:
    """A short name for each node: without domain, or beginning, where the names stay different."""
    for cut in (_host_alone_short, _short, lambda host: host):
        found = [cut(node.host) for node in nodes]
        if len(set(found)) == len(nodes):
            return found
    return [f"{_host_alone_short(node.host)}#{i}" for i, node in enumerate(nodes)]  # several hosts have the same name


def _short(host: str) -> str:
    return host if len(host) <= LABEL_WIDTH else "…" + host[1 - LABEL_WIDTH :]


def _host_alone_short(host: str) -> str:
    return _short(host.partition(".")[0])


def _one_machine(profile: RunProfile) -> str:
    """A remark where several nodes share a machine; empty where they do not."""
    shared = on_one_machine(profile.nodes)
    if not shared:
        return ""
    names = dict(zip(map(id, profile.nodes), labels(profile.nodes), strict=True))
    machines = Counter(node.boot_id for node in shared)
    lists = [" and ".join(names[id(node)] for node in shared if node.boot_id == boot_id) for boot_id in machines]
    who = "; ".join(f"{found} are one machine" for found in lists)
    if profile.counted_twice:
        return f"{who}: each read the machine's one sensor, so joules of several nodes are not added up."
    return f"{who}: the model takes each node for a machine of its own, idle draw included."


# ---- missing parts ----


def _lost(profile: RunProfile | None, manifest: Manifest) -> Lost:
    if profile is None:
        return Lost()
    hosts, readers, dropped = _silent_hosts(profile, manifest), _readers(profile), _dropped(profile)
    return Lost(dict(sorted(profile.damaged.items())), profile.missing, _why_lost(manifest), hosts, readers, dropped)


def _why_lost(manifest: Manifest) -> str:
    if manifest.extra.get("interrupted"):
        return "interrupted"
    killed = "killed, aborted" if manifest.exit_code else "ended without finalize"
    unseen = ", or linked with its MPI statically" if manifest.extra.get("mpi") and not manifest.exit_code else ""
    return f"{killed}, or never initialised{unseen}"


def _silent_hosts(profile: RunProfile, manifest: Manifest) -> str:
    """The hosts of the job that left no profile, with advice; empty where there are none."""
    if not (profile.missing and profile.pes and manifest.hosts):
        return ""
    seen = [node.host for node in profile.nodes]
    silent = [host for host in manifest.hosts if not any(_alike(host, other) for other in seen)]
    if not silent:
        return ""
    folder = profile.directory / "profile"
    advice = f"Every host must be able to write to {folder}; give a directory on a file system they share with -o."
    # hosts have other names for themselves
    if any(not any(_alike(host, other) for host in manifest.hosts) for other in seen):
        return f"Profiles came only from {_names(seen)}; the job was given {_names(manifest.hosts)}. {advice}"
    return f"No profile came from {_names(silent)}. {advice}"


def _alike(host: str, other: str) -> bool:
    """Whether two names are of one host, with or without the domain."""
    return host == other or (host.partition(".")[0] == other.partition(".")[0] and ("." in host) != ("." in other))


def _names(hosts: list[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"{', '.join(hosts[:-1])} and {hosts[-1]}"


def _readers(profile: RunProfile) -> str:
    """Hosts whose meter several PEs claim to read; empty where there are none."""
    found = [node for node in profile.nodes if len(node.readers) > 1]
    said = [f"{units.numbered(profile.noun, node.readers)} each read the meter of {node.host}" for node in found]
    if not said:
        return ""
    return (
        f"{'; '.join(said)}: several nodes of one name, which cannot be distinguished, so their joules are not known."
    )


def _dropped(profile: RunProfile) -> str:
    """The number of messages that the PEs dropped; empty where there are none."""
    if profile.network is None:
        return ""
    dropped = profile.network.dropped
    counts = {"foreign": dropped["foreign"], "malformed": dropped["malformed"]}
    said = [f"{units.count(value)} {key}" for key, value in counts.items() if value]
    if not said:
        return ""
    pes = [pe.pe for pe in profile.pes if pe.network and any(pe.network.dropped.values())]
    total = sum(value for value in counts.values() if value)
    messages = f"{' and '.join(said)} message{'s' if total != 1 else ''}"
    return (
        f"{profile.noun} {units.ranges(pes)} dropped {messages} from the network: "
        "a program outside this job sends to its ports. None was written to memory."
    )


# ---- call sites ----


def unresolved(sites: Sequence[MergedSite]) -> list[str]:
    """The reasons why some sites have no file and line, each once."""
    reasons = dict.fromkeys((s.place.module, s.place.why) for s in sites if s.place.why)
    return [f"No lines of {module or '?'}: {why}." for module, why in reasons]


def passed(profile: RunProfile) -> str:
    """A remark on calls that Wattle's module for the MPI does not know; empty where there were none."""
    calls: Counter[str] = Counter()
    for pe in profile.pes:
        calls.update({passed.call: passed.calls for passed in pe.passed})
    if not calls:
        return ""
    named = ", ".join(f"{name} ({n})" for name, n in calls.most_common())
    return f"Calls that passed unchanged and untimed, because Wattle's module for this MPI does not have them: {named}."


def overrun(profile: RunProfile) -> str:
    """A remark where the call sites of a PE add up to more than its time. Short calls are timed by sample. A sample
    during which the PE lost its core then stands for many calls that did not.
    """
    over = []
    for pe in profile.pes:
        in_calls = add(site.time_s for site in pe.sites)
        if in_calls is not None and pe.wall_s is not None and in_calls > TOLERATED * pe.wall_s:
            over.append(pe.pe)
    if not over:
        return ""
    return (
        f"Call sites of {profile.noun} {units.ranges(over)} add up to more than its time: short calls are timed by "
        "sample, and a sample was interrupted. Take their time and joules as an order of magnitude."
    )
