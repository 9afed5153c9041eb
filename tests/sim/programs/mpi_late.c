/* Rank 0 computes so many milliseconds before it sends to the others, which wait for that: once, or so often. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <wattle_sim.h>

int main(int argc, char **argv)
{
  int rank, size, word = 0, times = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double began = MPI_Wtime();
  for (int i = 0; i < times; i++)
    if (rank == 0) {
      wattle_sim_compute(atof(argv[1]) * 1e-3);
      for (int to = 1; to < size; to++) MPI_Send(&to, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  double waited = MPI_Wtime() - began;
  if (rank == 1) printf("waited %.9f got %d\n", waited, word);
  MPI_Finalize();
  return 0;
}
