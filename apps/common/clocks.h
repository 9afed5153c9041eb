/* clocks.h - monotonic time, time of day, CPU time and sleep. */
#ifndef APPS_CLOCKS_H
#define APPS_CLOCKS_H

#include <time.h>

static inline double clock_seconds(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double seconds_now(void)
{
  return clock_seconds(CLOCK_MONOTONIC);
}

/* Seconds since 1970, as logs of external power meters have them. */
static inline double time_of_day(void)
{
  return clock_seconds(CLOCK_REALTIME);
}

/* CPU seconds of all threads of this process. */
static inline double cpu_seconds_now(void)
{
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void sleep_seconds(double s)
{
  struct timespec t = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};
  while (nanosleep(&t, &t) != 0) continue;
}

#endif
