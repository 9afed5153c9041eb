/* windows.c - makes a window for each round, with which each rank writes to the next one. */
#include <mpi.h>
#include <stdlib.h>

enum { N = 1024, ROUNDS = 1000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me, n;
  double mine[N] = {0}, *base = NULL;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
#ifdef MENDED
  MPI_Win_allocate(sizeof mine, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
#endif
  for (int round = 0; round < rounds; round++) {
#ifndef MENDED
    MPI_Win_allocate(sizeof mine, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win); /* flaw */
#endif
    MPI_Win_fence(0, win);
    MPI_Put(mine, N, MPI_DOUBLE, (me + 1) % n, 0, N, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    mine[round % N] += base[round % N] + 1;
#ifndef MENDED
    MPI_Win_free(&win);
#endif
  }
#ifdef MENDED
  MPI_Win_free(&win);
#endif
  MPI_Finalize();
  return 0;
}
