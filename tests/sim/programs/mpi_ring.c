/* Ranks in a ring exchange so many doubles with both neighbours, compute, and agree on a number: so many steps. */
#include <mpi.h>
#include <stdlib.h>
#include <wattle_sim.h>

int main(int argc, char **argv)
{
  int rank, size, n = atoi(argv[1]), steps = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int up = (rank + 1) % size, down = (rank + size - 1) % size;
  double *rows = calloc(4 * (size_t)n, sizeof *rows), error = 1.0 / (1 + rank), most;
  for (int i = 0; i < steps; i++) {
    MPI_Request request[4];
    MPI_Irecv(rows, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(rows + n, n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &request[1]);
    for (int to = 0; to < 2; to++)
      MPI_Isend(rows + (2 + to) * n, n, MPI_DOUBLE, to ? down : up, 1 + to, MPI_COMM_WORLD, &request[2 + to]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    wattle_sim_compute(1e-3 * (1 + rank % 4 / 5.0));
    MPI_Allreduce(&error, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  free(rows);
  MPI_Finalize();
  return most == 1 ? 0 : 1;
}
