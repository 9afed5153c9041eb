/* mixed_reductions.c - reductions in a row of different operations, types and communicators. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 20000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, count, all, other;
  double mine[2], sum, most;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int round = 0; round < rounds; round++) {
    mine[0] = mine[1] = count = round;
    MPI_Allreduce(&mine[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine[1], &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&count, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&count, &other, 1, MPI_INT, MPI_MAX, copy);
  }
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
