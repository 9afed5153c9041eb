/*
 * yielder.h - yields the core to other threads during a wait, and stops for a while when a yield took long.
 *
 * If all other threads on the core wait as well, a yield returns after one or two context switches. A thread that
 * computes keeps the core for its time slice, which is milliseconds. A waiting thread that sleeps instead runs before
 * the computing one when it is woken (decision 36). So after a yield that took long, waits do not yield for some time.
 */
#ifndef WTL_OS_YIELDER_H
#define WTL_OS_YIELDER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"

/* All zeroes before wtl_yielder_start. Several threads may use one. */
typedef struct wtl_yielder {
  uint64_t computes;           /* ticks: a yield of at least this length is long, so another thread computes */
  _Atomic uint64_t pause;      /* length of the present pause, in multiples of the last long yield */
  _Atomic uint64_t again_from; /* the tick from which yields may be worthwhile again */
} wtl_yielder;

/* Linux's time slices are 0.7 to 2.8 ms and end at a timer tick, 1 to 10 ms. If 300 processes only yield to each other,
 * each runs again after 0.5 ms (1.7 us for a switch, decision 11). */
#define WTL_COMPUTES_S 0.5e-3

/* If more of the job's processes than this share a core, yields also take long when all have slept and wake each other.
 * Sleeping would then lead to more sleeping (decision 11), so no yield counts as long. */
enum { WTL_YIELDER_SHARES = 4 };

/* After the first long yield, waits do not yield for as long as it took. Each further long yield doubles this factor,
 * up to this limit, so that long yields take at most about 1/16 of the time. Each short yield halves the factor. */
enum { WTL_YIELDER_LONGEST_PAUSE = 16 };

/* `sharing`: how many of the job's processes share the core, this one included. */
static inline void wtl_yielder_start(wtl_yielder *l, int sharing)
{
  l->computes = UINT64_MAX;
  if (sharing <= WTL_YIELDER_SHARES) l->computes = (uint64_t)(WTL_COMPUTES_S * 1e9 / wtl_clock_ns_per_tick());
  l->pause = l->again_from = 0;
}

/* True if a yield may be worthwhile at tick `now`. */
static inline bool wtl_yielder_may_yield(const wtl_yielder *l, uint64_t now)
{
  return now >= atomic_load_explicit(&l->again_from, memory_order_relaxed);
}

/* Yields the core once. Returns how many ticks that took. */
static inline uint64_t wtl_yielder_yield(wtl_yielder *l)
{
  uint64_t from = wtl_ticks(), pause = atomic_load_explicit(&l->pause, memory_order_relaxed);
  sched_yield();
  uint64_t took = wtl_ticks() - from;
  if (took >= l->computes) {
    pause = pause == 0 ? 1 : pause < WTL_YIELDER_LONGEST_PAUSE ? 2 * pause : pause;
    atomic_store_explicit(&l->again_from, from + (1 + pause) * took, memory_order_relaxed);
    atomic_store_explicit(&l->pause, pause, memory_order_relaxed);
  } else if (pause) {
    atomic_store_explicit(&l->pause, pause / 2, memory_order_relaxed);
  }
  return took;
}

#endif
