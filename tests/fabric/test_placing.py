"""PEs in any order and number on the nodes: they know their neighbours, and reach all."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import complaints
from nodes_of_test import build, built, start_placed
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent

# PEs on each node, the launcher's options, and the node of each PE.
PLACES = {
    "one and three": ([1, 3], [], "0111"),
    "three and one": ([3, 1], [], "0001"),
    "in turn": ([2, 2], ["--map-by", "node"], "0101"),
    "in turn, and one node has less": ([2, 2, 1], ["--map-by", "node"], "01201"),
}


# Each pair has one question, so one of each is enough for `make test`.
LONG = ("three and one", "in turn")


@pytest.mark.parametrize("how", [pytest.param(how, marks=pytest.mark.soak if how in LONG else []) for how in PLACES])
def test_pes_know_their_neighbours_and_reach_all(how: str, tmp_path: Path) -> None:
    pes, options, expected = PLACES[how]
    with Nodes(len(pes)) as nodes:
        job = start_placed(nodes, pes, options, build(HERE / "neighbours.c", tmp_path))
        out, err = job.communicate(timeout=300)
        assert job.returncode == 0 and complaints(err) == "", err
        assert out.split() == [nodes.names[int(node)] for node in expected]
        for program, arguments in (("oracle", ("1", "2")), ("oracle", ("1", "1", "large")), ("shmem_locks", ())):
            job = start_placed(nodes, pes, options, built(program), *arguments)
            _, err = job.communicate(timeout=300)
            assert job.returncode == 0 and complaints(err) == "", err
