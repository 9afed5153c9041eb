"""Two PEs, each on its own node: the network by libfabric compared with UCX, and with Sandia OpenSHMEM over libfabric.

Both users of libfabric take its provider tcp;ofi_rxm. Sandia OpenSHMEM is no package of Debian: SOS_OSHCC names its
compiler wrapper (docs/bench.md).
"""

from __future__ import annotations

import os
from pathlib import Path

from wattle.machine.nodes import Nodes

from bench import two_nodes
from bench.jobs import BenchError, Side, across, build
from bench.pairs import between, without_bars
from bench.part import Part
from bench.show import say_skipped

PROVIDER = "tcp;ofi_rxm"
OFI = {"WATTLE_NETWORK": "ofi", "FI_PROVIDER": PROVIDER}
UCX = {"WATTLE_NETWORK": "ucx"}
SOS = {"FI_PROVIDER": PROVIDER, "SHMEM_OFI_PROVIDER": PROVIDER}
ROWS = without_bars(two_nodes.ROWS)


def sos_oshcc() -> Path | None:
    """The compiler wrapper of Sandia OpenSHMEM; None where SOS_OSHCC does not name one. Raises BenchError."""
    named = os.environ.get("SOS_OSHCC")
    if named and not Path(named).exists():
        raise BenchError(f"SOS_OSHCC={named}: there is no such file; name the oshcc of Sandia OpenSHMEM, or unset it")
    return Path(named) if named else None


def run(part: Part) -> None:
    """Runs the section."""
    if not part.has_nodes("libfabric"):
        return
    with Nodes(2) as nodes:
        launch, program, sos = across(nodes, 1), part.tools.ours("micro.c"), sos_oshcc()
        sides = [Side("libfabric", program, launch, OFI), Side("UCX", program, launch, UCX)]
        if sos:
            sides.append(Side("SOS", build(sos, "micro.c", "sos"), launch, SOS))
        rounds = part.rounds("libfabric", sides, ["far", "waiting"])
    part.found |= {"settings": OFI, "raw": {"rounds": rounds}}
    titles = ("Two nodes: WATTLE_NETWORK=ofi and ucx", "Two nodes: Wattle and SOS over libfabric")
    for i, (title, side) in enumerate(zip(titles, sides[1:], strict=False), start=1):
        keep = f"rows_{side.name.lower()}"
        part.compared(title, ("libfabric", side.name), ROWS, between(rounds, 0, i), keep=keep, best=True)
    if not sos:
        say_skipped("Two nodes: no comparison with Sandia OpenSHMEM, which SOS_OSHCC does not name")
