/* fetches.c - takes numbers from counters of the next PE, one after the other. */
#include <shmem.h>
#include <stdlib.h>

enum { COUNTERS = 512, ROUNDS = 40 };
static long counter[COUNTERS], taken[COUNTERS];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  for (int round = 0; round < rounds; round++) {
    for (unsigned k = 0; k < COUNTERS; k++) {
      unsigned i = k * 1657u % COUNTERS;
#ifdef MENDED
      shmem_long_atomic_fetch_add_nbi(&taken[i], &counter[i], k, right);
#else
      taken[i] = shmem_long_atomic_fetch_add(&counter[i], k, right); /* flaw */
#endif
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
