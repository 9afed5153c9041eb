#include "team/lock.h"

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "pgas/near.h"
#include "profile/caller.h"

typedef struct lock_words {
  _Atomic uint32_t tail, node;
} lock_words;

_Static_assert(sizeof(long) >= sizeof(lock_words), "a long must hold a lock");

enum { HELD = 1u << 30, NEXT = HELD - 1 };
#define WAITING (1u << 31)

enum { TAIL = offsetof(lock_words, tail), NODE = offsetof(lock_words, node) };

/* --- locks in symmetric memory ------------------------------------------------------------------------------------- */

static long *word_of(const wtl_queue_lock *l)
{
  return (long *)(uintptr_t)l->at;
}

static char *here(const wtl_pe *self, const wtl_queue_lock *l, int pe)
{
  return wtl_remote(self, l->at, pe);
}

static wtl_place place(const wtl_pe *self, const wtl_queue_lock *l, int pe)
{
  (void)pe;
  return wtl_far_place(self, l->at);
}

static wtl_watch watch(const wtl_pe *self, const wtl_queue_lock *l)
{
  return wtl_watch_of(self, word_of(l));
}

static void name(const wtl_queue_lock *l, char *text, size_t size)
{
  snprintf(text, size, "the lock at %p", l->at);
}

static const wtl_lock_memory symmetric_memory = {here, place, wtl_touch, watch, name};

/* Locks spread over the PEs by their place in memory, which is the same on all. */
static wtl_queue_lock symmetric_lock(const wtl_pe *self, const long *words)
{
  bool on_heap = (size_t)((const char *)words - self->heap) < self->heap_bytes;
  size_t at = (size_t)((const char *)words - (on_heap ? self->heap : self->statics));
  return (wtl_queue_lock){&symmetric_memory, words, (int)(at / sizeof(long) % (size_t)self->n)};
}

/* --- the queue ---------------------------------------------------------------------------------------------------- */

static lock_words *words_here(const wtl_pe *self, const wtl_queue_lock *l)
{
  return (lock_words *)(void *)l->in->here(self, l, self->me);
}

/* The lock's name in messages. */
typedef struct lock_name {
  char text[64];
} lock_name;

static lock_name name_of(const wtl_queue_lock *l)
{
  lock_name n;
  l->in->name(l, n.text, sizeof n.text);
  return n;
}

static uint32_t far_operate(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, size_t word, int pe,
                            enum wtl_net_op op, uint32_t operand, uint32_t condition)
{
  uint32_t old = condition;
  _Atomic uint32_t left = 0;
  wtl_place at = l->in->place(self, l, pe);
  at.offset += word;
  wtl_far_amo_at(self, NULL, site, pe, at, op, sizeof old, operand, condition, &old, &left);
  wtl_far_wait(self, site, &left);
  return old;
}

/* An atomic operation on a word of the lock, on any PE; returns what was there. The PE that may wait for the word is
 * told. */
static uint32_t operate(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, size_t word, int pe, enum wtl_net_op op,
                        uint32_t operand, uint32_t condition)
{
  char *there = l->in->here(self, l, pe);
  _Atomic uint32_t *w = (_Atomic uint32_t *)(void *)(there + word);
  uint32_t old = condition;
  if (!there) return far_operate(self, site, l, word, pe, op, operand, condition);
  switch (op) {
  case WTL_NET_SWAP: old = atomic_exchange(w, operand); break;
  case WTL_NET_CSWAP: atomic_compare_exchange_strong(w, &old, operand); break;
  case WTL_NET_OR: old = atomic_fetch_or(w, operand); break;
  default: old = atomic_fetch_and(w, operand); break;
  }
  l->in->touch(self, pe, w, sizeof *w);
  return old;
}

/* For a word of the lock's long here, which PE `pe` changes; -1: it is not known yet which. */
static void wait_for(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, bool (*ready)(void *), lock_words *mine,
                     int pe)
{
  wtl_door_wait_for(&self->door, site, l->in->watch(self, l), ready, &mine->node, pe);
}

static bool no_longer_waits(void *arg)
{
  return !(atomic_load_explicit((_Atomic uint32_t *)arg, memory_order_acquire) & WAITING);
}

static bool has_next(void *arg)
{
  return (atomic_load_explicit((_Atomic uint32_t *)arg, memory_order_acquire) & NEXT) != 0;
}

/* Takes this PE's place in the queue, of which it has one: of two threads, too, only one gets it. */
static bool take_place(lock_words *mine, uint32_t as)
{
  uint32_t was = atomic_load_explicit(&mine->node, memory_order_relaxed);
  do {
    if (was & HELD) return false;
  } while (!atomic_compare_exchange_weak_explicit(&mine->node, &was, as, memory_order_relaxed, memory_order_relaxed));
  return true;
}

void wtl_queue_lock_set(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call)
{
  lock_words *mine = words_here(self, l);
  uint32_t before;
  if (!take_place(mine, WAITING | HELD)) /* the place is taken all the while, whoever ends the wait */
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: this PE already holds %s (locks do not nest), or another of its threads is asking for "
                "it (a lock is a PE's, not a thread's)",
                wtl_here(call), name_of(l).text);
  before = operate(self, site, l, TAIL, l->home, WTL_NET_SWAP, (uint32_t)self->me + 1, 0);
  if (before != 0) {
    /* It may wait to learn who comes next. */
    operate(self, site, l, NODE, (int)before - 1, WTL_NET_OR, (uint32_t)self->me + 1, 0);
    wait_for(self, site, l, no_longer_waits, mine, (int)before - 1);
  }
  /* Only WAITING may be taken away here: a successor may have written itself into NEXT already. */
  atomic_fetch_and_explicit(&mine->node, ~WAITING, memory_order_relaxed);
}

bool wtl_queue_lock_test(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l)
{
  lock_words *mine = words_here(self, l);
  if (!take_place(mine, HELD)) return false; /* a lock that this PE has is set, too */
  if (operate(self, site, l, TAIL, l->home, WTL_NET_CSWAP, (uint32_t)self->me + 1, 0) == 0) return true;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  return false;
}

void wtl_queue_lock_clear(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call)
{
  lock_words *mine = words_here(self, l);
  uint32_t last = (uint32_t)self->me + 1, next;
  if ((atomic_load_explicit(&mine->node, memory_order_relaxed) & (HELD | WAITING)) != HELD)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this PE does not hold %s", wtl_here(call), name_of(l).text);
  if (!has_next(&mine->node)) {
    if (operate(self, site, l, TAIL, l->home, WTL_NET_CSWAP, 0, last) == last) {
      atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
      return;
    }
    wait_for(self, site, l, has_next, mine, -1);
  }
  next = (atomic_load_explicit(&mine->node, memory_order_acquire) & NEXT) - 1;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  operate(self, site, l, NODE, (int)next, WTL_NET_AND, ~WAITING, 0);
}

/* --- the standard's routines --------------------------------------------------------------------------------------- */

void wtl_lock_set(wtl_pe *self, wtl_site *site, long *lock, const char *call)
{
  wtl_queue_lock l = symmetric_lock(self, lock);
  wtl_queue_lock_set(self, site, &l, call);
}

bool wtl_lock_test(wtl_pe *self, wtl_site *site, long *lock)
{
  wtl_queue_lock l = symmetric_lock(self, lock);
  return wtl_queue_lock_test(self, site, &l);
}

void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call)
{
  wtl_queue_lock l = symmetric_lock(self, lock);
  wtl_quiet(self, site); /* stores made under the lock are visible before the lock is free */
  wtl_queue_lock_clear(self, site, &l, call);
}
