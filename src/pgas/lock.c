/*
 * The lock's long is two words. On the lock's home PE, `tail` names the last PE in the queue (plus one; 0: free). On
 * each PE, `node` is its place in the queue: whether it waits, whether it holds the lock, and who comes next (plus
 * one).
 */
#include <stddef.h>

#include "base/error.h"
#include "pgas/sync.h"

typedef struct lock_words {
  _Atomic uint32_t tail, node;
} lock_words;

_Static_assert(sizeof(long) >= sizeof(lock_words), "a long must hold a lock");

enum { HELD = 1u << 30, NEXT = HELD - 1 };
#define WAITING (1u << 31)

enum { TAIL = offsetof(lock_words, tail), NODE = offsetof(lock_words, node) };

static lock_words *words_here(const wtl_pe *self, const long *lock)
{
  return (lock_words *)(void *)wtl_remote(self, lock, self->me);
}

/* Locks spread over the PEs by their place in memory, which is the same on all. */
static int home(const wtl_pe *self, const long *lock)
{
  bool on_heap = (size_t)((const char *)lock - self->heap) < self->heap_bytes;
  size_t at = (size_t)((const char *)lock - (on_heap ? self->heap : self->statics));
  return (int)(at / sizeof(long) % (size_t)self->n);
}

/* An atomic operation on a word of the lock, on any PE; returns what was there. The PE that may wait for the word is
 * told. */
static uint32_t operate(wtl_pe *self, wtl_site *site, long *lock, size_t word, int pe, enum wtl_net_op op,
                        uint32_t operand, uint32_t condition)
{
  char *there = wtl_remote(self, lock, pe);
  _Atomic uint32_t *w = (_Atomic uint32_t *)(void *)(there + word);
  uint32_t old = condition;
  if (!there) {
    wtl_far_amo(self, NULL, site, (char *)lock + word, pe, op, sizeof old, operand, condition, &old, false);
    return old;
  }
  switch (op) {
  case WTL_NET_SWAP: old = atomic_exchange(w, operand); break;
  case WTL_NET_CSWAP: atomic_compare_exchange_strong(w, &old, operand); break;
  case WTL_NET_OR: old = atomic_fetch_or(w, operand); break;
  default: old = atomic_fetch_and(w, operand); break;
  }
  wtl_touch(self, pe, w, sizeof *w);
  return old;
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
  lock_words *mine = words_here(self, lock);
  uint32_t before;
  refuse_second(self, mine, call, lock);
  atomic_store_explicit(&mine->node, WAITING, memory_order_relaxed);
  before = operate(self, site, lock, TAIL, home(self, lock), WTL_NET_SWAP, (uint32_t)self->me + 1, 0);
  if (before != 0) {
    operate(self, site, lock, NODE, (int)before - 1, WTL_NET_OR, (uint32_t)self->me + 1,
            0); /* it may wait to learn who comes next */
    wtl_door_wait(&self->door, site, wtl_watch_of(self, lock), no_longer_waits, &mine->node);
  }
  /* Only WAITING may be taken away here: a successor may have written itself into NEXT already. */
  atomic_fetch_and_explicit(&mine->node, ~WAITING, memory_order_relaxed);
  atomic_fetch_or_explicit(&mine->node, HELD, memory_order_relaxed);
}

bool wtl_lock_test(wtl_pe *self, wtl_site *site, long *lock, const char *call)
{
  lock_words *mine = words_here(self, lock);
  refuse_second(self, mine, call, lock);
  atomic_store_explicit(&mine->node, HELD, memory_order_relaxed);
  if (operate(self, site, lock, TAIL, home(self, lock), WTL_NET_CSWAP, (uint32_t)self->me + 1, 0) == 0) return true;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  return false;
}

void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call)
{
  lock_words *mine = words_here(self, lock);
  uint32_t last = (uint32_t)self->me + 1, next;
  if (!(atomic_load_explicit(&mine->node, memory_order_relaxed) & HELD))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this PE does not hold the lock at %p", call, (const void *)lock);
  wtl_quiet(self, site); /* what was stored under the lock is visible before the lock is free */
  if (!has_next(&mine->node)) {
    if (operate(self, site, lock, TAIL, home(self, lock), WTL_NET_CSWAP, 0, last) == last) {
      atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
      return;
    }
    wtl_door_wait(&self->door, site, wtl_watch_of(self, lock), has_next, &mine->node);
  }
  next = (atomic_load_explicit(&mine->node, memory_order_acquire) & NEXT) - 1;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  operate(self, site, lock, NODE, (int)next, WTL_NET_AND, ~WAITING, 0);
}
