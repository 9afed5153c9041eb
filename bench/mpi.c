/*
 * mpi.c - MPI programs whose processes wait, for bench/mpi.py: the same binary runs with and without Wattle's
 * library.
 *
 *   mpi imbalanced   rank 0 computes 100 ms, the others 1 ms, then a barrier; 20 times
 *   mpi balanced     both compute 50 us, then exchange 1 KiB with each other; 10,000 times
 *
 * It prints a line of JSON a row: seconds an iteration, and CPU seconds of a waiting rank in the whole loop.
 */
#include <mpi.h>
#include <string.h>

#include "work.h"

enum { IMBALANCED = 20, BALANCED = 10000, BYTES = 1024 };

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
  else
    balanced(me, rate);
  MPI_Finalize();
  return 0;
}
