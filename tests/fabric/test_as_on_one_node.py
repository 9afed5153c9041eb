"""Variables, children, wrong calls, ends and exit codes behave on two nodes as on one.

tests/node and tests/errors have all of it on one node; here is what may come out differently where half of the PEs are
far away.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import Result, complaints
from nodes_of_test import built, processes, start
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def run(nodes: Nodes, pes: int, name: str, *arguments: str, **settings: str) -> Result:
    """A program of tests/node or tests/errors with `pes` PEs on each node; nothing of it may be left."""
    job = start(nodes, pes, built(f"tests/{name}"), *arguments, **settings)
    out, err = job.communicate(timeout=300)
    result = Result(job.returncode, out, complaints(err))
    deadline = time.monotonic() + 30
    while left := [line for line in processes(nodes) if f"/{name}" in line]:
        assert time.monotonic() < deadline, (left, result)
        time.sleep(0.1)
    return result


@pytest.mark.parametrize("name", ["statics_pie", "statics_no_pie", "statics_cxx"])
def test_variables_are_symmetric(nodes: Nodes, name: str) -> None:
    result = run(nodes, 2, name, "nodes")
    assert result.code == 0 and result.out.count("good") == 4 and result.err == "", result


def test_executables_of_several_nodes_agree_that_their_variables_are_not(nodes: Nodes) -> None:
    one = built("tests/executable_sha1")
    job = start(nodes, 2, Path("/bin/sh"), "-c", f"exec {one}$([ $PMIX_RANK = 2 ] && echo _other)")
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0 and out.count("good, statics are 0") == 4, (out, err)
    assert err.count("run different executables") == 2, err  # the program starts the library twice


@pytest.mark.parametrize("what", ["variables", "commands", "calls_in_child", "threads"])
def test_children_are_no_pes(nodes: Nodes, what: str) -> None:
    result = run(nodes, 1, "forks", what)
    assert result.code == 0 and result.out.count("good") == 2, result
    assert (what == "calls_in_child") == bool(result.said), result


ENDS = [
    ("global_exit_7", 3, "barrier", 7),
]


@pytest.mark.parametrize(("way", "pe", "place", "code"), ENDS)
def test_one_pe_ends_the_job_of_all_nodes(nodes: Nodes, way: str, pe: int, place: str, code: int) -> None:
    result = run(nodes, 2, "ends", way, str(pe), place)
    assert result.code == code, result


@pytest.mark.parametrize(("way", "code"), [("return", 0), ("finalize_5", 5)])
def test_all_pes_end_in_good_order(nodes: Nodes, way: str, code: int) -> None:
    result = run(nodes, 2, "ends", way)
    assert result.code == code and (code != 0 or result.err == ""), result


def test_leaving_without_a_word_is_no_success(nodes: Nodes) -> None:
    result = run(nodes, 2, "ends", "_exit_0", "3")
    assert result.code != 0, result


@pytest.mark.parametrize("mistake", ["malloc_too_much", "none"])
def test_programs_that_may_go_on_do(nodes: Nodes, mistake: str) -> None:
    result = run(nodes, 1, "wrong", mistake, SHMEM_SYMMETRIC_SIZE="1M")
    assert result.code == 0 and result.out.count("went on") == 2, result
    assert not re.search("GOT IT|NOT WHOLE|LOST", result.out), result


@pytest.mark.parametrize("pes", [1, 2])
def test_a_pe_that_ends_while_others_synchronize_ends_the_job(nodes: Nodes, pes: int) -> None:
    """They would wait for it for ever. With one PE on a node, no PE of its own node can notice it."""
    result = run(nodes, pes, "wrong", "ended_or_barrier")
    assert result.code == 64, result
    assert re.search(r"shmem_finalize \(or exit\): PE \d is in another collective call", result.err), result


UNALIKE = [("count_unalike", "nreduce=2 here, 1 on PE 0"), ("call_unalike", "PE 0 is in shmem_barrier_all")]


@pytest.mark.parametrize(("mistake", "words"), UNALIKE)
def test_pes_with_different_arguments_are_named_with_debug(nodes: Nodes, mistake: str, words: str) -> None:
    result = run(nodes, 1, "wrong", mistake, SHMEM_DEBUG="1")
    assert result.code == 64 and "went on" not in result.out, result
    how = "are in different calls" if words.startswith("PE") else "pass different arguments"
    place = r"PE 1: shmem_long_sum_reduce at program\+0x[0-9a-f]+ \(\w+\.c:\d+\)"
    assert re.search(f"{place}: PEs {how}", result.err), result
    assert words in result.err, result
