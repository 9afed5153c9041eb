/*
 * rma.h - put, get and atomic operations on PEs of this node: address arithmetic, a copy, and the target's bell.
 *
 * Order: a store of 1, 2, 4 or 8 aligned bytes is one atomic store, and as strong as a full barrier, so that flags
 * written by put work as the standard says and the bell's protocol holds (wait/doorbell.h). Longer stores are followed
 * by a full barrier.
 */
#ifndef WTL_PGAS_RMA_H
#define WTL_PGAS_RMA_H

#include "base/words.h"
#include "pgas/far.h"
#include "pgas/pe.h"

/* Tells PE `pe` that the `n` bytes at `at` of its slice changed. A full barrier must lie between the store and this. */
static inline void wtl_touch(const wtl_pe *self, int pe, const void *at, size_t n)
{
  wtl_bell *bell = &wtl_control_of(self, pe)->bell;
  if (wtl_bell_has_sleeper(bell))
    wtl_bell_ring_at(bell, (size_t)((const char *)at - self->slices) - (size_t)self->slot_of[pe] * self->stride, n);
}

/* Likewise for control data, which a PE waits for in barriers. */
static inline void wtl_touch_control(const wtl_pe *self, int pe)
{
  wtl_bell *bell = &wtl_control_of(self, pe)->bell;
  if (wtl_bell_has_sleeper(bell)) wtl_bell_ring_control(bell);
}

/* What a PE watches that waits for a variable of its own. */
static inline wtl_watch wtl_watch_of(const wtl_pe *self, const void *variable)
{
  const char *mine = wtl_remote(self, variable, self->me), *slice = self->slices + (size_t)self->slot * self->stride;
  return mine ? WTL_WATCH_OFFSET(mine - slice) : WTL_WATCH_ALL;
}

/* `to`: the target's address as wtl_remote gives it. Source and target may be the same. */
static inline void wtl_put(const wtl_pe *self, void *to, const void *from, size_t n, int pe)
{
  if (WTL_UNLIKELY(n == 0)) return;
  wtl_store_bytes(to, from, n);
  wtl_touch(self, pe, to, n);
}

static inline void wtl_get(void *to, const void *from, size_t n)
{
  wtl_load_bytes(to, from, n);
}

/* All this PE's earlier stores are visible to all PEs before its later loads. */
static inline void wtl_quiet(wtl_pe *self, wtl_site *site)
{
  wtl_fence();
  if (WTL_UNLIKELY(self->net != NULL)) wtl_far_quiet(self, site);
}

/* This PE's earlier stores are visible before its later ones. Copies that bypass the cache are fenced by the copy
 * itself. */
static inline void wtl_order(wtl_pe *self, wtl_site *site)
{
  wtl_store_fence();
  if (WTL_UNLIKELY(self->net != NULL)) wtl_far_order(self, site);
}

#endif
