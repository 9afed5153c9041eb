/* So many times: the odd ranks compute a millisecond, and the odd ones and the even ones meet among themselves; then
 * all add up a number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <wattle_sim.h>

int main(int argc, char **argv)
{
  int rank, one = 1, sum = 0, times = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  for (int i = 0; i < times; i++) {
    if (rank % 2) wattle_sim_compute(1e-3);
    MPI_Barrier(part);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Comm_free(&part);
  MPI_Finalize();
  return 0;
}
