/*
 * sync_group.h - groups of PEs that synchronize, and the state of their nodes.
 *
 * In a barrier of several nodes each node tells the others the longest wait and the greatest loss of its PEs in the
 * last region. This state fits into WTL_STATES values, which travel with the epochs of the barrier. A node merges its
 * own with those that it receives.
 */
#ifndef WTL_GOVERN_SYNC_GROUP_H
#define WTL_GOVERN_SYNC_GROUP_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct wtl_sync_group {
  uint64_t key;          /* the same on all its PEs; 0: all PEs of the job */
  _Atomic uint32_t *far; /* in the node's memory: the WTL_WAITS_* of the other nodes; NULL: they are not known */
} wtl_sync_group;

/* How long a PE waited at the end of its last region: too short for a change of clock; long enough; or also for more
 * than an eighth of the region. */
enum { WTL_WAITS_NOT, WTL_WAITS_LONG, WTL_WAITS_MUCH, WTL_WAITS_CLASSES = 4, WTL_WAITS_SHARE = 8 };
enum { WTL_LOSSES = 64, WTL_STATES = WTL_WAITS_CLASSES * WTL_LOSSES };

unsigned wtl_state_make(unsigned waits, double loss_ns);
double wtl_state_loss_ns(unsigned state);

static inline unsigned wtl_state_waits(unsigned state)
{
  return state % WTL_WAITS_CLASSES;
}

/* The longest wait and the greatest loss of both. */
static inline unsigned wtl_state_merge(unsigned a, unsigned b)
{
  unsigned waits_a = a % WTL_WAITS_CLASSES, waits_b = b % WTL_WAITS_CLASSES, loss_a = a - waits_a, loss_b = b - waits_b;
  return (waits_a > waits_b ? waits_a : waits_b) + (loss_a > loss_b ? loss_a : loss_b);
}

#endif
