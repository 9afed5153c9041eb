/* wavefront.c - each small message releases a plane of the next rank. Merged, they would make it wait for all. */
#include <mpi.h>
#include <stdlib.h>

enum { PLANES = 32, WIDTH = 40, WORK = 2000, ROUNDS = 100 };
static double plane[PLANES][WIDTH];

static void compute(double *row)
{
  for (int i = 0; i < WORK; i++) row[i % WIDTH] = row[i % WIDTH] * 0.5 + row[(i + 1) % WIDTH] + i;
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    int first = round % 2;
    for (int k = 0; k < PLANES; k++) {
      if (me != first) MPI_Recv(plane[k], WIDTH, MPI_DOUBLE, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      compute(plane[k]);
      if (me == first) MPI_Send(plane[k], WIDTH, MPI_DOUBLE, !first, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
