/* get_put.c - counts in the next PE's table: gets a counter, adds to it and puts it back. */
#include <shmem.h>
#include <stdlib.h>

enum { COUNTERS = 4096, ROUNDS = 500 };
static long counter[COUNTERS];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  for (int round = 0; round < rounds; round++) {
    for (unsigned k = 0; k < COUNTERS; k++) {
      unsigned i = k * 1657u % COUNTERS;
#ifdef MENDED
      shmem_long_atomic_add(&counter[i], k, right);
#else
      long value = shmem_long_g(&counter[i], right); /* flaw */
      shmem_long_p(&counter[i], value + k, right);
#endif
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
