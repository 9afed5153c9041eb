/*
 * pokes.c - rank 0 tests for messages again and again. Prints what it counted.
 *
 * usage: pokes HOW
 *   computes            a little, before each of its tests: nobody sends anything
 *   computes-beside     the same, with a test in each turn that succeeds
 *   waits               does nothing else, until the message comes that rank 1 sends after 200 ms
 *   waits-for-some      the same, for each of three messages
 *   beside-WHICH        the same for one, with a test in each turn that succeeds: of a `complete` request, of `all` or
 *                       `some` null requests, or for a `message` that is received later
 *   by-the-clock        the same for one, with a look at the time in each turn
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int little_by_little(bool beside)
{
  int came = 0, next = 1, count = 0, known;
  MPI_Request complete = MPI_REQUEST_NULL;
  for (int i = 0; i < 100000; i++) {
    next = next * 75 % 65537;
    count += next & 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    if (came) return -1;
    if (beside) MPI_Test(&complete, &known, MPI_STATUS_IGNORE);
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

/* Waits for a message, in a loop with another test that succeeds in each turn. */
static int beside(const char *which)
{
  int word = 0, came = 0, known = 0, at[2];
  MPI_Request awaited, sent, complete = MPI_REQUEST_NULL, none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (strcmp(which, "message") == 0) MPI_Isend(NULL, 0, MPI_INT, 0, 9, MPI_COMM_SELF, &sent);
  MPI_Irecv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &awaited);
  while (!came || !known) {
    MPI_Test(&awaited, &came, MPI_STATUS_IGNORE);
    if (strcmp(which, "all") == 0)
      MPI_Testall(2, none, &known, MPI_STATUSES_IGNORE);
    else if (strcmp(which, "some") == 0)
      MPI_Testsome(2, none, &known, at, MPI_STATUSES_IGNORE);
    else if (strcmp(which, "message") == 0)
      MPI_Iprobe(0, 9, MPI_COMM_SELF, &known, MPI_STATUS_IGNORE);
    else
      MPI_Test(&complete, &known, MPI_STATUS_IGNORE);
  }
  if (strcmp(which, "message") == 0) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  return word;
}

static int by_the_clock(void)
{
  int word = 0, came = 0;
  MPI_Request awaited;
  double until = MPI_Wtime() + 300;
  MPI_Irecv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &awaited);
  while (!came && MPI_Wtime() < until) MPI_Test(&awaited, &came, MPI_STATUS_IGNORE);
  return word;
}

static void send(int n)
{
  for (double until = MPI_Wtime() + 0.2; MPI_Wtime() < until;) {}
  for (int i = 0, word = 7; i < n; i++) MPI_Send(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "computes";
  int me, n = strcmp(how, "waits-for-some") == 0 ? 3 : 1, count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strncmp(how, "computes", 8) == 0)
    count = me == 0 ? little_by_little(strcmp(how, "computes-beside") == 0) : 0;
  else if (me != 0)
    send(n);
  else if (strncmp(how, "beside-", 7) == 0)
    count = beside(how + 7);
  else
    count = strcmp(how, "by-the-clock") == 0 ? by_the_clock() : receive(n);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) printf("count %d\n", count);
  MPI_Finalize();
  return 0;
}
