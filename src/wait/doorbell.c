/* doorbell.c - rings the doorbell of a PE, and sleeps on it. */
#include "wait/doorbell.h"

#include "os/os.h"

enum { COUNT_BITS = WTL_BELL_COUNT_BITS, COUNT_MASK = (1 << COUNT_BITS) - 1 };

void wtl_bell_ring(wtl_bell *b)
{
  atomic_store_explicit(&b->rung_at, wtl_ticks(), memory_order_relaxed);
  atomic_fetch_add_explicit(&b->rung, 1, memory_order_seq_cst);
  wtl_futex_wake(&b->rung, INT_MAX, WTL_FUTEX_SHARED);
  int alarm = atomic_load_explicit(&b->alarm, memory_order_relaxed);
  if (alarm) wtl_os_event_set(alarm - 1);
}

void wtl_bell_ring_at(wtl_bell *b, size_t offset, size_t n)
{
  uint64_t asleep = atomic_load_explicit(&b->asleep, memory_order_relaxed);
  wtl_watch watch = asleep >> COUNT_BITS;
  if (!asleep || watch == WTL_WATCH_CONTROL) return;
  if (watch == WTL_WATCH_ALL || (watch >= WTL_WATCH_OFFSET(offset) && watch <= WTL_WATCH_OFFSET(offset + n - 1)))
    wtl_bell_ring(b);
}

void wtl_bell_ring_control(wtl_bell *b)
{
  uint64_t asleep = atomic_load_explicit(&b->asleep, memory_order_relaxed);
  wtl_watch watch = asleep >> COUNT_BITS;
  if (asleep && (watch == WTL_WATCH_ALL || watch == WTL_WATCH_CONTROL)) wtl_bell_ring(b);
}

static uint64_t add_sleeper(uint64_t asleep, wtl_watch watch)
{
  if (asleep && asleep >> COUNT_BITS != watch) watch = WTL_WATCH_ALL;
  return watch << COUNT_BITS | ((asleep & COUNT_MASK) + 1);
}

static uint64_t remove_sleeper(uint64_t asleep)
{
  return (asleep & COUNT_MASK) == 1 ? 0 : asleep - 1;
}

static void enter(wtl_bell *b, wtl_watch watch)
{
  uint64_t old = atomic_load_explicit(&b->asleep, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&b->asleep, &old, add_sleeper(old, watch), memory_order_seq_cst,
                                                memory_order_relaxed))
    continue;
}

static void leave(wtl_bell *b)
{
  uint64_t old = atomic_load_explicit(&b->asleep, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&b->asleep, &old, remove_sleeper(old), memory_order_seq_cst,
                                                memory_order_relaxed))
    continue;
}

static enum wtl_sleep sleep_while(wtl_bell *b, uint32_t seen, double seconds)
{
  int rc = wtl_futex_wait(&b->rung, seen, seconds, WTL_FUTEX_SHARED);
  if (rc == 0) return WTL_SLEPT_WOKEN;
  return rc == ETIMEDOUT && atomic_load_explicit(&b->rung, memory_order_acquire) == seen ? WTL_SLEPT_OUT
                                                                                         : WTL_SLEPT_NOT;
}

enum wtl_sleep wtl_bell_sleep(wtl_bell *b, const wtl_sleeper *sleeper, wtl_watch watch, bool (*ready)(void *),
                              void *arg, double seconds)
{
  uint32_t seen = atomic_load_explicit(&b->rung, memory_order_acquire);
  enum wtl_sleep how = WTL_SLEPT_NOT;
  /* Before the sleep is published: a writer that sees the sleeper must find the alarm. */
  if (sleeper) atomic_store_explicit(&b->alarm, sleeper->alarm + 1, memory_order_relaxed);
  enter(b, watch);
  wtl_fence();
#ifdef WTL_MUTANT_NO_RECHECK
  how = sleep_while(b, seen, seconds);
#else
  if (!ready(arg)) how = sleeper ? sleeper->sleep(sleeper->of, seconds) : sleep_while(b, seen, seconds);
#endif
  leave(b);
  if (sleeper) atomic_store_explicit(&b->alarm, 0, memory_order_relaxed);
  return how;
}
