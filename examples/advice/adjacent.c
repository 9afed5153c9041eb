/* adjacent.c - sends a row of numbers to the next PE, one by one. */
#include <shmem.h>
#include <stdlib.h>

enum { LENGTH = 4096, ROUNDS = 500 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  long *row = shmem_calloc(LENGTH, sizeof *row), *mine = malloc(LENGTH * sizeof *mine);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < LENGTH; i++) mine[i] = round + i;
#ifdef MENDED
    shmem_long_put(row, mine, LENGTH, right);
#else
    for (int i = 0; i < LENGTH; i++) shmem_long_put(&row[i], &mine[i], 1, right); /* flaw */
#endif
    shmem_barrier_all();
  }
  free(mine);
  shmem_finalize();
  return 0;
}
