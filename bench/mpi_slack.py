"""Replays recorded MPI programs under the simulated governor, and writes what it saves.

usage: mpi_slack.py record RUN NAME WORDS   adds a run of `wattle run --timeline --mpi` to bench/recorded
       mpi_slack.py [--write]               prints the table, or writes it into docs/appendix/mpi-slack.md
       mpi_slack.py --many [NAME...]        prints the rows of 512 ranks: a minute or two for each cell
       mpi_slack.py --check                 runs the rows of the recorded size and compares them with the page

A recording holds the time that each rank computes before each call in which all ranks wait for all (docs/mpi.md). The
simulated program (replay.c) computes for that time and then synchronizes. So clocks, waits and the governor's decisions
are those of the runtime. Other waits of a rank, such as for a neighbour, become part of its next synchronization.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from wattle.sim import replay, simulation
from wattle.text.console import error, note, out

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "bench" / "recorded"
PAGE = ROOT / "docs" / "appendix" / "mpi-slack.md"
BEGIN, END = "<!-- bench/mpi_slack.py -->", "<!-- end -->"
HOME = Path(os.environ.get("WATTLE_HOME", ROOT / "build" / "release"))
MACHINE = "sandybridge-ib"
SITES = 16  # of replay.c
MANY = 512  # ranks
PART = 200  # most synchronizations of a replay with many ranks: a simulation of 512 ranks is long
NEAR = 8  # synchronizations on either side from which the deviation of a rank is drawn
LONGEST = (
    99  # percentile to which deviations are cut, so that single disturbances of the recording machine do not count
)
SEED = 1

OFF = {"WATTLE_WAIT": "spin"}
MODES = {
    "reactive": OFF | {"WATTLE_GOVERN": "energy"},
    "proactive": OFF | {"WATTLE_GOVERN": "energy", "WATTLE_SCALING": "proactive"},
    "hybrid": OFF | {"WATTLE_GOVERN": "hybrid", "WATTLE_SCALING": "proactive"},
    "sleeping": {"WATTLE_WAIT": "adaptive"},
}


@dataclass(frozen=True)
class Recording:
    """`compute`: seconds by synchronization and rank. `sites`: of each synchronization, numbers below SITES."""

    name: str
    words: str
    compute: np.ndarray
    sites: np.ndarray

    @property
    def ranks(self) -> int:
        return int(self.compute.shape[1])


def load(name: str) -> Recording:
    with gzip.open(RECORDED / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        found = json.load(file)
    return Recording(name, found["words"], 1e-9 * np.array(found["compute_ns"]), np.array(found["sites"]))


def names() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in RECORDED.glob("*.json.gz"))


# ---- record ----


def record(run: Path, name: str, words: str) -> None:
    from wattle.figures import intervals
    from wattle.record import runs
    from wattle.record.timeline_file import Span, load
    from wattle.sim import recorded

    profile = runs.load(run).middle.profile
    if profile is None:
        raise SystemExit(f"{run}: the run has no profile")
    trace = recorded.read(profile).trace
    timeline = load(run / "profile")[0]
    begins = intervals.spans_of(timeline, True).collectives[:, 0]
    site_at: dict[float, int] = {}
    for events in timeline.events:
        some = events[events["span"] == Span.COLLECTIVE]
        site_at |= dict(zip(timeline.ns(some["begin"], True).astype(float), some["addr"].tolist(), strict=True))
    sites = [site_at[begin] for begin in begins]
    often = sorted(set(sites), key=sites.count, reverse=True)[: SITES - 1]
    numbers = [often.index(site) if site in often else SITES - 1 for site in sites]
    document = {
        "words": words,
        "sites": [*numbers, SITES - 1],
        "compute_ns": np.round(1e9 * trace.compute).astype(int).tolist(),
    }
    RECORDED.mkdir(exist_ok=True)
    with (RECORDED / f"{name}.json.gz").open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(json.dumps(document, separators=(",", ":")).encode())


# ---- more ranks ----


def scaled(of: Recording, ranks: int) -> Recording:
    """The same work on each of more ranks. A rank repeats the load of a recorded one. Its deviation from the mean is
    drawn from that rank's deviations in synchronizations of about the same length.
    """
    first = max(0, (len(of.compute) - PART) // 2)
    compute, sites = of.compute[first : first + PART], of.sites[first : first + PART]
    mean = compute.mean(axis=1)
    ratio = compute / np.maximum(mean, 1e-12)[:, np.newaxis]
    ratio = np.minimum(ratio, np.percentile(ratio, LONGEST, axis=0))
    order = np.argsort(mean, kind="stable")
    place = np.argsort(order, kind="stable")
    draws = np.random.default_rng(SEED).integers(-NEAR, NEAR + 1, (len(mean), ranks))
    drawn = order[np.clip(place[:, np.newaxis] + draws, 0, len(mean) - 1)]
    return Recording(of.name, of.words, mean[:, np.newaxis] * ratio[drawn, np.arange(ranks) % of.ranks], sites)


# ---- replay ----


@dataclass(frozen=True)
class Cost:
    seconds: float
    joules: float  # of cores and memory, with their share of the idle node


def write_input(of: Recording, path: Path) -> None:
    rows = np.column_stack([of.sites, np.round(1e9 * of.compute)]).astype("<u4")
    path.write_bytes(np.array(of.compute.shape[::-1], dtype="<u4").tobytes() + rows.tobytes())


def simulate(program: Path, data: Path, ranks: int, settings: dict[str, str]) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "run"
        words = [sys.executable, "-m", "wattle", "sim", "-n", str(ranks), "--machine", MACHINE, "-o", str(where)]
        words += [word for item in settings.items() for word in ("--set", "=".join(item))]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "WATTLE_HOME": str(HOME)}
        done = subprocess.run([*words, "--", program, data], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found = json.loads((where / "simulation.json").read_text())
    parts = [pe["joules"] for pe in found["pes"]]
    joules = sum(value for pe in parts for part, value in pe.items() if not part.startswith("network"))
    return Cost(found["simulated_s"], joules)


def most(of: Recording) -> tuple[float, float]:
    """The shares of the joules that an oracle saves by clocks without any loss of time: in the waits alone, and by any
    clock for the computing, too.
    """
    core = replay.core_of(simulation.plan(MACHINE, 1, {}))
    trace = replay.Trace(of.compute, np.zeros(len(of.compute)))
    base = replay.run(trace, core, replay.Policy("base clock", "spin")).joules
    waits = of.compute.max(axis=1, keepdims=True) - of.compute
    spin, active = core.watts["spin"], core.watts["active"][core.base]
    changes = 2 * core.change_s
    gains = waits * spin[core.base] - (waits - changes) * spin[0] - changes * active
    in_waits = float(np.maximum(gains, 0.0)[waits > changes].sum())
    return in_waits / base, 1 - replay.run(trace, core, replay.oracle("spin")).joules / base


def row_of(of: Recording, program: Path, folder: Path, pool: ThreadPoolExecutor) -> list[str]:
    data = folder / f"{of.name}-{of.ranks}"
    write_input(of, data)
    base, *costs = pool.map(lambda settings: simulate(program, data, of.ranks, settings), [OFF, *MODES.values()])
    slack = 1 - float(of.compute.sum() / (of.compute.max(axis=1).sum() * of.ranks))
    cells = [of.name, str(of.ranks), f"{1e3 * float(of.compute.max(axis=1).mean()):.2f} ms", f"{100 * slack:.0f} %"]
    cells += [f"{100 * share:.1f} %" for share in most(of)]
    for cost in costs:
        saved, longer = 100 * (1 - cost.joules / base.joules), 100 * (cost.seconds / base.seconds - 1)
        cells.append(f"{saved:.1f} %, {longer:+.1f} %")
    return cells


def table(ranks: list[int | None], programs: list[str] | None = None) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        program = Path(folder) / "replay"
        compiler, source = HOME / "bin" / "oshcc", ROOT / "bench" / "replay.c"
        subprocess.run([compiler, "--sim", "-O2", source, "-o", program], check=True)
        found = [load(name) for name in programs or names()]
        every = [scaled(one, n) if n else one for n in ranks for one in found]
        return [row_of(one, program, Path(folder), pool) for one in every]


BOUNDS = ["oracle, waits", "oracle"]
HEADS = ["program", "ranks", "between two", "slack", *BOUNDS, *MODES]


def text_of(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [HEADS, ["---"] * len(HEADS), *rows])


def means(rows: list[list[str]]) -> list[list[str]]:
    """The mean of each mode over the programs of one size."""
    found = []
    for size in dict.fromkeys(row[1] for row in rows):
        cells = [
            [tuple(map(float, re.findall(r"[+-]?[\d.]+", cell))) for cell in row[6:]] for row in rows if row[1] == size
        ]
        bounds = np.mean([[float(cell.split()[0]) for cell in row[4:6]] for row in rows if row[1] == size], axis=0)
        both = np.array(cells).mean(axis=0)
        numbers = [f"{bound:.1f} %" for bound in bounds]
        numbers += [f"{saved:.1f} %, {longer:+.1f} %" for saved, longer in both]
        found.append(["**mean**", size, "", "", *numbers])
    return found


def main() -> int:
    sys.path.insert(0, str(ROOT / "python"))
    words = sys.argv[1:]
    if len(words) == 4 and words[0] == "record":
        record(Path(words[1]), words[2], words[3])
    elif words in ([], ["--write"]):
        rows = table([None])
        text = text_of(rows + means(rows))
        if words:
            page = PAGE.read_text(encoding="utf-8")
            before, after = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
            PAGE.write_text(f"{before}\n{text}\n{after}", encoding="utf-8")
        else:
            out.print(text)
    elif words[:1] == ["--many"] and set(words[1:]) <= set(names()):
        rows = table([MANY], words[1:])
        out.print(text_of(rows + means(rows)))
    elif words == ["--check"]:
        page = PAGE.read_text(encoding="utf-8")
        wrong = [line for line in text_of(table([None])).split("\n")[2:] if line not in page]
        for line in wrong:
            error(f"not in {PAGE.name}: {line}")
        return bool(wrong)
    else:
        note(__doc__)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
