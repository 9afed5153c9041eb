/* Each PE computes ARG times, for ARG seconds at the base clock, and sleeps for ARG seconds after each. PE 0 prints "us"
 * and the time. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "wattle_sim.h"

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
  shmem_init();
  int times = argc > 1 ? atoi(argv[1]) : 1;
  double work = argc > 2 ? atof(argv[2]) : 1e-3, rest = argc > 3 ? atof(argv[3]) : 0;
  struct timespec nap = {.tv_sec = (time_t)rest, .tv_nsec = (long)((rest - (double)(time_t)rest) * 1e9)};
  shmem_barrier_all();
  double began = now();
  for (int i = 0; i < times; i++) {
    wattle_sim_compute(work);
    if (rest > 0) nanosleep(&nap, NULL);
  }
  if (shmem_my_pe() == 0) printf("us %.9g\n", 1e6 * (now() - began));
  shmem_finalize();
  return 0;
}
