/* setup.c - two reductions, a barrier and small messages before the work, once. */
#include <mpi.h>
#include <stdlib.h>

enum { WORK = 100000, ROUNDS = 1000, MESSAGES = 100 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  double mine[2], sum[2];
  volatile double work = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  mine[0] = mine[1] = me;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&mine[0], &sum[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&mine[1], &sum[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < MESSAGES; i++) {
    if (me == 0) MPI_Send(mine, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (me == 1) MPI_Recv(mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < WORK; i++) work = work * 0.5 + sum[0] + sum[1];
  MPI_Finalize();
  return 0;
}
