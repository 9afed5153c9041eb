/* broadcast_loop.c - the first PE sends a block to each other PE in turn. */
#include <shmem.h>
#include <stdlib.h>

enum { BYTES = 65536, ROUNDS = 4000 };
static char block[BYTES], mine[BYTES];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  for (int round = 0; round < rounds; round++) {
    mine[round % BYTES]++;
#ifdef MENDED
    shmem_broadcastmem(SHMEM_TEAM_WORLD, block, mine, BYTES, 0);
#else
    for (int pe = 1; shmem_my_pe() == 0 && pe < shmem_n_pes(); pe++)
      shmem_putmem(block, mine, BYTES, pe); /* flaw */
#endif
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
