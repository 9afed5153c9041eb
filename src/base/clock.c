#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/atomic.h"

bool wtl_clock_has_tsc;

#if defined(__SANITIZE_THREAD__)
_Atomic int wtl_fence_word; /* see atomic.h */
#endif

/* Both clocks at one moment. */
typedef struct moment {
  uint64_t ns, ticks;
} moment;

static moment started;

/* Of a few readings the one that took the least: between the two of another the core may have been somebody else's. */
static moment now(void)
{
  moment best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5; i++) {
    uint64_t before = wtl_ticks(), ns = wtl_clock_ns(), took = wtl_ticks() - before;
    if (took >= least) continue;
    least = took;
    best = (moment){ns, before + took / 2};
  }
  return best;
}

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
  started = now();
}

#endif

double wtl_clock_ns_per_tick(void)
{
  if (!wtl_clock_has_tsc) return 1.0;
  /* Two readings at least 2 ms apart bound the error by the reading's own ~50 ns: 25 ppm, and less the longer the
   * program runs. */
  while (wtl_clock_ns() - started.ns < 2000000) wtl_relax();
  moment then = now();
  return (double)(then.ns - started.ns) / (double)(then.ticks - started.ticks);
}
