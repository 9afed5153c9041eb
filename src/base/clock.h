/*
 * clock.h - the cheapest monotonic clock there is, and its rate.
 *
 * Ticks are the time-stamp counter where the CPU keeps it constant (CPUID 8000_0007h EDX bit 8), CLOCK_MONOTONIC's
 * nanoseconds otherwise. A tick's length is fitted against CLOCK_MONOTONIC between the time that the library was loaded
 * and that of the question. In simulation ticks are simulated nanoseconds.
 */
#ifndef WTL_BASE_CLOCK_H
#define WTL_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef WTL_SIM
#include "sim/os.h"
#endif

extern bool wtl_clock_has_tsc; /* set when the library is loaded */

/* Nanoseconds per tick. Waits until 2 ms have passed since then. */
double wtl_clock_ns_per_tick(void);

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t wtl_clock_ns(void)
{
#ifdef WTL_SIM
  return wtl_os_ns();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static inline uint64_t wtl_ticks(void)
{
#if defined(__x86_64__) && !defined(WTL_SIM)
  if (__builtin_expect(wtl_clock_has_tsc, 1)) return __builtin_ia32_rdtsc();
#endif
  return wtl_clock_ns();
}

#endif
