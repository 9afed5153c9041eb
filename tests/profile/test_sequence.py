"""The profile of a program says which calls followed each other, and how their memory lay."""

from __future__ import annotations

from profiled import profiles_of

PROGRAM = r"""
#include <shmem.h>

enum { N = 3000 };
static long there[N], flag;

int main(void)
{
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  static const long mine[2] = {1, 2};
  for (int i = 0; i < N; i++) {
    shmem_long_put(&there[i], mine, 1, right);
    shmem_quiet();
  }
  shmem_long_p(&flag, 1, right);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  shmem_finalize();
  return 0;
}
"""


def test_steps_between_calls_are_written_with_their_shares(tmp_path):
    pe = profiles_of(PROGRAM, 2, tmp_path)[0]
    found = pe["sequence"]
    steps = [dict(zip(found["columns"], row, strict=True)) for row in found["steps"]]
    by_calls = {(pe["sites"][s["from"]]["call"], pe["sites"][s["to"]]["call"]): s for s in steps}
    put = by_calls["shmem_quiet", "shmem_long_put"]
    assert put["times"] > 100
    assert put["same_pe"] == put["transfers"] == put["next_there"] == put["same_here"]
    assert put["bytes"] == 8 * put["times"]
    assert put["area"] == 1  # statics
    assert put["high"] - put["low"] <= 8 * 3000
    quiet = by_calls["shmem_long_put", "shmem_quiet"]
    assert quiet["burst_calls"] == quiet["bursts"] > 100
    assert found["lost"] == 0
    assert 100 < found["noted"] < 3000
