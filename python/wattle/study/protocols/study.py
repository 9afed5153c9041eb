"""The study of two-sided protocols: TCP and InfiniBand, eager and rendezvous, in bytes per joule. Simulated."""

from __future__ import annotations

from wattle import units
from wattle.errors import WattleError
from wattle.sim import cluster as clusters
from wattle.sim import simulation
from wattle.sim.simulation import Simulation
from wattle.study.place import SIMULATED
from wattle.study.protocols.judges import (
    CONFIGURATIONS,
    ROWS,
    Configuration,
    best,
    efficiency,
    pays_from,
    per_joule,
    power,
)
from wattle.study.sweep.analysis import Analysis
from wattle.study.sweep.plan import Job, Plan, Sweep
from wattle.units import si

# The largest sizes in the text, and D 2.1's example. A rendezvous repeats its waits for each message.
PAYLOADS, QUICK_PAYLOADS = tuple(4**k for k in range(11)), (1, 1024, 131072, 1048576)
MOST_FRAGMENTS, QUICK_MOST_FRAGMENTS = 16384, 1024
EXAMPLE = ((32768, 2), (32768, 64))
WAITS = ("spin", "adaptive")
NEVER, ALWAYS = 1 << 30, 0  # message size in bytes from which a sender waits for its receiver


def check_place(on: str) -> None:
    """Raises WattleError for any place but the simulation. No option selects a protocol in all MPIs, and there is no
    InfiniBand here.
    """
    if on != SIMULATED:
        names = " and ".join(dict.fromkeys(c.cluster for c in CONFIGURATIONS))
        raise WattleError(f"--on {on}: this study is simulated, on {names}; allowed: {SIMULATED}")


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


def _jobs(plan: Plan) -> list[Job]:
    words = [f"{payload}:{n}" for payload, n in cases(plan.quick)]
    return [
        Job(c.name, "protocols", ("--least", "0", *words), 2 * len(words), wait=wait, machine=machine(c))
        for c in CONFIGURATIONS
        for wait in WAITS
    ]


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    lines = []
    for c in CONFIGURATIONS:
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
    told = [f"{p.series} {per_joule(value)}" for p in points if (value := efficiency(a, p)) is not None]
    return f"Bytes per joule of {units.size(points[0].x or 0)} in one message: {', '.join(told)}." if told else ""


SWEEP = Sweep(
    name="protocols",
    title="Protocols of two-sided messages",
    question="How many bytes does a joule move by TCP and by InfiniBand, eagerly and by rendezvous?",
    jobs=_jobs,
    rows=ROWS,
    table=_table,
    paper="the dissertation (D: S. Jana, 2016) and the Euro-Par paper before it",
    says=_says,
    at="{x} B",
)
