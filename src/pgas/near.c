/* near.c - rings doorbells after stores while there is a notice of sleepers, and withdraws the notice. */
#include "pgas/near.h"

/* Whether a PE of the node is registered for a sleep that a plain store may end. */
static bool has_sleepers(void *of)
{
  const wtl_pe *self = of;
  for (int slot = 0; slot < self->n_local; slot++) {
    wtl_bell *bell = &((wtl_control *)(void *)(self->controls + (size_t)slot * sizeof(wtl_control)))->bell;
    if (wtl_bell_awaits_stores(bell)) return true;
  }
  return false;
}

/* A PE looks at all bells of the node, so it does so at most once in the time that the notice stays. */
static void withdraw_notice(wtl_pe *self)
{
  uint64_t now = wtl_ticks(), linger = self->door.notice_ticks;
  if (now - atomic_load_explicit(&self->notice_checked, memory_order_relaxed) < linger) return;
  atomic_store_explicit(&self->notice_checked, now, memory_order_relaxed);
  wtl_notice_withdraw(self->notice, linger, has_sleepers, self);
}

void wtl_touch_with_notice(wtl_pe *self, int pe, const void *at, size_t n)
{
  wtl_fence();
  wtl_touch(self, pe, at, n);
  uint32_t stores = atomic_load_explicit(&self->stores_with_notice, memory_order_relaxed) + 1;
  atomic_store_explicit(&self->stores_with_notice, stores, memory_order_relaxed);
  if (stores % WTL_NOTICE_STORES == 0) withdraw_notice(self);
}
