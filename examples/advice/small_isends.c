/* small_isends.c - starts a message for each number of a vector, and waits for all of them. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 256, ROUNDS = 1500 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  static double vector[LENGTH];
  static MPI_Request requests[LENGTH];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    int sends = (me + round) % 2 == 0, other = me ^ 1, n = 0;
#ifdef MENDED
    if (sends)
      MPI_Isend(vector, LENGTH, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[n++]);
    else
      MPI_Irecv(vector, LENGTH, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[n++]);
#else
    for (int i = 0; sends && i < LENGTH; i++)
      MPI_Isend(&vector[i], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[n++]); /* flaw */
    for (int i = 0; !sends && i < LENGTH; i++)
      MPI_Irecv(&vector[i], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[n++]);
#endif
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
