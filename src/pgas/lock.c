/*
 * The lock's long is two words. On the lock's home PE, `tail` names the last PE in the queue (plus one; 0: free). On
 * each PE, `node` is its place in the queue: whether it waits, whether it holds the lock, and who comes next (plus
 * one).
 */
#include "base/error.h"
#include "pgas/sync.h"

typedef struct lock_words {
  _Atomic uint32_t tail, node;
} lock_words;

_Static_assert(sizeof(long) >= sizeof(lock_words), "a long must hold a lock");

enum { HELD = 1u << 30, NEXT = HELD - 1 };
#define WAITING (1u << 31)

static lock_words *words_on(const wtl_pe *self, const long *lock, int pe)
{
  return (lock_words *)(void *)wtl_remote(self, lock, pe);
}

/* Locks spread over the PEs by their place in memory, which is the same on all. */
static lock_words *home(const wtl_pe *self, const long *lock)
{
  bool on_heap = (size_t)((const char *)lock - self->heap) < self->heap_bytes;
  size_t at = (size_t)((const char *)lock - (on_heap ? self->heap : self->statics));
  return words_on(self, lock, (int)(at / sizeof(long) % (size_t)self->n));
}

static bool no_longer_waits(void *arg)
{
  return !(atomic_load_explicit((_Atomic uint32_t *)arg, memory_order_acquire) & WAITING);
}

static bool has_next(void *arg)
{
  return (atomic_load_explicit((_Atomic uint32_t *)arg, memory_order_acquire) & NEXT) != 0;
}

static void refuse_second(wtl_pe *self, const lock_words *mine, const char *call, const long *lock)
{
  if (atomic_load_explicit(&mine->node, memory_order_relaxed) & (HELD | WAITING))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this PE already holds the lock at %p (locks do not nest)", call,
                (const void *)lock);
}

void wtl_lock_set(wtl_pe *self, wtl_site *site, long *lock, const char *call)
{
  lock_words *mine = words_on(self, lock, self->me);
  uint32_t before;
  refuse_second(self, mine, call, lock);
  atomic_store_explicit(&mine->node, WAITING, memory_order_relaxed);
  before = atomic_exchange_explicit(&home(self, lock)->tail, (uint32_t)self->me + 1, memory_order_acq_rel);
  if (before != 0) {
    lock_words *ahead = words_on(self, lock, (int)before - 1);
    atomic_fetch_or_explicit(&ahead->node, (uint32_t)self->me + 1, memory_order_seq_cst);
    wtl_touch(self, (int)before - 1, &ahead->node, sizeof ahead->node); /* it may be waiting to learn who comes next */
    wtl_door_wait(&self->door, site, wtl_watch_of(self, lock), no_longer_waits, &mine->node);
  }
  /* Only WAITING may be taken away here: a successor may have written itself into NEXT already. */
  atomic_fetch_and_explicit(&mine->node, ~WAITING, memory_order_relaxed);
  atomic_fetch_or_explicit(&mine->node, HELD, memory_order_relaxed);
}

bool wtl_lock_test(wtl_pe *self, long *lock, const char *call)
{
  lock_words *mine = words_on(self, lock, self->me);
  uint32_t nobody = 0;
  refuse_second(self, mine, call, lock);
  atomic_store_explicit(&mine->node, HELD, memory_order_relaxed);
  if (atomic_compare_exchange_strong_explicit(&home(self, lock)->tail, &nobody, (uint32_t)self->me + 1,
                                              memory_order_acq_rel, memory_order_acquire))
    return true;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  return false;
}

void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call)
{
  lock_words *mine = words_on(self, lock, self->me);
  uint32_t last = (uint32_t)self->me + 1, next;
  if (!(atomic_load_explicit(&mine->node, memory_order_relaxed) & HELD))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this PE does not hold the lock at %p", call, (const void *)lock);
  wtl_quiet(self); /* what was stored under the lock is visible before the lock is free */
  if (!has_next(&mine->node)) {
    if (atomic_compare_exchange_strong_explicit(&home(self, lock)->tail, &last, 0, memory_order_acq_rel,
                                                memory_order_acquire)) {
      atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
      return;
    }
    wtl_door_wait(&self->door, site, wtl_watch_of(self, lock), has_next, &mine->node);
  }
  next = (atomic_load_explicit(&mine->node, memory_order_acquire) & NEXT) - 1;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  lock_words *behind = words_on(self, lock, (int)next);
  atomic_fetch_and_explicit(&behind->node, ~WAITING, memory_order_seq_cst);
  wtl_touch(self, (int)next, &behind->node, sizeof behind->node);
}
