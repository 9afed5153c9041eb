#!/usr/bin/env python3
"""Compares the saving that `wattle advise` predicts for the programs of examples/advice with the measured one.

Each program and its mended twin run in alternation. Both are judged by the wall time of their quickest run, because
other programs only add time. The prediction comes from the quickest run of the flawed one. A prediction holds if the
measured saving lies in its interval. No finding holds if the change saves less than 1 %.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = Path(os.environ.get("WATTLE_HOME", ROOT / "build/release"))
sys.path.insert(0, str(ROOT / "python"))

from wattle.advise.evidence import Evidence  # noqa: E402
from wattle.advise.finding import LEAST  # noqa: E402
from wattle.advise.given import advise  # noqa: E402
from wattle.record.profile import load  # noqa: E402
from wattle.text.console import note, out, print_json  # noqa: E402

FOLDER = ROOT / "examples/advice"
# Those whose flaw shows within a node.
# PEs, and rounds for a run of about a second on an idle core. One PE, where a program allows it, waits for no other.
PROGRAMS = {
    "quiet_each": (1, 4000),
    "adjacent": (1, 8000),
    "strided": (1, 16000),
    "flag": (1, 4000),
    "get_put": (1, 4000),
    "unchanged": (1, 20_000_000),
    "imbalance": (2, 40),
    "small_sends": (2, 2000),
    "barrier_before": (2, 20_000),
    "small_isends": (2, 4000),
    "reductions": (2, 20_000),
    "reductions_fortran": (2, 20_000),
    "reductions_shmem": (2, 400_000),
    "barrier_exchange": (4, 20_000),
    "windows": (2, 200),
    "late_receiver": (2, 100),
    "neighbours": (4, 3000),
    "armci_fence_each": (1, 4000),
    "armci_get_put": (1, 4000),
}


def compiled(name: str, folder: Path, *options: str) -> Path:
    source, program = source_of(name), folder / f"{name}{''.join(options)}"
    command = [str(HOME / "bin/oshcc")]
    link: list[str] = []
    if is_mpi(name):
        command = ["mpicc.openmpi", f"-I{ROOT}/include"]
        if source.suffix == ".f90":
            command = ["mpif90.openmpi", "-cpp"]
        link = [f"-L{HOME}/lib", f"-Wl,-rpath,{HOME}/lib", "-larmci"] if name.startswith("armci") else []
    subprocess.run([*command, "-g", "-O2", *options, source, "-o", program, *link], check=True)
    return program


def is_mpi(name: str) -> bool:
    source = source_of(name)
    return source.suffix == ".f90" or "mpi.h" in source.read_text()


def source_of(name: str) -> Path:
    return next(FOLDER.glob(f"{name}.*"))


def run(program: Path, name: str, directory: Path, job_of: tuple[int, int]) -> float:
    """Runs a program with so many PEs and rounds. Returns the seconds of its longest PE."""
    pes, rounds = job_of
    launcher = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(pes)]
    job = ["--mpi", "--", *launcher] if is_mpi(name) else ["-n", str(pes), "--"]
    command = [sys.executable, "-m", "wattle", "run", "--meter", "model", "-o", str(directory), *job]
    environment = {**os.environ, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(ROOT / "python")}
    subprocess.run([*command, program, str(rounds)], env=environment, capture_output=True, check=True)
    return Evidence(load(directory), str(program)).wall_s


def measure(name: str, repeats: int, job_of: tuple[int, int], folder: Path) -> dict[str, object]:
    programs = {"flawed": compiled(name, folder), "mended": compiled(name, folder, "-DMENDED")}
    times: dict[str, list[float]] = {kind: [] for kind in programs}
    for i in range(repeats):
        for kind, program in programs.items():
            times[kind].append(run(program, name, folder / f"{name}-{kind}-{i}", job_of))
    flawed, mended = (min(times[kind]) for kind in programs)
    measured = 1 - mended / flawed
    quickest = times["flawed"].index(flawed)
    found = advise(folder / f"{name}-flawed-{quickest}").findings
    share = found[0].saved.share if found else None
    holds = share.lo <= measured <= share.hi if share else measured < LEAST
    return {
        "program": name,
        "rule": found[0].rule if found else None,
        "predicted_percent": [100 * share.lo, 100 * share.hi] if share else None,
        "measured_percent": 100 * measured,
        "holds": holds,
        "flawed_s": times["flawed"],
        "mended_s": times["mended"],
    }


def show(row: dict[str, object]) -> None:
    predicted = row["predicted_percent"]
    words = f"{predicted[0]:.0f} to {predicted[1]:.0f} %" if isinstance(predicted, list) else "no finding"
    verdict = "holds" if row["holds"] else "does not hold"
    rule = f"`{row['rule']}`" if row["rule"] else ""
    out.print(f"| `{row['program']}` | {rule} | {words} | {row['measured_percent']:.0f} % | {verdict} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), help="names of examples/advice; default: all")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each program")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--pes", type=int, default=0, help="PEs of each program; default: the least it needs")
    options = parser.parse_args()
    note("| program | rule | predicted saving of time | measured | |")
    note("|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.programs:
            pes, rounds = PROGRAMS[name]
            job_of = max(pes, options.pes), max(1, round(rounds * options.scale))
            if job_of[0] > len(os.sched_getaffinity(0)):
                note(f"{name} needs {job_of[0]} cores, one for each PE: left out")
                continue
            rows.append(measure(name, options.repeats, job_of, Path(folder)))
            if not options.json:
                show(rows[-1])
    if options.json:
        print_json(rows)
    else:
        out.print(f"{sum(bool(row['holds']) for row in rows)} of {len(rows)} predictions hold")


if __name__ == "__main__":
    main()
