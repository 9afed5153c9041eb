/* Two communicators, each of which reduces, as teams of groups.c. Words: a name, instances. Each second rank computes
 * for 3 ms in an instance, and the others for 1 ms. */
#include <mpi.h>
#include <stdlib.h>
#include <wattle_sim.h>

int main(int argc, char **argv)
{
  int rank, size, mine = 1, all;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank / (size / 2), rank, &half);
  for (int i = 0; i < atoi(argv[2]); i++) {
    wattle_sim_compute(rank % 2 ? 3e-3 : 1e-3);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, half);
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
