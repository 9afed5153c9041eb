/*
 * near.h - operations on PEs of this node: a copy or an atomic instruction, and the target's doorbell. rma.h chooses
 * them.
 *
 * Order. A store of 1, 2, 4 or 8 aligned bytes is one atomic store, so flags that are written by put work as the
 * standard says. A full barrier and a look at the target's doorbell follow only while PEs of the node may be asleep
 * (wait/sleep_notice.h).
 */
#ifndef WTL_PGAS_NEAR_H
#define WTL_PGAS_NEAR_H

#include "base/amo.h"
#include "base/words.h"
#include "pgas/far.h"
#include "pgas/op.h"
#include "pgas/pe.h"

/* Wakes threads of PE `pe` that watch the `n` bytes at `at` of its slice. A full barrier must lie between the store and
 * this call. */
static inline void wtl_touch(const wtl_pe *self, int pe, const void *at, size_t n)
{
  wtl_bell *bell = &wtl_control_of(self, pe)->bell;
  if (wtl_bell_has_sleeper(bell))
    wtl_bell_ring_at(bell, (size_t)((const char *)at - self->slices) - (size_t)self->slot_of[pe] * self->stride, n);
}

/* Does the same while there is a notice of sleepers, with the barrier that wtl_touch needs. */
void wtl_touch_with_notice(wtl_pe *self, int pe, const void *at, size_t n);

/* Does the same after plain stores to the `n` bytes at `at`. */
static inline void wtl_touch_stored(wtl_pe *self, int pe, const void *at, size_t n)
{
  if (WTL_UNLIKELY(wtl_notice_is_up(self->notice))) wtl_touch_with_notice(self, pe, at, n);
}

/* Does the same as wtl_touch for control data, which a PE watches in barriers. */
static inline void wtl_touch_control(const wtl_pe *self, int pe)
{
  wtl_bell *bell = &wtl_control_of(self, pe)->bell;
  wtl_os_near_access(sizeof bell->asleep);
  if (wtl_bell_has_sleeper(bell)) wtl_bell_ring_control(bell);
}

/* Doorbells see global memory at this offset, behind every slice. */
#define WTL_GLOBAL_WATCH ((size_t)1 << 46)

static inline size_t wtl_near_global_offset(const wtl_pe *self, int slot, const void *at)
{
  return (size_t)((const char *)at - self->global_map.slices) - (size_t)slot * self->global_map.stride;
}

/* Does the same as wtl_touch for `n` bytes of global memory. */
static inline void wtl_touch_global(const wtl_pe *self, int pe, const void *at, size_t n)
{
  wtl_bell *bell = &wtl_control_of(self, pe)->bell;
  if (wtl_bell_has_sleeper(bell))
    wtl_bell_ring_at(bell, WTL_GLOBAL_WATCH + wtl_near_global_offset(self, self->slot_of[pe], at), n);
}

/* The value to watch for a thread that waits for a variable of its own PE. */
static inline wtl_watch wtl_watch_of(const wtl_pe *self, const void *variable)
{
  const char *mine = wtl_remote(self, variable, self->me), *slice = self->slices + (size_t)self->slot * self->stride;
  return mine ? WTL_WATCH_OFFSET(mine - slice) : WTL_WATCH_ALL;
}

/* Stores `n` bytes at `to`, the address of PE `pe`'s memory in this process. Source and target may be the same. */
static inline void wtl_near_put(wtl_pe *self, void *to, const void *from, size_t n, int pe)
{
  if (WTL_UNLIKELY(n == 0)) return;
  wtl_os_near_access(n);
  wtl_store_bytes_only(to, from, n);
  wtl_touch_stored(self, pe, to, n);
}

/* Global memory has the same address in all PEs of its node. NULL: PE `pe` is on another node. */
static inline char *wtl_near_global(const wtl_pe *self, void *addr, int pe)
{
  return WTL_LIKELY(self->slot_of[pe] >= 0) ? addr : NULL;
}

