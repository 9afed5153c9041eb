"""Two PEs, each on its own node: the network by libfabric compared with UCX, and with Sandia OpenSHMEM over libfabric.

Both users of libfabric take its provider tcp;ofi_rxm. Sandia OpenSHMEM is no package of Debian: SOS_OSHCC names its
compiler wrapper (docs/bench.md).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from wattle.machine.nodes import Nodes
from wattle.text.console import progress

from bench import two_nodes
from bench.jobs import BenchError, Side, Toolchain, across, alternate, build
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, say_skipped, section

PROVIDER = "tcp;ofi_rxm"
OFI = {"WATTLE_NETWORK": "ofi", "FI_PROVIDER": PROVIDER}
UCX = {"WATTLE_NETWORK": "ucx"}
SOS = {"FI_PROVIDER": PROVIDER, "SHMEM_OFI_PROVIDER": PROVIDER}
ROWS = [Row(row.key, row.label, row.bytes) for row in two_nodes.ROWS]


def sos_oshcc() -> Path | None:
    """The compiler wrapper of Sandia OpenSHMEM; None where SOS_OSHCC does not name one. Raises BenchError."""
    named = os.environ.get("SOS_OSHCC")
    if named and not Path(named).exists():
        raise BenchError(f"SOS_OSHCC={named}: there is no such file; name the oshcc of Sandia OpenSHMEM, or unset it")
    return Path(named) if named else None


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    return two_nodes.on_two_nodes("libfabric", measure, options, tools)


def measure(options: argparse.Namespace, tools: Toolchain, nodes: Nodes) -> dict:
    """Runs the section on existing nodes."""
    launch, program, sos = across(nodes, 1), tools.ours("micro.c"), sos_oshcc()
    sides = [Side("libfabric", program, launch, OFI), Side("UCX", program, launch, UCX)]
    if sos:
        sides.append(Side("SOS", build(sos, "micro.c", "sos"), launch, SOS))
    with progress("libfabric", options.pairs * len(sides)) as steps:
        rounds = alternate(sides, options.pairs, ["far", "waiting"], steps.advance)
    result: dict = {"settings": OFI, "raw": {"rounds": rounds}}
    by_ucx = compare(ROWS, between(rounds, 0, 1))
    section("Two nodes: WATTLE_NETWORK=ofi and ucx", comparison_table("libfabric", "UCX", by_ucx, best=True))
    result["rows_ucx"] = as_data(by_ucx)
    if sos:
        by_sos = compare(ROWS, between(rounds, 0, 2))
        section("Two nodes: Wattle and SOS over libfabric", comparison_table("libfabric", "SOS", by_sos, best=True))
        result["rows_sos"] = as_data(by_sos)
    else:
        say_skipped("Two nodes: no comparison with Sandia OpenSHMEM, which SOS_OSHCC does not name")
    return result
