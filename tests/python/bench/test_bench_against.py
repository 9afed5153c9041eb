"""The comparison of two revisions: unknown revisions, and memory of a PE from samples of whole jobs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tree import ROOT

from bench import against
from bench.jobs import BenchError


def sample(side: str, pes: int, kib: int) -> dict:
    """A job of `pes` PEs that together use `kib` KiB of each counted kind, and other memory that does not count."""
    counted = dict.fromkeys(against.HELD_KINDS, kib * 1024)
    return {"side": side, "pes": pes, "total": counted | {"pss": 1 << 40, "files": 1 << 40}}


def test_memory_of_a_pe_counts_private_and_shared_pages_and_page_tables() -> None:
    samples = [sample("here", 64, kib) for kib in (640, 6400, 1280)]
    assert against.memory_of(samples, "here", 64) == 3 * 1280 / 64 * 1024


def test_the_ratio_of_memory_is_of_one_size_and_both_sides() -> None:
    samples = [sample("here", 64, 128), sample("abc", 64, 256), sample("here", 192, 192), sample("abc", 192, 192)]
    table = against.memory_table(samples, "abc")
    assert list(table.columns[-1].cells) == ["0.50", "1.00"]


@pytest.mark.parametrize("name", ["no-such-revision", "--exec=true", ""])
def test_a_name_that_git_does_not_know_is_an_error_of_one_line(name: str) -> None:
    with pytest.raises(BenchError, match="is no revision of this repository"):
        against.resolved(name)


def test_a_wrong_revision_ends_with_one_line_and_no_figures() -> None:
    command = [sys.executable, str(ROOT / "bench" / "against.py"), "no-such-revision"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [done.stderr.strip()]
    assert done.stdout == ""
