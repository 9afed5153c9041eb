/* needed_at_once.c - blocking messages whose data both ranks need before they compute: nothing can overlap. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 32768, WORK = 200000, ROUNDS = 100 };
static double mine[LENGTH], theirs[LENGTH];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    if (me == 0) MPI_Send(mine, LENGTH, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(theirs, LENGTH, MPI_DOUBLE, !me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(mine, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; i < WORK; i++) mine[i % LENGTH] = mine[i % LENGTH] * 0.5 + theirs[i % LENGTH];
  }
  MPI_Finalize();
  return 0;
}
