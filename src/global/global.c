/* global.c - operations on the global memory of PEs of other nodes, and their order. */
#include "global/global.h"

#include "am/am.h"
#include "pgas/rma.h"

char *wtl_global_region(const wtl_pe *self, uint64_t *n)
{
  const wtl_global *g = self->global;
  if (!g) return NULL;
  *n = g->bytes;
  return wtl_global_own(self);
}

/* --- other nodes -------------------------------------------------------------------------------------------------- */

static void complete_packed(wtl_pe *self, wtl_site *site, int pe)
{
  wtl_global *g = self->global;
  uint32_t sent = atomic_load_explicit(&g->packed[pe], memory_order_relaxed);
  if (sent == atomic_load_explicit(&g->completed[pe], memory_order_relaxed)) return;
  wtl_am_pe_quiet(self, site, pe);
  atomic_store_explicit(&g->completed[pe], sent, memory_order_relaxed);
}

void wtl_global_before(const wtl_global_op *op, bool is_packed)
{
  wtl_global *g = op->self->global;
  uint32_t epoch = atomic_load_explicit(&g->epoch, memory_order_relaxed);
  if (!op->blocking && atomic_load_explicit(&g->ordered[op->pe], memory_order_relaxed) == epoch) return;
  if (!is_packed) complete_packed(op->self, op->site, op->pe);
  wtl_far_order(op->self, NULL, op->site);
  /* A packed operation may leave earlier ones incomplete, which a plain operation after it must not overtake. */
  if (!is_packed) atomic_store_explicit(&g->ordered[op->pe], epoch, memory_order_relaxed);
}

void wtl_global_move_plain(const wtl_global_op *op, char *here, char *there, size_t n)
{
  wtl_op to = {.self = op->self,
               .site = op->site,
               .pe = op->pe,
               .memory = WTL_GLOBAL,
               .nbi = !op->blocking,
               .left = &op->request->by_net};
  if (op->kind == WTL_GLOBAL_GET)
    wtl_far_get(&to, here, there, n);
  else
    wtl_far_put(&to, there, here, n);
}

uint64_t wtl_global_far_amo(const wtl_op *op, void *at, const wtl_atomic *a)
{
  uint64_t old = 0;
  wtl_op to = *op;
  to.memory = WTL_GLOBAL;
  wtl_global_before(&(wtl_global_op){.self = op->self, .site = op->site, .pe = op->pe, .blocking = true}, false);
  wtl_far_amo(&to, at, a, &old);
  return old;
}

static bool is_done(void *r)
{
  return wtl_global_request_is_done(r);
}

void wtl_global_request_wait(wtl_pe *self, wtl_site *site, wtl_request *r)
{
  /* Other threads of this PE may increment it at the same time. One increment is enough. */
  _Atomic uint32_t *epoch = &self->global->epoch;
  atomic_store_explicit(epoch, atomic_load_explicit(epoch, memory_order_relaxed) + 1, memory_order_relaxed);
  if (!wtl_global_request_is_done(r)) wtl_door_wait_for_signal(&self->door, site, WTL_WATCH_ALL, is_done, r);
}

void wtl_global_fence(wtl_pe *self, wtl_site *site, int pe)
{
  wtl_fence();
  if (WTL_LIKELY(!self->net) || (pe >= 0 && wtl_global_is_near(self, pe))) return;
  for (int i = pe < 0 ? 0 : pe; i < (pe < 0 ? self->n : pe + 1); i++) complete_packed(self, site, i);
  wtl_far_quiet(self, NULL, site);
}
