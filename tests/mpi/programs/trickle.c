/*
 * trickle.c - rank 0 reaches into rank 1's memory many times, each after the last has come; rank 1 waits meanwhile.
 * Prints what it has there then.
 *
 * usage: trickle TIMES barrier|fence|test      in which call rank 1 waits
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reach(MPI_Win window, int times)
{
  long one = 1;
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  for (int i = 0; i < times; i++) {
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_flush(1, window);
  }
  MPI_Win_unlock(1, window);
}

static void reach_in_an_epoch(MPI_Win window, int times)
{
  long one = 1;
  for (int i = 0; i < times; i++) MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window);
}

static void test_until_told(int me)
{
  int told = 0, word = 0;
  MPI_Request request;
  if (me == 0) {
    MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return;
  }
  MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  while (!told) MPI_Test(&request, &told, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
  int times = argc > 1 ? atoi(argv[1]) : 300, me;
  const char *how = argc > 2 ? argv[2] : "barrier";
  long mine[1] = {0};
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_create(mine, sizeof mine, sizeof mine[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (strcmp(how, "fence") == 0) {
    if (me == 0) reach_in_an_epoch(window, times);
    MPI_Win_fence(0, window);
  } else {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (me == 0) reach(window, times);
    if (strcmp(how, "test") == 0) test_until_told(me);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (me == 1) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    printf("count %ld\n", mine[0]);
    MPI_Win_unlock(1, window);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
