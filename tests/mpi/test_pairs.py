"""Calls and bytes by partner and by size, in ranks of MPI_COMM_WORLD."""

from __future__ import annotations

from pathlib import Path

from preload import BOTH, Mpi, profiles

N = 3


@BOTH
def test_calls_and_bytes_go_to_the_right_partners(mpi: Mpi, tmp_path: Path) -> None:
    done = mpi.run(N, mpi.compile("pairs.c", tmp_path), profile=tmp_path / "profile")
    assert done.returncode == 0, done.stderr
    pes = profiles(tmp_path / "profile")
    assert len(pes) == N
    for pe in pes:
        me = pe["pe"]
        after, before = (me + 1) % N, (me - 1) % N
        found = pe["partners"]
        calls, moved = (dict(zip(found["pe"], found[key], strict=True)) for key in ("calls", "bytes"))
        sent_again = {1: 7} if me == 0 else {}
        assert calls[after] == 30 + sent_again.get(after, 0)
        assert moved[after] == 30 * 8 + 16 * sent_again.get(after, 0)
        assert (calls[before], moved[before]) == (5, 5 * 8192)
        assert sum(calls.values()) == 35 + sum(sent_again.values())
        assert all(s >= 0 for s in found["wait_s"])
        sizes = {row["call"]: row["counts"] for row in pe["sizes"]}
        assert sizes["MPI_Sendrecv"] == [0] * 14 + [5]
        assert sizes["MPI_Send"] == [0, 0, 0, 0, 30, 7]
        assert sizes["MPI_Allreduce"][8] == 1
