/* dependent_sums.c - the second reduction needs the result of the first, and the third has the first one's result. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 20000 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  double mine = 1, scaled, sum, norm, most;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    mine = me + round;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    scaled = mine / (1 + sum);
    MPI_Allreduce(&scaled, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&norm, &most, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
