/* flag.c - sends blocks, each with a fence and a flag after it; the receiver waits for the flag of each block. */
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCKS = 2048, WORDS = 4, ROUNDS = 400 };
static long block[BLOCKS][WORDS];
static uint64_t flag[BLOCKS];

int main(int argc, char **argv)
{
  uint64_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  for (uint64_t round = 1; round <= rounds; round++) {
    for (unsigned k = 0; k < BLOCKS; k++) {
      unsigned i = k * 1657u % BLOCKS;
      long mine[WORDS] = {(long)round, (long)i};
#ifdef MENDED
      shmem_long_put_signal(block[i], mine, WORDS, &flag[i], round, SHMEM_SIGNAL_SET, right);
#else
      shmem_long_put(block[i], mine, WORDS, right);
      shmem_fence();
      shmem_uint64_p(&flag[i], round, right); /* flaw */
#endif
    }
    for (unsigned i = 0; i < BLOCKS; i++) shmem_uint64_wait_until(&flag[i], SHMEM_CMP_EQ, round);
    shmem_sync_all();
  }
  shmem_finalize();
  return 0;
}
