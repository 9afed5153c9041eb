/*
 * peer_wakeup.h - lets the processes of a node wake each other while they sleep between tests (wait_by_test.c).
 *
 * DESIGN. A process that sleeps here has set `armed` in its cell. A process that has made progress which may concern
 * others (it has started or completed a message) reads the shared `armed`. If any cell is armed, it disarms a few cells
 * and wakes their processes; those wake others in turn. It cannot know which process is concerned. So each one tests
 * after a wake-up, and decides how often it accepts a wake-up that was in vain.
 *
 * No wait depends on a wake-up. There is no barrier between the progress and the read of `armed`, and no test between
 * arming and sleeping. A process that misses a wake-up wakes when its sleep is over, so it must sleep no longer than
 * the delay it accepts.
 *
 * The process that wakes another one disarms its cell. So each sleep gets one wake-up at most, and a cell that a killed
 * process left armed costs one.
 */
#ifndef WTL_WAIT_PEER_WAKEUP_H
#define WTL_WAIT_PEER_WAKEUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/atomic.h"

typedef struct wtl_wakeup_cell {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t armed; /* futex word: 1 while a thread of the process sleeps here */
} wtl_wakeup_cell;

/* Shared by the processes of the node; all zeroes at first. */
typedef struct wtl_wakeup_node {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t armed; /* number of cells that are armed or about to be */
  wtl_wakeup_cell cell[];
} wtl_wakeup_node;

/* State of one process. All zeroes: it wakes no process and none wakes it. */
typedef struct wtl_wakeup {
  wtl_wakeup_node *node;
  int n, me; /* the number of cells, and the index of its own */
  bool only; /* only these processes can end its wait, and only one of its threads waits */
} wtl_wakeup;

static inline size_t wtl_wakeup_bytes(int n)
{
  return sizeof(wtl_wakeup_node) + (size_t)n * sizeof(wtl_wakeup_cell);
}

void wtl_wakeup_wake(const wtl_wakeup *r);

/* Wakes others after progress that may concern them. */
static inline void wtl_wakeup_others(const wtl_wakeup *r)
{
  if (r->node && WTL_UNLIKELY(atomic_load_explicit(&r->node->armed, memory_order_relaxed) != 0)) wtl_wakeup_wake(r);
}

/* Sleeps for `seconds`, or until another process wakes it; then returns true. One thread of a process can be woken.
 * Its other threads sleep the whole time. */
bool wtl_wakeup_sleep(const wtl_wakeup *r, double seconds);

#endif
