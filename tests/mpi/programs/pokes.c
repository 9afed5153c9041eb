/*
 * pokes.c - rank 0 tests for messages again and again. Prints what it counted.
 *
 * usage: pokes computes|waits|waits-for-some
 *   computes         a little, before each of its tests: nobody sends anything
 *   waits            does nothing else, until the message comes that rank 1 sends after 200 ms
 *   waits-for-some   the same, for each of three messages
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int little_by_little(void)
{
  int came = 0, next = 1, count = 0;
  for (int i = 0; i < 100000; i++) {
    next = next * 75 % 65537;
    count += next & 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    if (came) return -1;
  }
  return count;
}

static int receive(int n)
{
  int words[3] = {0}, left = n, done;
  MPI_Request requests[3];
  for (int i = 0; i < n; i++) MPI_Irecv(&words[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
  while (left) {
    for (int i = 0; i < n; i++) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
      left -= done;
    }
  }
  return words[0] + words[1] + words[2];
}

static void send(int n)
{
  for (double until = MPI_Wtime() + 0.2; MPI_Wtime() < until;) {}
  for (int i = 0, word = 7; i < n; i++) MPI_Send(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "computes";
  int me, n = strcmp(how, "waits") == 0 ? 1 : 3, count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "computes") == 0)
    count = me == 0 ? little_by_little() : 0;
  else if (me == 0)
    count = receive(n);
  else
    send(n);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) printf("count %d\n", count);
  MPI_Finalize();
  return 0;
}
