/* send_loop.c - the first rank sends a block to one rank after the other. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 64, ROUNDS = 5000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me, n;
  static double block[LENGTH];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int round = 0; round < rounds; round++) {
#ifdef MENDED
    MPI_Bcast(block, LENGTH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#else
    for (int to = 1; me == 0 && to < n; to++) MPI_Send(block, LENGTH, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); /* flaw */
    if (me > 0) MPI_Recv(block, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    block[round % LENGTH]++;
  }
  MPI_Finalize();
  return 0;
}
