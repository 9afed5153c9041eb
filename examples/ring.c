/*
 * ring.c - a token goes round all PEs: each waits for it, adds 1 and passes it on. It shows the cost of a message
 * and the cost of waiting, because all PEs except one always wait.
 */
#include <shmem.h>
#include <time.h>

#include "options.h"

static long token; /* symmetric: the value that the left neighbour passed on */

/* Returns the time in seconds. */
static double pass_on(long laps)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
  struct timespec start, end;
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long lap = 0; lap < laps; lap++) {
    /* In each lap the token has another value at each PE, so a PE recognizes it. PE 0 begins with it. */
    long here = lap * n + me;
    if (here > 0) shmem_long_wait_until(&token, SHMEM_CMP_EQ, here);
    shmem_long_p(&token, here + 1, next);
  }
  if (me == 0) shmem_long_wait_until(&token, SHMEM_CMP_EQ, laps * n);
  clock_gettime(CLOCK_MONOTONIC, &end);
  shmem_barrier_all();
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

int main(int argc, char **argv)
{
  option options[] = {{"laps", 1000, 1, 1e9, "number of laps of the token"}};
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), bad = 0;
  int code = options_parse(argc, argv, "a token goes round all PEs; checks that no PE passed it on twice", options, 1,
                           me == 0);
  if (code == OPTIONS_GO) {
    long laps = (long)options[0].value;
    double seconds = pass_on(laps);
    if (me == 0) {
      bad = token != laps * n;
      printf("ring: %ld laps of %d PEs: %.3f s, %.2f us from PE to PE: %s\n", laps, n, seconds,
             1e6 * seconds / (double)(laps * n), bad ? "WRONG" : "correct");
    }
  }
  shmem_finalize();
  return code == OPTIONS_WRONG ? 64 : bad;
}
