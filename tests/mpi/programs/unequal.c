/*
 * unequal.c - rank 0 computes nothing, the others 12 ms, and all meet; so many times. Prints what was counted, once.
 *
 * usage: unequal ROUNDS barrier|sum|fence|hang      hang: barriers for ever, after a word that the rounds are done
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void compute(double seconds)
{
  double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) {}
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 40, me, n;
  const char *how = argc > 2 ? argv[2] : "barrier";
  long count = 0, one = 1, mine[1] = {0};
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Win_create(mine, sizeof mine, sizeof mine[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < rounds || strcmp(how, "hang") == 0; i++) {
    long sum = 0;
    if (me) compute(0.012);
    if (strcmp(how, "sum") == 0)
      MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(how, "fence") == 0)
      MPI_Win_fence(0, window);
    else
      MPI_Barrier(MPI_COMM_WORLD);
    count += strcmp(how, "sum") == 0 ? sum : n;
    if (i == rounds && me == 0) fprintf(stderr, "rounds done\n");
  }
  MPI_Win_free(&window);
  if (me == 0) printf("count %ld\n", count);
  MPI_Finalize();
  return 0;
}
