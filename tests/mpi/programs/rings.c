/*
 * rings.c - rank 1 waits for rank 0, which sleeps for 30 ms before it sends; 10 times. Prints what came.
 *
 * usage: rings barrier|message|window|tests|unheard [ROUNDS]     in which call rank 1 waits
 *   unheard   rank 0 sends by PMPI_Send, of which nobody but MPI knows
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long shared;

static int receive(int by_tests)
{
  int word = 0, done = 0;
  MPI_Request request;
  if (!by_tests) {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word;
  }
  MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return word;
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "barrier";
  int me, sum = 0, rounds = argc > 2 ? atoi(argv[2]) : 10;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_create(&shared, sizeof shared, sizeof shared, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int i = 1; i <= rounds; i++) {
    long more = i;
    if (me == 0) usleep(30000);
    if (strcmp(how, "barrier") == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      sum += i;
    } else if (strcmp(how, "window") == 0) {
      if (me == 0) MPI_Accumulate(&more, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window);
      MPI_Win_fence(0, window);
      sum = (int)shared;
    } else if (me != 0) {
      sum += receive(strcmp(how, "tests") == 0);
    } else if (strcmp(how, "unheard") == 0) {
      PMPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
  }
  if (me == 1) printf("%d\n", sum);
  fflush(stdout);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
