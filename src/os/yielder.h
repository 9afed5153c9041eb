/*
 * yielder.h - giving the core to others for a turn, while one waits.
 *
 * Where all others wait as well, the core comes back after a switch or two. One that computes keeps it for the
 * scheduler's time slice, milliseconds, at each turn again; who sleeps instead is put before that one when called
 * (decision 36). So once somebody has computed on the core, giving it away by turns is over for a while.
 */
#ifndef WTL_BASE_LEND_H
#define WTL_BASE_LEND_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"

/* Zeroes before the start. Several threads may use one. */
typedef struct wtl_yielder {
  uint64_t computes;           /* ticks: who has the core for so long does */
  _Atomic uint64_t rests;      /* how many times as long as the last turn that was long */
  _Atomic uint64_t again_from; /* the tick from which turns may be worth it again */
} wtl_yielder;

/* Linux's slices are 0.7 to 2.8 ms and end at a tick of the timer, 1 to 10 ms; 300 processes that only yield to each
 * other come round in 0.5 ms (1.7 us a switch, decision 11). */
#define WTL_COMPUTES_S 0.5e-3

/* Where more of a job's processes than these share a core, turns are long as well when all have slept and ring each
 * other's bells, so that sleeping would keep itself up (decision 11): there no turn says anything. */
enum { WTL_YIELDER_SHARES = 4 };

/* After the first long turn none is taken for as long, after each further one for twice as long as after the one before,
 * up to so many times as long: at most one part of so many is lost then. Short turns take that back. */
enum { WTL_YIELDER_RESTS = 16 };

/* `sharing`: how many of the job's processes share the core, this one among them. */
static inline void wtl_yielder_start(wtl_yielder *l, int sharing)
{
  l->computes = UINT64_MAX;
  if (sharing <= WTL_YIELDER_SHARES) l->computes = (uint64_t)(WTL_COMPUTES_S * 1e9 / wtl_clock_ns_per_tick());
  l->rests = l->again_from = 0;
}

/* Is it of use to give the core away by turns, at this tick? */
static inline bool wtl_yielder_may_yield(const wtl_yielder *l, uint64_t now)
{
  return now >= atomic_load_explicit(&l->again_from, memory_order_relaxed);
}

/* One turn; how many ticks it took. */
static inline uint64_t wtl_yielder_yield(wtl_yielder *l)
{
  uint64_t from = wtl_ticks(), rests = atomic_load_explicit(&l->rests, memory_order_relaxed);
  sched_yield();
  uint64_t took = wtl_ticks() - from;
  if (took >= l->computes) {
    rests = rests == 0 ? 1 : rests < WTL_YIELDER_RESTS ? 2 * rests : rests;
    atomic_store_explicit(&l->again_from, from + (1 + rests) * took, memory_order_relaxed);
    atomic_store_explicit(&l->rests, rests, memory_order_relaxed);
  } else if (rests) {
    atomic_store_explicit(&l->rests, rests / 2, memory_order_relaxed);
  }
  return took;
}

#endif
