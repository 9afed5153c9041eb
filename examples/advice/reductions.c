/* reductions.c - reduces two sums one after the other. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 100000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  double mine[2] = {1, 2}, sum[2] = {0, 0};
  MPI_Init(&argc, &argv);
  for (int round = 0; round < rounds; round++) {
#ifdef MENDED
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#else
    MPI_Allreduce(&mine[0], &sum[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* flaw */
    MPI_Allreduce(&mine[1], &sum[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
    mine[0] = sum[0] / 2 + round;
    mine[1] = sum[1] / 2 - round;
  }
  MPI_Finalize();
  return 0;
}
