"""The study of clocks under a put: the cost at sender and receiver, by the receiver's clock and wait policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattle.record import profile
from wattle.study.receiver.judges import PHASES, PLANES, PUTS, ROWS, WAYS, wanted_clocks
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.family import Sweep, in_joules
from wattle.study.sweep.plan import Job, Plan
from wattle.text import units

FRAGMENTS, QUICK_FRAGMENTS = tuple(4**k for k in range(9)), (1, 64, 1024, 65536)
PHASES_AT = "1024"  # number of fragments whose phases are metered
REPEATS, QUICK_REPEATS = 4, 2
AGENT = (("WATTLE_PROGRESS", "agent"),)


def _by_hardware(folder: Path, pes: int) -> dict[str, Any]:
    """Bytes that the network moved by itself for the PEs of a job."""
    network = profile.load(folder, pes).network if any((folder / "profile").glob("pe-*.json")) else None
    return {"hardware_bytes": network.bytes["hardware"] if network else 0}


def _job(series: str, words: tuple[str, ...], samples: int, wait: str = "spin", **more: Any) -> Job:
    return Job(series, "receiver", words, samples, wait=wait, keep=_by_hardware, **more)


def _jobs(plan: Plan) -> list[Job]:
    cases = tuple(map(str, QUICK_FRAGMENTS if plan.quick else FRAGMENTS))
    least = "0.01" if plan.quick else "0.1"
    found = []
    for way in WAYS:
        repeats = plan.repeats(QUICK_REPEATS if plan.quick else REPEATS)
        words = ("--how", way, "--repeat", str(repeats), "--least", "0" if plan.simulated else least, *cases)
        own = AGENT if way == "agent" else ()
        lines = 2 * len(cases) * repeats
        metered = (*words[: -len(cases)], "--phases", "yes", PHASES_AT)
        found.append(_job(PHASES, metered, 2 * repeats, settings=own))
        found += [_job(PUTS, words, lines, wait=wait, settings=own) for wait in WAITS]
        for clock in wanted_clocks(plan.knob):
            at = (*own, ("WATTLE_CLOCKS", f"1={clock:g}"))
            found.append(_job(PUTS, words, lines, clock=clock, settings=at))
            found.append(_job(PHASES, metered, 2 * repeats, clock=clock, settings=at))
        if plan.knob.acts:  # D 12.7: all cores of one plane run at the highest clock that one of them requests
            low = wanted_clocks(plan.knob)[0]
            plane = (*own, ("WATTLE_CLOCKS", f"0-1={low:g}"), ("WATTLE_CLOCK_DOMAIN", "package"))
            found.append(_job(PLANES, words, lines, clock=low, settings=plane))
    return found


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """A table at the middle number of fragments, by way and policy."""
    points = a.select(series=PUTS, who="sender")
    middle = sorted({p.x or 0 for p in points})[len({p.x for p in points}) // 2]
    lines = []
    for point in (p for p in points if p.x == middle):
        receiver = a.like(point, who="receiver")
        lines.append(
            [
                point.name,
                point.policy if point.clock is None else f"{point.wait}, {point.clock:g} GHz",
                units.seconds(a.median("seconds", point)),
                units.seconds(a.median("cpu_s", receiver)),
                *(in_joules(a, "own", p) for p in (point, receiver)),
            ]
        )
    title = (
        f"512 KiB in {middle:,.0f} fragments: medians of {units.several(a.repeats, 'sample')}, joules {a.provenance}"
    )
    return title, ["way", "policy", "latency", "receiver's CPU", "sender's joules", "receiver's joules"], lines


STUDY = Sweep(
    name="receiver",
    title="Clocks under a put",
    question="What does the receiver of a put cost, by its work, its wait policy and its clock?",
    jobs=_jobs,
    system="sandybridge-fdr",
    rows=ROWS,
    table=_table,
    at="{x} fragments",
)
