/*
 * clocks.h - clocks, medians of batches and output lines for the benchmarks and mini-apps.
 *
 * A line of a benchmark is a JSON object {"row": NAME, "median_s": SECONDS, ...}; bench/jobs.py reads them.
 */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double seconds_of(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the machine's monotonic clock, which is the same in all processes. */
static inline double now(void)
{
  return seconds_of(CLOCK_MONOTONIC);
}

/* Seconds since 1970, as logs of external power meters have them. */
static inline double time_of_day(void)
{
  return seconds_of(CLOCK_REALTIME);
}

/* CPU seconds of all threads of this process. */
static inline double cpu_seconds(void)
{
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void sleep_for(double seconds)
{
  struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  while (nanosleep(&t, &t) != 0) continue;
}

static inline void compute_for(double seconds)
{
  for (double end = now() + seconds; now() < end;) continue;
}

static inline int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void sort_samples(double *samples, int n)
{
  qsort(samples, (size_t)n, sizeof *samples, ascending);
}

/* Prints the median and the best of the samples, which it sorts. It uses one call, so that lines of several PEs do
 * not mix. */
static inline void tell_samples(const char *row, double *samples, int n)
{
  sort_samples(samples, n);
  printf("{\"row\": \"%s\", \"median_s\": %.4e, \"best_s\": %.4e}\n", row, samples[n / 2], samples[0]);
  fflush(stdout);
}

static inline void tell(const char *row, double seconds)
{
  printf("{\"row\": \"%s\", \"median_s\": %.6e}\n", row, seconds);
  fflush(stdout);
}

#endif
