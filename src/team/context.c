/* context.c - the table of contexts, and the counters of the active messages that each context sends. */
#include "team/context.h"

#include <stdlib.h>

#include "am/am_order.h"
#include "am/am_wait.h"
#include "pgas/near.h"
#include "team/team_entry.h"

enum { PLACE_BITS = 10, BUSY = 1 };
_Static_assert(1 << PLACE_BITS == WTL_MOST_CTXS, "a handle's low bits are a place in the table");

/* The table is allocated at the first use. Of two threads that allocate it, one wins. */
static wtl_ctx *table(wtl_pe *self)
{
  wtl_ctx *all = atomic_load(&self->ctxs), *mine;
  if (all || !(mine = calloc(WTL_MOST_CTXS, sizeof *mine))) return all;
  if (atomic_compare_exchange_strong(&self->ctxs, &all, mine)) return mine;
  free(mine);
  return all;
}

wtl_ctx *wtl_context_make(wtl_pe *self, wtl_team *team, long options, bool is_private)
{
  wtl_ctx *all = table(self);
  for (size_t i = 0; all && i < WTL_MOST_CTXS; i++) {
    wtl_ctx *c = &all[i];
    uintptr_t none = 0;
    if (!atomic_compare_exchange_strong(&c->handle, &none, BUSY)) continue;
    c->flow = self->net ? wtl_net_flow_open(self->net) : NULL;
    if (self->net && !c->flow) {
      atomic_store(&c->handle, 0);
      return NULL;
    }
    c->generation++;
    c->is_private = is_private;
    c->owner = pthread_self();
    c->team = team;
    c->team_handle = team->handle;
    c->options = options;
    c->am_turn = 0;
    for (int bin = 0; bin < 2; bin++) c->am_sent[bin] = c->am_done[bin] = 0;
    atomic_store(&c->handle, (uintptr_t)c->generation << PLACE_BITS | i);
    return c;
  }
  return NULL;
}

wtl_ctx *wtl_context_find(const wtl_pe *self, uintptr_t handle)
{
  wtl_ctx *all = atomic_load_explicit(&self->ctxs, memory_order_acquire);
  if (!all || handle <= BUSY || !(handle >> PLACE_BITS)) return NULL;
  wtl_ctx *c = &all[handle % WTL_MOST_CTXS];
  return atomic_load_explicit(&c->handle, memory_order_acquire) == handle ? c : NULL;
}

uint64_t *wtl_context_am_begins(wtl_ctx *c)
{
  for (;;) {
    uint64_t turn = atomic_load(&c->am_turn), bin = turn & 1;
    atomic_fetch_add(&c->am_sent[bin], 1);
    if (atomic_load(&c->am_turn) == turn) return &c->am_done[bin];
    atomic_fetch_sub(&c->am_sent[bin], 1); /* the bin was closed in between, and a waiter perhaps found it empty */
  }
}

/* A wait for the requests of bin `bin`. `turn` is the turn after theirs. A turn ends only after the requests of the
 * turn before are done. So they are also done if `turn` has ended. */
typedef struct requests {
  wtl_ctx *on;
  uint64_t bin, turn;
} requests;

static bool are_done(void *arg)
{
  requests *r = arg;
  uint64_t done = __atomic_load_n(&r->on->am_done[r->bin], __ATOMIC_SEQ_CST); /* never larger than the number sent */
  return done == atomic_load(&r->on->am_sent[r->bin]) || atomic_load(&r->on->am_turn) > r->turn;
}

static void wait_until_done(wtl_pe *self, wtl_site *site, requests r)
{
  if (!are_done(&r)) wtl_am_wait(self, site, are_done, &r);
}

void wtl_context_am_quiet(wtl_pe *self, wtl_site *site, const char *call, wtl_ctx *c)
{
  uint64_t turn = atomic_load(&c->am_turn), expected = turn;
  if (!c->am_sent[0] && !c->am_sent[1]) return;
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_waits(self, call);
  wait_until_done(self, site, (requests){c, (turn + 1) & 1, turn});
  atomic_compare_exchange_strong(&c->am_turn, &expected, turn + 1);
  wait_until_done(self, site, (requests){c, turn & 1, turn + 1});
}

void wtl_context_free(wtl_pe *self, wtl_site *site, const char *call, wtl_ctx *c)
{
  wtl_context_am_quiet(self, site, call, c);
  wtl_quiet_flow(self, c->flow, site);
  if (c->flow) wtl_net_flow_close(c->flow);
  c->flow = NULL;
  atomic_store(&c->handle, 0);
}

wtl_ctx *wtl_context_next(const wtl_pe *self, const wtl_team *team, const wtl_ctx *from)
{
  wtl_ctx *all = atomic_load(&self->ctxs);
  if (!all) return NULL;
  for (size_t i = from ? (size_t)(from - all) + 1 : 0; i < WTL_MOST_CTXS; i++)
    if (atomic_load(&all[i].handle) > BUSY && (!team || (all[i].team == team && all[i].team_handle == team->handle)))
      return &all[i];
  return NULL;
}

void wtl_contexts_stop(wtl_pe *self, wtl_site *site, const char *call)
{
  for (wtl_ctx *c = NULL; (c = wtl_context_next(self, NULL, c)) != NULL;) wtl_context_free(self, site, call, c);
  free(self->ctxs);
  self->ctxs = NULL;
}
