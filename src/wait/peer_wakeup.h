/*
 * peer_wakeup.h - the processes of a node, each asleep until something comes that only its own look can find, wake each other.
 *
 * Who sleeps so has armed its cell. Whoever has done what may concern others (started a message, moved one on) looks at
 * one word that all share, and if it says that somebody has, disarms and wakes a few of them; those wake others in turn.
 * Nobody knows whom it concerned: who wakes looks, and how often it lets itself be woken for nothing is its own affair
 * (wait_by_test.c).
 *
 * No wait depends on it. There is no barrier between what was done and the look at the word, nor a look between arming
 * and sleeping; whoever does not hear it, or has nobody who rings, wakes when its sleep is over. So it may sleep no
 * longer than it can afford to come late.
 *
 * Disarming is the ringer's, so that each sleep is rung for once, and what a killed process left armed costs one ring.
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

/* What the processes share; zeroes at first. */
typedef struct wtl_wakeup_node {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t armed; /* cells that are, or are about to be */
  wtl_wakeup_cell cell[];
} wtl_wakeup_node;

/* A process's. Zeroes: nobody wakes it, and it wakes nobody. */
typedef struct wtl_wakeup {
  wtl_wakeup_node *node;
  int n, me; /* how many cells, and which is its own */
  bool only; /* what it waits for comes from them alone, and one thread waits for it */
} wtl_wakeup;

static inline size_t wtl_wakeup_bytes(int n)
{
  return sizeof(wtl_wakeup_node) + (size_t)n * sizeof(wtl_wakeup_cell);
}

void wtl_wakeup_wake(const wtl_wakeup *r);

/* After what may concern others. */
static inline void wtl_wakeup_others(const wtl_wakeup *r)
{
  if (r->node && WTL_UNLIKELY(atomic_load_explicit(&r->node->armed, memory_order_relaxed) != 0)) wtl_wakeup_wake(r);
}

/* Sleeps for `seconds`, or until somebody rings: then true. One thread of a process is rung for; others sleep their
 * time. */
bool wtl_wakeup_sleep(const wtl_wakeup *r, double seconds);

#endif
