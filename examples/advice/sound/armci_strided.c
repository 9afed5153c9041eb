/* armci_strided.c - puts blocks of a matrix with one strided transfer each. */
#include <armci.h>
#include <mpi.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 512, WIDTH = 64, ROUNDS = 4000 };

int main(int argc, char **argv)
{
  int me, n, rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  static double mine[ROWS][WIDTH];
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  void **memory = malloc((size_t)n * sizeof *memory);
  ARMCI_Malloc(memory, ROWS * COLUMNS * sizeof(double));
  int right = (me + 1) % n, count[2] = {WIDTH * sizeof(double), ROWS};
  int from[1] = {WIDTH * sizeof(double)}, to[1] = {COLUMNS * sizeof(double)};
  double (*matrix)[COLUMNS] = memory[right];
  for (int round = 0; round < rounds; round++) {
    mine[round % ROWS][0]++;
    ARMCI_PutS(mine, from, &matrix[0][round * 3 % (COLUMNS / WIDTH) * WIDTH], to, count, 1, right);
  }
  ARMCI_Barrier();
  ARMCI_Free(memory[me]);
  free(memory);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
