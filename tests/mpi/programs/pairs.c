/* pairs.c - sends known numbers of messages between known ranks, also by a communicator with its ranks in reverse. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  static double data[1024], other[1024];
  int me, n;
  MPI_Comm reverse, again;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - me, &reverse);
  int after = (me + 1) % n, before = (me + n - 1) % n;
  for (int i = 0; i < 30; i++) {
    MPI_Request r;
    MPI_Irecv(other, 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &r);
    MPI_Send(data, 1, MPI_DOUBLE, after, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  /* World rank w has rank n - 1 - w there. */
  for (int i = 0; i < 5; i++)
    MPI_Sendrecv(data, 1024, MPI_DOUBLE, n - 1 - before, 1, other, 1024, MPI_DOUBLE, n - 1 - after, 1, reverse,
                 MPI_STATUS_IGNORE);
  /* A freed communicator's handle may come again with other ranks. */
  MPI_Comm_free(&reverse);
  MPI_Comm_split(MPI_COMM_WORLD, 0, me, &again);
  for (int i = 0; i < 7; i++) {
    MPI_Send(data, 2, MPI_DOUBLE, me == 0 ? 1 : MPI_PROC_NULL, 2, again);
    MPI_Recv(other, 2, MPI_DOUBLE, me == 1 ? 0 : MPI_PROC_NULL, 2, again, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&again);
  MPI_Allreduce(data, other, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
