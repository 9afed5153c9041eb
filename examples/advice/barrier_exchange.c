/* barrier_exchange.c - waits for all ranks after each exchange with the two neighbours of a ring. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 20000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me, n;
  double mine = 1, left = 0, right = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int round = 0; round < rounds; round++) {
    int up = (me + 1) % n, down = (me + n - 1) % n;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, up, 0, &left, 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, down, 1, &right, 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifndef MENDED
    MPI_Barrier(MPI_COMM_WORLD); /* flaw */
#endif
    mine = (left + mine + right) / 3;
  }
  MPI_Finalize();
  return 0;
}
