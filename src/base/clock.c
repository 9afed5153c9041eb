#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/atomic.h"

bool wtl_clock_has_tsc;

#if defined(__SANITIZE_THREAD__)
_Atomic int wtl_fence_word; /* see atomic.h */
#endif

static uint64_t start_ns, start_ticks;

#ifndef WTL_SIM

static bool tsc_is_constant(void)
{
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
  return false;
#endif
}

/* When the library is loaded, before all else that may ask for ticks. When somebody asks what a tick is, the two
 * milliseconds that takes have mostly passed: nobody waits for them. */
__attribute__((constructor(101))) static void start(void)
{
  wtl_clock_has_tsc = tsc_is_constant();
  start_ns = wtl_clock_ns();
  start_ticks = wtl_ticks();
}

#endif

double wtl_clock_ns_per_tick(void)
{
  if (!wtl_clock_has_tsc) return 1.0;
  /* Two readings at least 2 ms apart bound the error by the reading's own ~50 ns: 25 ppm, and less the longer the
   * program runs. */
  while (wtl_clock_ns() - start_ns < 2000000) wtl_relax();
  return (double)(wtl_clock_ns() - start_ns) / (double)(wtl_ticks() - start_ticks);
}
