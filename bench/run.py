"""Compares this OpenSHMEM with Debian's, in pairs of runs that alternate.

A small machine can change its speed from one second to the next, so only consecutive runs are compared. Two of them
are a pair. The report gives the median of the pairs' ratios with its quartiles. docs/bench.md explains the rows.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "python")]

from wattle.base import files  # noqa: E402
from wattle.base.errors import WattleError  # noqa: E402
from wattle.record import manifest  # noqa: E402
from wattle.report import cli as report  # noqa: E402
from wattle.report.bench_file import Bar  # noqa: E402
from wattle.text.console import json_text, note, out, plain  # noqa: E402
from wattle.text.units import several  # noqa: E402

from bench import (  # noqa: E402
    armci,
    collectives,
    crowd,
    governor,
    libfabric,
    limits,
    memory,
    merging,
    messages,
    mpi,
    mpi_price,
    one_node,
    scale,
    shaped,
    start,
    two_nodes,
    verdicts,
    waits,
)
from bench.jobs import FLAGS, OUT, BenchError, Toolchain, part_of_home, peer_oshcc  # noqa: E402
from bench.pairs import FEWEST  # noqa: E402
from bench.part import Part  # noqa: E402
from bench.show import section  # noqa: E402

SECTIONS: dict[str, Callable[[Part], None]] = {
    "machine": limits.run,
    "local": one_node.run,
    "crowd": crowd.run,
    "collectives": collectives.run,
    "waits": waits.run,
    "nodes": two_nodes.run,
    "merging": merging.run,
    "libfabric": libfabric.run,
    "am": messages.run,
    "shaped": shaped.run,
    "scale": scale.run,
    "start": start.run,
    "memory": memory.run,
    "mpi": mpi.run,
    "mpi-price": mpi_price.run,
    "governor": governor.run,
    "armci": armci.run,
}


SCHEMA = 3  # docs/bench.md describes the file
BUSY = 0.7  # load average before the first job, above which other work runs


def sections(text: str) -> list[str]:
    """The value of --only."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    wrong = [name for name in names if name not in SECTIONS]
    if wrong or not names:
        raise argparse.ArgumentTypeError(f"{text!r}: sections are {', '.join(SECTIONS)}, separated by commas")
    return [name for name in SECTIONS if name in names]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", type=sections, default=list(SECTIONS), metavar="A,B", help=f"sections: {', '.join(SECTIONS)}"
    )
    parser.add_argument("--pairs", type=int, help=f"pairs of runs (default 9, at least {FEWEST})")
    parser.add_argument("--wait-pairs", type=int, help="pairs of runs of the waiting tests (default 2)")
    parser.add_argument("--wait-seconds", type=float, default=3, help="seconds that the PE waits (default 3)")
    parser.add_argument("--memory-rounds", type=int, help="number of memory measurements (default 2)")
    parser.add_argument("--quick", action="store_true", help="few runs and small jobs, for development: no verdicts")
    parser.add_argument(
        "--within", type=float, metavar="SECONDS", help="begin no section later than this; sections left out are listed"
    )
    parser.add_argument("--out", type=Path, default=OUT / "bench.json", help="file for the figures")
    options = parser.parse_args(arguments)
    for name, usual, quick in (("pairs", 9, 3), ("wait_pairs", 2, 1), ("memory_rounds", 2, 1)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else usual)
    if options.pairs < (1 if options.quick else FEWEST):
        parser.error(f"--pairs must be at least {FEWEST} for useful quartiles (with --quick, at least 1)")
    if options.within is not None and not options.within > 0:
        parser.error("--within must be more than 0 seconds")
    if options.wait_pairs < 1 or options.memory_rounds < 1 or options.wait_seconds <= 0:
        parser.error("--wait-pairs and --memory-rounds must be at least 1 and --wait-seconds more than 0")
    return options


