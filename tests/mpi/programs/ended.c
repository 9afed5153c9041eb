/*
 * ended.c - ranks make 20 reductions. Then rank 1 ends in the way that the first argument names, or sleeps, while the
 * others wait for a message from it. The file of the second argument says that they wait.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char *way)
{
  usleep(300000); /* the others wait */
  if (strcmp(way, "SIGKILL") == 0) raise(SIGKILL);
  if (strcmp(way, "SIGSEGV") == 0) raise(SIGSEGV);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "exit") == 0) exit(3);
  if (strcmp(way, "_exit") == 0) _exit(3);
  if (strcmp(way, "MPI_Abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
}

int main(int argc, char **argv)
{
  int me, sum = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int i = 0; i < 20; i++) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (me == 1) {
    end(argv[1]);
    FILE *ready = argc > 2 ? fopen(argv[2], "w") : NULL;
    if (ready) fclose(ready);
    for (;;) sleep(1);
  }
  MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
