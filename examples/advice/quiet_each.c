/* quiet_each.c - fills scattered places of the next PE's table, with a quiet after each put. */
#include <shmem.h>
#include <stdlib.h>

enum { PLACES = 4096, ROUNDS = 500 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  double (*table)[2] = shmem_calloc(PLACES, sizeof *table);
  for (int round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < PLACES; i++) {
      double value[2] = {round, i};
      shmem_double_put(table[i * 1657u % PLACES], value, 2, right);
#ifndef MENDED
      shmem_quiet(); /* flaw */
#endif
    }
    shmem_quiet();
    shmem_sync_all();
  }
  shmem_finalize();
  return 0;
}
