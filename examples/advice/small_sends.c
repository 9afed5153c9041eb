/* small_sends.c - sends the numbers of a vector to the next rank in a message each. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 512, ROUNDS = 1500 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  static double vector[LENGTH];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    int sends = (me + round) % 2 == 0, other = me ^ 1;
#ifdef MENDED
    if (sends)
      MPI_Send(vector, LENGTH, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(vector, LENGTH, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    for (int i = 0; sends && i < LENGTH; i++) MPI_Send(&vector[i], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); /* flaw */
    for (int i = 0; !sends && i < LENGTH; i++)
      MPI_Recv(&vector[i], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
  }
  MPI_Finalize();
  return 0;
}
