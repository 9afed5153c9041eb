/* work.h - a fixed amount of work, however other processes use the core meanwhile. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "clocks.h"

static volatile double work_done;

/* Runs `steps` steps. */
static inline void work(long steps)
{
  double x = 1;
  for (long i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  work_done = x;
}

/* Steps in a second: the best of some short tries. */
static inline double work_speed(void)
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

#endif
