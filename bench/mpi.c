/*
 * MPI programs whose processes wait, for bench/mpi.py: the same binary runs with and without Wattle's library.
 *
 *   mpi imbalanced   rank 0 computes 100 ms, the others 1 ms, then a barrier; 20 times
 *   mpi balanced     both compute 50 us, then exchange 1 KiB with each other; 20,000 times
 *
 * A line of JSON a row: seconds an iteration; and CPU seconds of a waiting rank in all of the loop.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { IMBALANCED = 20, BALANCED = 20000, BYTES = 1024 };

static double cpu_seconds(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double now(void)
{
  return MPI_Wtime();
}

/* So many steps of work, whoever else uses the core meanwhile. */
static volatile double sink;
static void work(long steps)
{
  double x = 1;
  for (long i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  sink = x;
}

/* Steps that take a second: the best of some short tries. */
static double speed(void)
{
  double best = 0;
  for (int i = 0; i < 20; i++) {
    double start = now();
    work(200000);
    double rate = 200000 / (now() - start);
    if (rate > best) best = rate;
  }
  return best;
}

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
  printf("{\"row\": \"imbalanced\", \"median_s\": %.9g}\n", seconds);
  printf("{\"row\": \"waiting_cpu\", \"median_s\": %.9g}\n", most);
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
  if (me == 0) printf("{\"row\": \"balanced\", \"median_s\": %.9g}\n", (now() - start) / BALANCED);
}

int main(int argc, char **argv)
{
  int me;
  double mine, rate;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  mine = speed();
  MPI_Allreduce(&mine, &rate, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (argc > 1 && strcmp(argv[1], "imbalanced") == 0)
    imbalanced(me, rate);
  else
    balanced(me, rate);
  MPI_Finalize();
  return 0;
}
