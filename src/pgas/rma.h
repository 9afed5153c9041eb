/*
 * rma.h - put, get and atomic operations on PEs of this node: address arithmetic, a copy, and the target's bell.
 *
 * Order: a store of 1, 2, 4 or 8 aligned bytes is one atomic store, and as strong as a full barrier, so that flags
 * written by put work as the standard says and the bell's protocol holds (wait/doorbell.h). Longer stores are followed
 * by a full barrier.
 */
#ifndef WTL_PGAS_RMA_H
#define WTL_PGAS_RMA_H

#include <string.h>

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
  if (wtl_bell_has_sleeper(bell)) wtl_bell_ring(bell);
}

/* What a PE watches that waits for a variable of its own. */
static inline wtl_watch wtl_watch_of(const wtl_pe *self, const void *variable)
{
  const char *mine = wtl_remote(self, variable, self->me), *slice = self->slices + (size_t)self->slot * self->stride;
  return mine ? WTL_WATCH_OFFSET(mine - slice) : WTL_WATCH_ALL;
}

static inline bool wtl_is_word(const void *a, size_t n)
{
  return (n == 8 || n == 4 || n == 2 || n == 1) && ((uintptr_t)a & (n - 1)) == 0;
}

#if defined(WTL_MUTANT_NO_FENCE)
#define WTL_STORE_ORDER __ATOMIC_RELEASE
#else
#define WTL_STORE_ORDER __ATOMIC_SEQ_CST
#endif

static inline void wtl_store_word(void *to, const void *from, size_t n)
{
  switch (n) {
  case 1: {
    uint8_t v;
    memcpy(&v, from, 1);
    __atomic_store_n((uint8_t *)to, v, WTL_STORE_ORDER);
    break;
  }
  case 2: {
    uint16_t v;
    memcpy(&v, from, 2);
    __atomic_store_n((uint16_t *)to, v, WTL_STORE_ORDER);
    break;
  }
  case 4: {
    uint32_t v;
    memcpy(&v, from, 4);
    __atomic_store_n((uint32_t *)to, v, WTL_STORE_ORDER);
    break;
  }
  case 8: {
    uint64_t v;
    memcpy(&v, from, 8);
    __atomic_store_n((uint64_t *)to, v, WTL_STORE_ORDER);
    break;
  }
  }
}

static inline void wtl_load_word(void *to, const void *from, size_t n)
{
  switch (n) {
  case 1: {
    uint8_t v = __atomic_load_n((const uint8_t *)from, __ATOMIC_ACQUIRE);
    memcpy(to, &v, 1);
    break;
  }
  case 2: {
    uint16_t v = __atomic_load_n((const uint16_t *)from, __ATOMIC_ACQUIRE);
    memcpy(to, &v, 2);
    break;
  }
  case 4: {
    uint32_t v = __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE);
    memcpy(to, &v, 4);
    break;
  }
  case 8: {
    uint64_t v = __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE);
    memcpy(to, &v, 8);
    break;
  }
  }
}

/* `to`: the target's address as wtl_remote gives it. Source and target may be the same. */
static inline void wtl_put(const wtl_pe *self, void *to, const void *from, size_t n, int pe)
{
  if (WTL_LIKELY(wtl_is_word(to, n))) {
    wtl_store_word(to, from, n);
  } else {
    if (n == 0) return;
    memmove(to, from, n);
    wtl_fence();
  }
  wtl_touch(self, pe, to, n);
}

static inline void wtl_get(void *to, const void *from, size_t n)
{
  if (WTL_LIKELY(wtl_is_word(from, n))) {
    wtl_load_word(to, from, n);
  } else if (n) {
    memmove(to, from, n);
    wtl_load_fence();
  }
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