static inline __attribute__((always_inline)) void wtl_near_amo(const wtl_op *op, char *to, wtl_atomic a, void *result)
{
  wtl_os_near_access(a.size);
  uint64_t old = wtl_atomic_execute(to, a);
  if (result) memcpy(result, &old, a.size); /* all supported machines are little-endian */
  if (a.kind == WTL_AMO_FETCH) return;
  if (op->memory == WTL_GLOBAL)
    wtl_touch_global(op->self, op->pe, to, a.size);
  else
    wtl_touch(op->self, op->pe, to, a.size);
}

/* Makes all earlier stores of this PE visible to all PEs before its later loads. `flow` as in op.h. */
static inline void wtl_quiet_flow(wtl_pe *self, wtl_net_flow *flow, wtl_site *site)
{
  wtl_fence();
  if (WTL_UNLIKELY(self->net != NULL)) wtl_far_quiet(self, flow, site);
}

static inline void wtl_quiet(wtl_pe *self, wtl_site *site)
{
  wtl_quiet_flow(self, NULL, site);
}

/* Does the same for the operations on one PE. */
static inline void wtl_pe_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe)
{
  wtl_fence();
  if (WTL_UNLIKELY(self->net != NULL) && self->slot_of[pe] < 0) wtl_far_pe_quiet(self, flow, site, pe);
}

/* Makes this PE's earlier stores visible before its later ones. Copies that bypass the cache end with a fence of their
 * own. */
static inline void wtl_order(wtl_pe *self, wtl_net_flow *flow, wtl_site *site)
{
  wtl_fence_store();
  if (WTL_UNLIKELY(self->net != NULL)) wtl_far_order(self, flow, site);
}

/* Copies blocks of `block` bytes, one every `to_step` and `from_step` bytes; a complement of a step goes backwards.
 * Single words are copied atomically. */
static inline void wtl_copy_blocks(char *to, size_t to_step, const char *from, size_t from_step, size_t block,
                                   size_t blocks)
{
  const ptrdiff_t n = (ptrdiff_t)blocks, to_by = (ptrdiff_t)to_step, from_by = (ptrdiff_t)from_step;
#define WORDS(type)                                                                                                    \
  for (ptrdiff_t i = 0; i < n; i++)                                                                                    \
  __atomic_store_n((type *)(void *)(to + i * to_by),                                                                   \
                   __atomic_load_n((const type *)(const void *)(from + i * from_by), __ATOMIC_RELAXED),                \
                   __ATOMIC_RELAXED)
  bool aligned = (((uintptr_t)to | (uintptr_t)from | to_step | from_step) & (block - 1)) == 0;
  if (block == 8 && aligned)
    WORDS(uint64_t);
  else if (block == 4 && aligned)
    WORDS(uint32_t);
  else
    for (ptrdiff_t i = 0; i < n; i++) memmove(to + i * to_by, from + i * from_by, block);
#undef WORDS
}

static inline void wtl_near_put_blocks(wtl_pe *self, int pe, char *to, const void *from, wtl_blocks b)
{
  if (WTL_UNLIKELY(b.bytes == 0 || b.n == 0)) return;
  wtl_os_near_access(b.bytes * b.n);
  wtl_copy_blocks(to, b.to_step, from, b.from_step, b.bytes, b.n);
  wtl_touch_stored(self, pe, to, (b.n - 1) * b.to_step + b.bytes);
}

static inline void wtl_near_get_blocks(void *to, const char *from, wtl_blocks b)
{
  wtl_os_near_access(b.bytes * b.n);
  wtl_copy_blocks(to, b.to_step, from, b.from_step, b.bytes, b.n);
  wtl_fence_load();
}

/* Sends a signal to `word`, the address of the target's word in this process. Earlier stores are visible before it. */
static inline __attribute__((always_inline)) void wtl_near_signal(const wtl_op *op, char *word, wtl_signal s)
{
  if (s.adds) {
    wtl_near_amo(op, word, (wtl_atomic){WTL_AMO_ADD, sizeof s.value, s.value, 0}, NULL);
    return;
  }
  wtl_os_near_access(sizeof s.value);
  __atomic_store_n((uint64_t *)(void *)word, s.value, __ATOMIC_RELEASE);
  wtl_touch_stored(op->self, op->pe, word, sizeof s.value);
}

#endif
