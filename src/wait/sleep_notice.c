/* sleep_notice.c - posts and withdraws the notice that PEs of the node may be asleep. */
#include "wait/sleep_notice.h"

#include "os/os.h"

enum { ONE_POSTING = 1 << WTL_NOTICE_BITS };

static uint64_t state_of(uint64_t word)
{
  return word & WTL_NOTICE_MASK;
}

static uint64_t in_state(uint64_t word, enum wtl_notice_state state)
{
  return (word & ~(uint64_t)WTL_NOTICE_MASK) | state;
}

/* Changes the notice, unless it has changed since `word` was read. */
static bool change(wtl_sleep_notice *n, uint64_t word, uint64_t to)
{
  return atomic_compare_exchange_strong_explicit(&n->word, &word, to, memory_order_seq_cst, memory_order_relaxed);
}

static void announce(wtl_sleep_notice *n)
{
  uint64_t word = atomic_load_explicit(&n->word, memory_order_relaxed), mine;
  do mine = in_state(word + ONE_POSTING, WTL_NOTICE_POSTING);
  while (!atomic_compare_exchange_weak_explicit(&n->word, &word, mine, memory_order_seq_cst, memory_order_relaxed));
#ifndef WTL_MUTANT_NO_BARRIER_OF_ALL
  if (!wtl_os_barrier_of_all()) atomic_store_explicit(&n->is_permanent, 1, memory_order_seq_cst);
#endif
  change(n, mine, in_state(mine, WTL_NOTICE_POSTED));
}

void wtl_notice_join(wtl_sleep_notice *n)
{
  if (!wtl_os_join_barriers()) atomic_store_explicit(&n->is_permanent, 1, memory_order_seq_cst);
  uint64_t none = 0;
  atomic_compare_exchange_strong_explicit(&n->word, &none, ONE_POSTING | WTL_NOTICE_POSTED, memory_order_seq_cst,
                                          memory_order_relaxed);
}

void wtl_notice_post(wtl_sleep_notice *n, uint64_t linger)
{
  uint64_t now = wtl_ticks();
  if (now - atomic_load_explicit(&n->last_sleep, memory_order_relaxed) > linger / 4)
    atomic_store_explicit(&n->last_sleep, now, memory_order_relaxed);
  if (state_of(atomic_load_explicit(&n->word, memory_order_acquire)) != WTL_NOTICE_POSTED) announce(n);
}

void wtl_notice_withdraw(wtl_sleep_notice *n, uint64_t linger, bool (*has_sleepers)(void *of), void *of)
{
  uint64_t posted = atomic_load_explicit(&n->word, memory_order_relaxed);
  if (state_of(posted) != WTL_NOTICE_POSTED || atomic_load_explicit(&n->is_permanent, memory_order_relaxed)) return;
  if (wtl_ticks() - atomic_load_explicit(&n->last_sleep, memory_order_relaxed) < linger) return;
  uint64_t withdrawing = in_state(posted, WTL_NOTICE_WITHDRAWING);
  if (!change(n, posted, withdrawing)) return;
  change(n, withdrawing, has_sleepers(of) ? posted : in_state(posted, WTL_NOTICE_NONE));
}
