/* strided.c - sends a column of a matrix to the next PE, element by element. */
#include <shmem.h>
#include <stdlib.h>

enum { ROWS = 2048, COLUMNS = 16, ROUNDS = 800 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  double (*matrix)[COLUMNS] = shmem_calloc(ROWS, sizeof *matrix);
  double (*mine)[COLUMNS] = calloc(ROWS, sizeof *mine);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < ROWS; i++) mine[i][COLUMNS - 1] = round + i;
#ifdef MENDED
    shmem_double_iput(&matrix[0][0], &mine[0][COLUMNS - 1], COLUMNS, COLUMNS, ROWS, right);
#else
    for (int i = 0; i < ROWS; i++)
      shmem_double_put(&matrix[i][0], &mine[i][COLUMNS - 1], 1, right); /* flaw */
#endif
    shmem_barrier_all();
  }
  free(mine);
  shmem_finalize();
  return 0;
}
