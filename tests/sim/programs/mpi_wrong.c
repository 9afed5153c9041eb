/*
 * Rank 1 sends to a rank that there is not. usage: mpi_wrong [returns]: with errors that are returned; `returned` if it
 * was.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  int rank, number = 3, code = MPI_SUCCESS;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) code = MPI_Send(&number, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) printf("returned\n");
  MPI_Finalize();
  return 0;
}
