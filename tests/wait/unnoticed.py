"""Judges a mutant of the runtime that went unnoticed.

The race that shows it needs both PEs on cores at once. Where other programs use the cores, this may not have happened,
and the test is skipped.
"""

import sys

from tree import ROOT

sys.path.append(str(ROOT))
from bench.load import Watch

BUSY = 0.1  # share of the machine's CPU time
SKIPPED = 77


def exit_code(watch: Watch) -> int:
    """1: it is a failure; 77: other programs have used more than `BUSY` since the watch began."""
    others = watch.others()
    print(f"the mutant went unnoticed; other programs used {others:.0%} of the machine's CPU time")
    return SKIPPED if others > BUSY else 1
