/*
 * mpi.c - MPI programs whose processes wait, for bench/mpi.py: the same binary runs with and without Wattle's
 * library.
 *
 *   mpi imbalanced   rank 0 computes 100 ms, the others 1 ms, then a barrier; 20 times
 *   mpi balanced     both compute 50 us, then exchange 1 KiB with each other; 10,000 times
 *   mpi messages     calls of 8 B in a row, as the OSU benchmarks have them: a message there and back (half its time),
 *                    64 messages and an answer (the time of one), MPI_Allreduce of a double, MPI_Barrier
 *
 * It prints a line of JSON a row: seconds an iteration, and CPU seconds of a waiting rank in the whole loop. The rows
 * of `messages` are medians of batches.
 */
#include <mpi.h>
#include <string.h>

#include "work.h"

enum { IMBALANCED = 20, BALANCED = 10000, BYTES = 1024, BATCHES = 31, CALLS = 1000, WINDOW = 64 };

static void imbalanced(int me, double rate)
{
  MPI_Barrier(MPI_COMM_WORLD);
  double start = now(), cpu = cpu_seconds(), most;
  for (int i = 0; i < IMBALANCED; i++) {
    work((long)(rate * (me == 0 ? 0.1 : 0.001)));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  cpu = me == 0 ? 0 : cpu_seconds() - cpu;
  double seconds = (now() - start) / IMBALANCED;
  MPI_Reduce(&cpu, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me != 0) return;
  tell("imbalanced", seconds);
  tell("waiting_cpu", most);
}

static void balanced(int me, double rate)
{
  static char out[BYTES], in[BYTES];
  long steps = (long)(rate * 50e-6);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = now();
  for (int i = 0; i < BALANCED; i++) {
    work(steps);
    MPI_Sendrecv(out, BYTES, MPI_BYTE, me ^ 1, 0, in, BYTES, MPI_BYTE, me ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (me == 0) tell("balanced", (now() - start) / BALANCED);
}

static void round_trip(int me)
{
  double buffer = me;
  for (int i = 0; i < CALLS; i++) {
    if (me == 0) MPI_Send(&buffer, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (me < 2) MPI_Recv(&buffer, 1, MPI_DOUBLE, me ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(&buffer, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
}

static void windows(int me)
{
  static double buffer[WINDOW];
  MPI_Request request[WINDOW];
  for (int i = 0; i < CALLS / WINDOW && me < 2; i++) {
    for (int k = 0; k < WINDOW; k++)
      if (me == 0)
        MPI_Isend(&buffer[k], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request[k]);
      else
        MPI_Irecv(&buffer[k], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request[k]);
    MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
    if (me == 1)
      MPI_Send(buffer, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    else
      MPI_Recv(buffer, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void sums(int me)
{
  double mine = me, all;
  for (int i = 0; i < CALLS; i++) MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barriers(int me)
{
  for (int i = 0; i < CALLS; i++) MPI_Barrier(MPI_COMM_WORLD);
}

/* Prints the median of the batches, each of `n` operations. The first one warms up. */
static void batches(int me, const char *row, void (*batch)(int), double n)
{
  double seconds[BATCHES];
  batch(me);
  for (int i = 0; i < BATCHES; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now();
    batch(me);
    seconds[i] = (now() - start) / n;
  }
  sort_samples(seconds, BATCHES);
  if (me == 0) tell(row, seconds[BATCHES / 2]);
}

static void messages(int me)
{
  batches(me, "latency", round_trip, 2 * CALLS);
  batches(me, "rate", windows, CALLS / WINDOW * WINDOW);
  batches(me, "allreduce", sums, CALLS);
  batches(me, "barrier", barriers, CALLS);
}

int main(int argc, char **argv)
{
  int me;
  double mine, rate;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  mine = work_speed();
  MPI_Allreduce(&mine, &rate, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (argc > 1 && strcmp(argv[1], "imbalanced") == 0)
    imbalanced(me, rate);
  else if (argc > 1 && strcmp(argv[1], "messages") == 0)
    messages(me);
  else
    balanced(me, rate);
  MPI_Finalize();
  return 0;
}
