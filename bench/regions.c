/*
 * regions.c - regions from barrier to barrier, for bench/governor.py: the cost of a governor with and without slack.
 *
 *   barriers in a row; 20 us and 2 ms of work between two; 2 ms for the last PE, none for the others
 *
 * It prints a line of JSON a row: seconds of a region, the median of 25 batches.
 */
#include <shmem.h>

#include "work.h"

enum { BATCHES = 25 };

static void measure(const char *row, long steps, int rounds)
{
  double s[BATCHES];
  for (int b = 0; b < BATCHES; b++) {
    shmem_barrier_all();
    double start = now();
    for (int i = 0; i < rounds; i++) {
      if (steps) work(steps);
      shmem_barrier_all();
    }
    s[b] = (now() - start) / rounds;
  }
  if (shmem_my_pe() == 0) tell_samples(row, s, BATCHES);
}

int main(void)
{
  static double mine, rate;
  shmem_init();
  mine = work_speed();
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, &rate, &mine, 1);
  int is_last = shmem_my_pe() == shmem_n_pes() - 1;
  measure("barriers", 0, 20000);
  measure("brief", (long)(rate * 20e-6), 500);
  measure("equal", (long)(rate * 2e-3), 10);
  measure("unequal", is_last ? (long)(rate * 2e-3) : 0, 10);
  shmem_finalize();
  return 0;
}
