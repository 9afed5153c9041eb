/* refused.c - calls with counts below zero, which MPI refuses: prints how many it did. (MPICH 4.0's MPI_Allreduce does
 * not: it ends the program.) */
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 5 };

int main(int argc, char **argv)
{
  int sent[8] = {0}, got[8] = {0}, counts[2] = {3, -1}, starts[2] = {0, 3}, bytes[2] = {0, 12}, refused = 0, me;
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  refused += MPI_Send(sent, -1, MPI_INT, me, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
  refused += MPI_Isend(sent, -1, MPI_INT, me, 0, MPI_COMM_WORLD, &request) != MPI_SUCCESS;
  refused += MPI_Bcast(sent, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
  refused += MPI_Alltoallv(sent, counts, starts, MPI_INT, got, counts, starts, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS;
  refused += MPI_Alltoallw(sent, counts, bytes, types, got, counts, bytes, types, MPI_COMM_WORLD) != MPI_SUCCESS;
  printf("refused %d of %d\n", refused, CALLS);
  MPI_Finalize();
  return refused != CALLS;
}
