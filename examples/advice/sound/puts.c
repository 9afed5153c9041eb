/* puts.c - sends blocks that change to scattered places of the next PE, and completes them together. */
#include <shmem.h>
#include <stdlib.h>

enum { BLOCKS = 64, BYTES = 8192, ROUNDS = 1000 };
static char there[BLOCKS][BYTES], mine[BLOCKS][BYTES];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      int k = i * 37 % BLOCKS;
      mine[k][round % BYTES]++;
      shmem_putmem_nbi(there[k], mine[k], BYTES, right);
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
