"""The size of a PE's page tables for each PE of its node."""

from __future__ import annotations

import re
import statistics

from jobs import oshrun

MOST_BYTES_A_PAIR = 256


def page_table_bytes(n_pes: int) -> float:
    """The median over the PEs of a job."""
    result = oshrun(n_pes, "page_tables")
    sizes = [1024 * int(kib) for kib in re.findall(r"page tables: (\d+) KiB", result.out)]
    assert result.code == 0 and len(sizes) == n_pes, result
    return statistics.median(sizes)


def test_control_data_that_all_pes_read_takes_few_page_tables() -> None:
    """Were each PE's control data in a place of its own, each other PE would need a page table of 4 KiB for it."""
    few, many = 64, 192
    a_pair = (page_table_bytes(many) - page_table_bytes(few)) / (many - few)
    assert a_pair <= MOST_BYTES_A_PAIR, f"{a_pair:.0f} bytes for each PE of the node"
