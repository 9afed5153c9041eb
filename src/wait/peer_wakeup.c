/* peer_wakeup.c - sleeps in the cell of this process, and wakes processes that sleep in theirs. */
#include "wait/peer_wakeup.h"

#include "os/os.h"

/* A wake-up takes its caller a few microseconds. So a process wakes this many others, and those wake the rest. */
enum { MAX_WAKE_UPS = 4 };

void wtl_wakeup_wake(const wtl_wakeup *r)
{
  wtl_wakeup_node *node = r->node;
  for (int i = 1, woken = 0; i <= r->n && woken < MAX_WAKE_UPS; i++) {
    wtl_wakeup_cell *cell = &node->cell[(r->me + i) % r->n];
    if (atomic_load_explicit(&cell->armed, memory_order_relaxed) == 0) continue;
    if (atomic_exchange(&cell->armed, 0) == 0) continue; /* another process has woken it, or it woke by itself */
    atomic_fetch_sub_explicit(&node->armed, 1, memory_order_relaxed);
    wtl_futex_wake(&cell->armed, 1, WTL_FUTEX_SHARED);
    woken++;
  }
}

bool wtl_wakeup_sleep(const wtl_wakeup *r, double seconds)
{
  uint32_t disarmed = 0;
  _Atomic uint32_t alone = 0; /* no thread rings it */
  wtl_wakeup_cell *cell = &r->node->cell[r->me];
  bool mine;
  atomic_fetch_add_explicit(&r->node->armed, 1, memory_order_relaxed);
  mine = atomic_compare_exchange_strong(&cell->armed, &disarmed, 1);
  if (mine)
    wtl_futex_wait(&cell->armed, 1, seconds, WTL_FUTEX_SHARED);
  else /* another thread of this process uses the cell */
    wtl_futex_wait(&alone, 0, seconds, WTL_FUTEX_OURS);
  if (mine && atomic_exchange(&cell->armed, 0) == 0) return true;
  atomic_fetch_sub_explicit(&r->node->armed, 1, memory_order_relaxed);
  return false;
}
