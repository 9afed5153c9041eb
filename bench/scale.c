/*
 * scale.c - a job on many nodes: start, connections on first contact, memory, and the messages of collectives.
 *
 *   PROGRAM hold FIFO PHASE   does the phase, then waits until FIFO has a writer, so that memory and connections can
 *   be
 *                             read. Each PE prints one JSON line with its times, then "held PE PID".
 *   PROGRAM count CALL N      makes N calls. The profiles of two numbers of calls show the messages of a call.
 *
 * Phases: "barrier" is one barrier. "collectives" is one of each of the calls. "pairs" is a put and a quiet from each
 * PE to each other one, twice: the first makes the connection, the second uses it. Calls: barrier, broadcast, sum,
 * collect, alltoall, of 8 bytes by all PEs.
 */
#include <shmem.h>
#include <stdbool.h>

#include "empty.h"

static const char *const calls[] = {"barrier", "broadcast", "sum", "collect", "alltoall"};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

static long *from, *to; /* a word for each PE */

/* Returns false if there is no such call. */
static bool call(const char *name)
{
  if (!strcmp(name, "barrier"))
    shmem_barrier_all();
  else if (!strcmp(name, "broadcast"))
    shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, 1, 0);
  else if (!strcmp(name, "sum"))
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 1);
  else if (!strcmp(name, "collect"))
    shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, 1);
  else if (!strcmp(name, "alltoall"))
    shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, 1);
  else
    return false;
  return true;
}

/* The median time of a put and a quiet to each other PE, in seconds. All begin with different targets. */
static double touch_all(double *seconds)
{
  int me = shmem_my_pe(), n = shmem_n_pes();
  for (int i = 1; i < n; i++) {
    double began = now();
    shmem_long_p(&to[me], me, (me + i) % n);
    shmem_quiet();
    seconds[i - 1] = now() - began;
  }
  sort_samples(seconds, n - 1);
  return n > 1 ? seconds[(n - 1) / 2] : 0;
}

static int hold_after(const char *phase, const char *fifo, double init)
{
  double first = 0, again = 0;
  char line[200];
  shmem_barrier_all();
  if (!strcmp(phase, "collectives")) {
    for (int i = 0; i < N_CALLS; i++) call(calls[i]);
    shmem_barrier_all();
  } else if (!strcmp(phase, "pairs")) {
    double *seconds = malloc((size_t)shmem_n_pes() * sizeof *seconds);
    if (!seconds) return 71;
    first = touch_all(seconds);
    shmem_barrier_all();
    again = touch_all(seconds);
    shmem_barrier_all();
    free(seconds);
    for (int pe = 0; pe < shmem_n_pes(); pe++)
      if (pe != shmem_my_pe() && to[pe] != pe) return 70;
  } else if (strcmp(phase, "barrier")) {
    return 64;
  }
  snprintf(line, sizeof line,
           "{\"test\": \"scale\", \"pe\": %d, \"init_s\": %.6f, \"first_s\": %.9f, \"again_s\": %.9f}\n", shmem_my_pe(),
           init, first, again);
  say(line);
  hold(shmem_my_pe(), fifo);
  return 0;
}

static int count(const char *name, int n)
{
  shmem_barrier_all();
  for (int i = 0; i < n; i++)
    if (!call(name)) return 64;
  shmem_barrier_all();
  return 0;
}

int main(int argc, char **argv)
{
  int code = 64;
  double began = now();
  shmem_init();
  double init = now() - began;
  from = shmem_calloc((size_t)shmem_n_pes(), sizeof *from);
  to = shmem_calloc((size_t)shmem_n_pes(), sizeof *to);
  if (!from || !to) return 71;
  if (argc == 4 && !strcmp(argv[1], "hold")) code = hold_after(argv[3], argv[2], init);
  if (argc == 4 && !strcmp(argv[1], "count")) code = count(argv[2], atoi(argv[3]));
  if (code) shmem_global_exit(code);
  shmem_finalize();
  return 0;
}
