/*
 * ended.c - ranks make 20 reductions. Then the others wait for a message from rank 1, which ends in the way that the
 * first argument names, or sleeps. The file of the second argument says that they wait.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../wait/waiting_thread.h"

/* Returns when all other ranks have waited for a while. */
static void see_others_wait(void)
{
  int n;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 1; i < n; i++) {
    long thread[2];
    MPI_Recv(thread, 2, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    await_waiting_thread(thread, "either");
  }
  usleep(300000);
}

static void end(const char *way)
{
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
    see_others_wait();
    end(argv[1]);
    FILE *ready = argc > 2 ? fopen(argv[2], "w") : NULL;
    if (ready) fclose(ready);
    for (;;) sleep(1);
  }
  MPI_Send((long[]){getpid(), gettid()}, 2, MPI_LONG, 1, 1, MPI_COMM_WORLD);
  MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
