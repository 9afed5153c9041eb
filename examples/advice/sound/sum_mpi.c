/* sum_mpi.c - computes, and reduces all its sums at once. */
#include <mpi.h>
#include <stdlib.h>

enum { SUMS = 32, WORK = 20000, ROUNDS = 3000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  double mine[SUMS] = {0}, sum[SUMS];
  MPI_Init(&argc, &argv);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < WORK; i++) mine[i % SUMS] = mine[i % SUMS] * 0.5 + i;
    MPI_Allreduce(mine, sum, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
