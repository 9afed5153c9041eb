/* reductions_shmem.c - reduces two sums one after the other. */
#include <shmem.h>
#include <stdlib.h>

enum { ROUNDS = 100000 };
static double mine[2] = {1, 2}, sum[2];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  for (int round = 0; round < rounds; round++) {
#ifdef MENDED
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, sum, mine, 2);
#else
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum[0], &mine[0], 1); /* flaw */
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum[1], &mine[1], 1);
#endif
    mine[0] = sum[0] / 2 + round;
    mine[1] = sum[1] / 2 - round;
  }
  shmem_finalize();
  return 0;
}
