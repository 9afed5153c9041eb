/* imbalance.c - the first PE computes four times as long as the others, which wait for it in a barrier. */
#include <shmem.h>
#include <stdlib.h>

enum { WORK = 8000000, ROUNDS = 50 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  volatile double sum = 0;
#ifdef MENDED
  int work = WORK * (n + 3) / (4 * n);
  (void)me;
#else
  int work = me == 0 ? WORK : WORK / 4;
  (void)n;
#endif
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < work; i++) sum += i * 0.5;
    shmem_barrier_all(); /* flaw */
  }
  shmem_finalize();
  return 0;
}