def prepare(options: argparse.Namespace) -> tuple[Toolchain, dict[str, Any]]:
    """The compilers, and the file's description of this run. Prints the lines above the tables."""
    if not shutil.which("mpirun"):
        raise BenchError("mpirun is missing; run `make deps`")
    peer, peer_name = peer_oshcc()
    tools = Toolchain(part_of_home("bin/oshcc"), peer, peer_name)
    cores = len(os.sched_getaffinity(0))
    out.print(f"{manifest.cpu_name()}, {cores} cores; {several(options.pairs, 'pair')}, alternating; profile on")
    out.print("ratio: Wattle's time over the other's, median of pairs; below 1: Wattle faster")
    if (load := os.getloadavg()[0]) > BUSY:
        out.print(
            plain(
                f"load average {load:.1f}: other work is running here; expect a larger spread of the ratios", "partly"
            )
        )
    out.print(f"peer: {peer_name}" if peer else plain(f"No peer to compare with: {peer_name}", "partly"))
    out.print()
    return tools, {
        "started": manifest.now(),
        "command": ["bench/run.py", *sys.argv[1:]],
        "host": manifest.host_info(),
        "versions": manifest.versions(),
        "load_average": load,
        "peer": peer_name if peer else None,
        "flags": FLAGS,
        "pairs": options.pairs,
        "quick": options.quick,
        "settings": {k: v for k, v in os.environ.items() if k.startswith(("WATTLE_", "SHMEM_", "UCX_", "OMPI_MCA_"))},
    }


def measure(options: argparse.Namespace, result: dict[str, Any]) -> int:
    """Runs the chosen sections, which print their tables, and adds their parts of the file to `result`. A section that
    fails does not keep the others from being measured. Returns 1 where one failed, else 0.
    """
    code = 0
    tools, result["about"] = prepare(options)
    result |= {"bars": [], "limits": [], "left_out": []}
    started = time.monotonic()
    for name in options.only:
        began = time.monotonic()
        if options.within is not None and began - started > options.within:
            result["left_out"].append(name)
            continue
        try:
            SECTIONS[name](part := Part(options, tools))
        except (BenchError, WattleError, OSError) as error:
            note(f"bench: {name}: {error}")
            code = 1
            continue
        code = 1 if part.failed else code
        result["bars"] += verdicts.as_data(part.bars)
        result["limits"] += [limits.as_data(*limit) for limit in part.limits]
        result[name] = part.found | {"wall_s": time.monotonic() - began}
    return code


def tell(result: dict[str, Any]) -> None:
    """Prints the two tables at the end: every bar, and the machine's own limits."""
    if result["bars"]:
        section("The bars", verdicts.table_of([Bar(**bar) for bar in result["bars"]]))
    if result["limits"]:
        section("The machine's own limits", limits.table_of(result["limits"]))
    if result["left_out"]:
        note(f"bench: left out for lack of time (--within): {', '.join(result['left_out'])}")


def why_not(folder: Path, file: Path | None = None) -> str | None:
    """The reason why programs cannot be built and started in the folder, or why a file cannot be written there: other
    users may write to it, or this user may not. Checked before the benchmark spends minutes.
    """
    try:
        if file:
            folder.mkdir(parents=True, exist_ok=True)
            files.check_replaceable(file)
        else:
            files.make_folder(folder)
        files.try_writing(folder)
    except OSError as error:
        return error.strerror
    return None


def write(options: argparse.Namespace, result: dict[str, Any]) -> None:
    """Writes the file with the complete sections and their samples."""
    files.write_atomically(options.out, json_text({"schema": SCHEMA, **result}, indent=1))
    out.print(f"figures: {options.out}", soft_wrap=True)
    out.print(f"page: {report.write(options.out)}", soft_wrap=True)


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmark. The exit code shows whether there are figures, not whether they are good."""
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that jobs and nodes are removed
    result: dict[str, Any] = {}
    code = 0
    if why := why_not(OUT):
        note(f"bench: nothing can be written into {OUT}: {why}; BENCH_OUT names another folder")
        return 73
    if why := why_not(options.out.parent, options.out):
        note(f"bench: {options.out} cannot be written: {why}; --out names another file")
        return 73
    try:
        code = measure(options, result)
    except (BenchError, WattleError) as error:
        note(f"bench: {error}")
        code = 1
    except (KeyboardInterrupt, SystemExit) as ended:
        note("bench: interrupted; complete sections are kept")
        code = 130 if isinstance(ended, KeyboardInterrupt) else int(ended.code or 0)
    if any(name in result for name in SECTIONS):
        tell(result)
        write(options, result)
    return code


if __name__ == "__main__":
    sys.exit(main())
