/* lock.c - locks of OpenSHMEM, and the queue that all kinds of locks share (lock.h). */
#include "team/lock.h"

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "pgas/rma.h"
#include "profile/error_place.h"

typedef struct lock_words {
  _Atomic uint32_t tail, node;
} lock_words;

_Static_assert(sizeof(long) >= sizeof(lock_words), "a long must hold a lock");

enum { HELD = 1u << 30, NEXT = HELD - 1 };
#define WAITING (1u << 31)

enum { TAIL = offsetof(lock_words, tail), NODE = offsetof(lock_words, node) };

/* --- locks in symmetric memory ------------------------------------------------------------------------------------ */

static long *word_of(const wtl_queue_lock *l)
{
  return (long *)(uintptr_t)l->at;
}

static long *word(const wtl_queue_lock *l, int pe)
{
  (void)pe;
  return word_of(l);
}

static wtl_watch watch(const wtl_pe *self, const wtl_queue_lock *l)
{
  return wtl_watch_of(self, word_of(l));
}

static void name(const wtl_queue_lock *l, char *text, size_t size)
{
  snprintf(text, size, "the lock at %p", l->at);
}

static const wtl_lock_memory symmetric_memory = {WTL_SYMMETRIC, word, watch, name};

/* The homes of locks are spread over the PEs by the lock's place in memory, which is the same on all PEs. */
static wtl_queue_lock symmetric_lock(const wtl_pe *self, const long *words)
{
  bool on_heap = (size_t)((const char *)words - self->heap) < self->heap_bytes;
  size_t at = (size_t)((const char *)words - (on_heap ? self->heap : self->statics));
  return (wtl_queue_lock){&symmetric_memory, words, (int)(at / sizeof(long) % (size_t)self->n)};
}

/* --- the queue ---------------------------------------------------------------------------------------------------- */

static lock_words *words_here(const wtl_pe *self, const wtl_queue_lock *l)
{
  return (lock_words *)(void *)l->in->word(l, self->me);
}

/* The name of the lock in messages. */
typedef struct lock_name {
  char text[64];
} lock_name;

static lock_name name_of(const wtl_queue_lock *l)
{
  lock_name n;
  l->in->name(l, n.text, sizeof n.text);
  return n;
}

/* Runs an atomic operation on the word at `offset` of the lock's long on PE op.pe. Returns the old value. */
static uint32_t operate(wtl_op op, const wtl_queue_lock *l, size_t offset, wtl_atomic a)
{
  uint32_t old;
  a.size = sizeof old;
  op.memory = l->in->memory;
  wtl_amo(op, (char *)l->in->word(l, op.pe) + offset, a, &old);
  return old;
}

/* Waits for a change of the lock's long on this PE, made by PE `pe`; -1: that PE is not known yet. */
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

/* Takes this PE's place in the queue. A PE has one place, so only one of two threads gets it. */
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
  wtl_op at_home = {.self = self, .site = site, .pe = l->home}, at_other = at_home;
  if (!take_place(mine, WAITING | HELD)) /* the place stays taken, however the wait ends */
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: this PE already holds %s (locks do not nest), or another of its threads waits for it "
                "(a lock belongs to a PE, not to a thread)",
                wtl_error_place(call), name_of(l).text);
  uint32_t before = operate(at_home, l, TAIL, (wtl_atomic){WTL_AMO_SWAP, .operand = (uint32_t)self->me + 1});
  if (before != 0) {
    /* That PE may wait for the number of its successor. */
    at_other.pe = (int)before - 1;
    operate(at_other, l, NODE, (wtl_atomic){WTL_AMO_OR, .operand = (uint32_t)self->me + 1});
    wait_for(self, site, l, no_longer_waits, mine, (int)before - 1);
  }
  /* Clears WAITING alone: a successor may have written its number into NEXT already. */
  atomic_fetch_and_explicit(&mine->node, ~WAITING, memory_order_relaxed);
}

bool wtl_queue_lock_test(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l)
{
  lock_words *mine = words_here(self, l);
  wtl_op at_home = {.self = self, .site = site, .pe = l->home};
  if (!take_place(mine, HELD)) return false; /* a lock that this PE holds is set, too */
  if (operate(at_home, l, TAIL, (wtl_atomic){WTL_AMO_CSWAP, .operand = (uint32_t)self->me + 1}) == 0) return true;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  return false;
}

void wtl_queue_lock_clear(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call)
{
  lock_words *mine = words_here(self, l);
  uint32_t last = (uint32_t)self->me + 1;
  wtl_op at_home = {.self = self, .site = site, .pe = l->home}, at_next = at_home;
  if ((atomic_load_explicit(&mine->node, memory_order_relaxed) & (HELD | WAITING)) != HELD)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this PE does not hold %s", wtl_error_place(call), name_of(l).text);
  if (!has_next(&mine->node)) {
    if (operate(at_home, l, TAIL, (wtl_atomic){WTL_AMO_CSWAP, .condition = last}) == last) {
      atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
      return;
    }
    wait_for(self, site, l, has_next, mine, -1);
  }
  at_next.pe = (int)(atomic_load_explicit(&mine->node, memory_order_acquire) & NEXT) - 1;
  atomic_store_explicit(&mine->node, 0, memory_order_relaxed);
  operate(at_next, l, NODE, (wtl_atomic){WTL_AMO_AND, .operand = (uint32_t)~WAITING});
}

/* --- the standard's routines -------------------------------------------------------------------------------------- */

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
