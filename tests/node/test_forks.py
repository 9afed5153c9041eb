"""Children of a PE: private variables, and no PE themselves."""

from __future__ import annotations

import pytest
from jobs import oshrun, program, run

WHAT = ["variables", "children_end", "commands", "calls_in_child", "threads", "handlers", "after_finalize"]


@pytest.mark.parametrize("what", WHAT)
def test_children(what: str) -> None:
    result = oshrun(2, "forks", what)
    assert result.code == 0 and result.out.count("good") == 2, result
    if what == "calls_in_child":
        assert len(result.said) == 4 and all("in a forked child" in line for line in result.said), result
        assert "shmem_barrier_all" in result.err and "shmem_finalize" in result.err, result
    else:
        assert result.err == "", result


def test_children_of_a_bare_pe_have_their_own_variables() -> None:
    result = run(program("forks"), "variables")
    assert result.code == 0 and "good" in result.out, result
