/* signals.c - sends blocks with a signal each. */
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCKS = 1024, WORDS = 8, ROUNDS = 400 };
static long block[BLOCKS][WORDS];
static uint64_t signal[BLOCKS];

int main(int argc, char **argv)
{
  uint64_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  for (uint64_t round = 1; round <= rounds; round++) {
    for (unsigned i = 0; i < BLOCKS; i++) {
      long mine[WORDS] = {(long)round, (long)i};
      shmem_long_put_signal(block[i], mine, WORDS, &signal[i], round, SHMEM_SIGNAL_SET, right);
    }
    for (unsigned i = 0; i < BLOCKS; i++) shmem_signal_wait_until(&signal[i], SHMEM_CMP_EQ, round);
    shmem_sync_all();
  }
  shmem_finalize();
  return 0;
}
