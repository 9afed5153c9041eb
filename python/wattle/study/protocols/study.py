"""The study of two-sided protocols, eager and rendezvous, in bytes per joule: by real MPIs, or simulated by TCP and
InfiniBand.
"""

from __future__ import annotations

from dataclasses import replace

from wattle.sim import cluster as clusters
from wattle.sim import simulation
from wattle.sim.simulation import Simulation
from wattle.study.protocols.configurations import MPICH, SHARED, SIMULATED, TCP, Configuration, measured
from wattle.study.protocols.judges import ROWS, best, efficiency, pays_from, per_joule, power, present, strayed
from wattle.study.sweep.analysis import Analysis
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.plan import Job, Plan
from wattle.text import units
from wattle.text.units import si

# The largest sizes in the text, and D 2.1's example. A rendezvous repeats its waits for each message.
PAYLOADS, QUICK_PAYLOADS = tuple(4**k for k in range(11)), (1, 1024, 131072, 1048576)
MOST_FRAGMENTS, QUICK_MOST_FRAGMENTS = 16384, 1024
EXAMPLE = ((32768, 2), (32768, 64))
WAITS = ("spin", "adaptive")
NEVER, ALWAYS = 1 << 30, 0  # message size in bytes from which a sender waits for its receiver
REAL_PAYLOADS, REAL_QUICK_PAYLOADS = tuple(4**k for k in range(3, 11)), (1024, 32768, 1048576)
REAL_COUNTS, REAL_QUICK_COUNTS = tuple(4**k for k in range(8)), (1, 16, 256)
REPEATS, LEAST_S, QUICK_LEAST_S = 3, 0.01, 0.002
TRIES = 3  # MPICH's launcher may fail at the end of a job whose ranks do not return from MPI_Finalize


def machine(of: Configuration) -> Simulation:
    """Two ranks, each alone on a socket."""
    how = f"This study's: {'all' if of.eager else 'no'} messages are eager."
    described = clusters.read(of.cluster).with_value("eager", NEVER if of.eager else ALWAYS, how)
    return simulation.alone_on_sockets(simulation.plan(described, 2, {}))


def cases(quick: bool) -> list[tuple[int, int]]:
    """(payload, messages): every second of the papers' powers of two; with --quick about every tenth."""
    payloads, most = (QUICK_PAYLOADS, QUICK_MOST_FRAGMENTS) if quick else (PAYLOADS, MOST_FRAGMENTS)
    counts = [4**k for k in range(13) if 4**k <= most]
    return [*EXAMPLE, *((payload, n) for payload in payloads for n in counts if n <= payload and payload % n == 0)]


def _real_cases(quick: bool, smallest: int) -> list[tuple[int, int]]:
    """(payload, messages) for real MPIs, without messages that one of the protocols does not take."""
    payloads, counts = (REAL_QUICK_PAYLOADS, REAL_QUICK_COUNTS) if quick else (REAL_PAYLOADS, REAL_COUNTS)
    found = [*EXAMPLE, *((payload, n) for payload in payloads for n in counts)]
    return [(payload, n) for payload, n in dict.fromkeys(found) if payload >= smallest * n]


def _jobs(plan: Plan) -> list[Job]:
    if not plan.simulated:
        return _real_jobs(plan)
    words = [f"{payload}:{n}" for payload, n in cases(plan.quick)]
    return [
        Job(c.name, "protocols", ("--least", "0", *words), 2 * len(words), wait=wait, machine=machine(c))
        for c in SIMULATED
        for wait in WAITS
    ]


def _real_jobs(plan: Plan) -> list[Job]:
    """Jobs of each MPI with its eager limit moved to either end: by TCP between nodes, else by shared memory."""
    found = []
    for c in measured(TCP if plan.place.across else SHARED):
        words = [f"{payload}:{n}" for payload, n in _real_cases(plan.quick, c.smallest)]
        least = QUICK_LEAST_S if plan.quick else LEAST_S
        options = ("--probe", "--least", f"{least:g}", "--repeat", str(REPEATS), *words)
        job = Job(c.name, f"protocols-{c.mpi}", options, 2 * REPEATS * len(words), settings=c.settings, optional=True)
        found += [replace(job, wait=wait, tries=TRIES if c.mpi == MPICH else 1) for wait in WAITS]
    return found


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    lines = []
    for c in present(a):
        found, since = best(a, c), pays_from(a, c)
        watts = [None if found is None else power(a, found[0], who) for who in ("sender", "receiver")]
        lines.append(
            [
                c.name,
                units.UNKNOWN if found is None else f"{units.significant(found[1] / 1e6, 3)} MB/J",
                units.UNKNOWN if since is None else units.size(since),
                *(units.UNKNOWN if w is None else si(w, "W") for w in watts),
            ]
        )
    title = f"Most bytes per joule of both ranks, spinning: CPU and DRAM, {a.provenance}"
    return title, ["", "best", "within 10 % from messages of", "sender's CPU there", "receiver's"], lines


def _says(a: Analysis) -> str:
    points = [p for p in a.select(wait="spin", who="sender") if p.x == max(p.x or 0 for p in a.points) and p.y == 1]
    facts = [f"{p.series} {per_joule(value)}" for p in points if (value := efficiency(a, p)) is not None]
    wrong = [p for p in a.select(who="sender") if strayed(a, p)]
    lost = f" {units.several(len(wrong), 'case')} went by the other protocol and are left out." if wrong else ""
    if not facts:
        return lost.strip()
    return f"Bytes per joule of {units.size(points[0].x or 0)} in one message: {', '.join(facts)}.{lost}"


STUDY = Sweep(
    name="protocols",
    title="Protocols of two-sided messages",
    question="How many bytes does a joule move, by eager messages and by rendezvous?",
    jobs=_jobs,
    rows=ROWS,
    table=_table,
    paper="the dissertation (D: S. Jana, 2016) and the Euro-Par paper before it",
    says=_says,
    at="{x} B",
    systems=tuple(dict.fromkeys(c.cluster for c in SIMULATED)),
)
