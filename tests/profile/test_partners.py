"""Puts, gets and atomic operations are counted by partner and by size."""

from __future__ import annotations

from profiled import profiles_of

PROGRAM = r"""
#include <shmem.h>

static char there[1 << 20], here[1 << 20];
static long counter;

int main(void)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), after = (me + 1) % n, before = (me + n - 1) % n;
  for (int i = 0; i < 1000; i++) shmem_putmem(there, here, 64, after);
  for (int i = 0; i < 10; i++) {
    shmem_putmem(there, here, 1 << 20, after);
    shmem_getmem(here, there, 100, before);
    shmem_long_atomic_inc(&counter, before);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
"""


def test_calls_are_counted_by_partner_and_by_size(tmp_path):
    for me, pe in enumerate(profiles_of(PROGRAM, 3, tmp_path)):
        found, after, before = pe["partners"], (me + 1) % 3, (me - 1) % 3
        rows = {
            number: (calls, size)
            for number, calls, size in zip(*(found[k] for k in ("pe", "calls", "bytes")), strict=True)
        }
        assert rows == {after: (1010, 64_000 + (10 << 20)), before: (20, 1000 + 80)}
        sizes = {row["call"]: row["counts"] for row in pe["sizes"]}
        assert (sizes["shmem_putmem"][7], sizes["shmem_putmem"][21]) == (1000, 10)
        assert sum(sizes["shmem_putmem"]) == 1010
        assert sizes["shmem_getmem"] == [0] * 7 + [10]
        assert sum(map(sum, sizes.values())) == 1030
