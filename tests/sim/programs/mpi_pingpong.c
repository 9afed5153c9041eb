/* Prints for each size in bytes on the command line the one-way time in seconds of a message that goes to and fro, as
 * osu_latency and IMB PingPong do. The first message of a size is not counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 4, MOST = 1 << 22 };
static char buffer[MOST];

static void to_and_fro(int me, int bytes)
{
  if (me == 0) MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(buffer, bytes, MPI_CHAR, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (me == 1) MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  int me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int i = 1; i < argc; i++) {
    int bytes = atoi(argv[i]);
    to_and_fro(me, bytes);
    double start = MPI_Wtime();
    for (int k = 0; k < TIMES; k++) to_and_fro(me, bytes);
    double seconds = (MPI_Wtime() - start) / TIMES / 2;
    if (me == 0) printf("%d %.9g\n", bytes, seconds);
  }
  MPI_Finalize();
  return 0;
}
