/* barrier_before.c - waits for all ranks in a barrier before a reduction, which waits for them itself. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 100000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  double mine = 1, sum = 0;
  MPI_Init(&argc, &argv);
  for (int round = 0; round < rounds; round++) {
#ifndef MENDED
    MPI_Barrier(MPI_COMM_WORLD); /* flaw */
#endif
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mine = sum / 2;
  }
  MPI_Finalize();
  return 0;
}
