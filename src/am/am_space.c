/* am_space.c - publishes the condition for which this PE waits in rings of its node, and wakes the PEs whose
 * condition holds. */
#include "am/am_space.h"

#include "am/am_wait.h"
#include "pgas/near.h"

/* The condition for which a PE waits, in one word: the slot and the kind of the ring, the condition, and a position. */
enum kind { NOTHING, SPACE, AMPLE_SPACE, PAST, ANYTHING };
enum { POSITION_BITS = 32, WHAT_BITS = 3, WAY_BITS = 1 };

static uint64_t condition(int slot, enum wtl_am_way way, enum kind kind, uint32_t position)
{
  uint64_t word = (uint64_t)slot << WAY_BITS | (uint64_t)way;
  return (word << WHAT_BITS | (uint64_t)kind) << POSITION_BITS | position;
}

/* Returns whether a condition holds. `slot` and `way` name the ring whose head advanced. */
static bool holds(uint64_t condition, int slot, enum wtl_am_way way, const wtl_am_ring *ring)
{
  uint64_t whose = condition >> (POSITION_BITS + WHAT_BITS);
  enum kind kind = (enum kind)(condition >> POSITION_BITS & ((1u << WHAT_BITS) - 1));
  if (kind == NOTHING || kind == ANYTHING) return kind == ANYTHING;
  if (whose != ((uint64_t)slot << WAY_BITS | (uint64_t)way)) return false;
  switch (kind) {
  case SPACE: return wtl_am_has_space(ring);
  case AMPLE_SPACE: return wtl_am_has_ample_space(ring);
  default: return wtl_am_is_past(ring, (uint32_t)condition);
  }
}

/* The condition where several threads of a PE may wait at once. It stays set, as another thread may still wait. */
static uint64_t any_condition(void)
{
  return condition(0, WTL_AM_REQUESTS, ANYTHING, 0);
}

static wtl_control *own(const wtl_am *am)
{
  return wtl_control_of(am->pe, am->pe->me);
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static void wait_for(wtl_am *am, wtl_site *site, wtl_am_ring *ring, uint64_t condition, bool (*ready)(void *),
                     void *arg)
{
  bool alone = am->pe->thread_level < WTL_THREAD_MULTIPLE;
  if (!alone) condition = any_condition();
  atomic_store_explicit(&own(am)->am_awaited, condition, memory_order_relaxed);
  atomic_fetch_add_explicit(&ring->waiters, 1, memory_order_seq_cst);
  wtl_am_wait(am->pe, site, ready, arg);
  atomic_fetch_sub_explicit(&ring->waiters, 1, memory_order_relaxed);
  if (alone) atomic_store_explicit(&own(am)->am_awaited, 0, memory_order_relaxed);
}

static bool has_ample_space(void *ring)
{
  return wtl_am_has_ample_space(ring);
}

void wtl_am_wait_for_space(wtl_am *am, wtl_site *site, int slot)
{
  wtl_am_ring *ring = wtl_am_ring_of(am, slot, WTL_AM_REQUESTS);
  wait_for(am, site, ring, condition(slot, WTL_AM_REQUESTS, AMPLE_SPACE, 0), has_ample_space, ring);
}

typedef struct passing {
  const wtl_am_ring *ring;
  uint32_t position;
} passing;

static bool is_past(void *arg)
{
  const passing *p = arg;
  return wtl_am_is_past(p->ring, p->position);
}

void wtl_am_wait_until_past(wtl_am *am, wtl_site *site, int slot, enum wtl_am_way way, uint32_t position)
{
  wtl_am_ring *ring = wtl_am_ring_of(am, slot, way);
  passing p = {ring, position};
  if (!is_past(&p)) wait_for(am, site, ring, condition(slot, way, PAST, position), is_past, &p);
}

void wtl_am_watch_space(wtl_am *am, int slot)
{
  wtl_am_ring *now = slot < 0 ? NULL : wtl_am_ring_of(am, slot, WTL_AM_REPLIES);
  wtl_am_ring *before = atomic_load_explicit(&am->pending_ring, memory_order_relaxed);
  if (now == before) return;
  uint64_t pending = now ? condition(slot, WTL_AM_REPLIES, SPACE, 0) : 0;
  atomic_store_explicit(&own(am)->am_reply_awaited, pending, memory_order_relaxed);
  if (now) atomic_fetch_add_explicit(&now->waiters, 1, memory_order_seq_cst);
  atomic_store_explicit(&am->pending_ring, now, memory_order_seq_cst);
  if (before) atomic_fetch_sub_explicit(&before->waiters, 1, memory_order_relaxed);
}

/* --- publishing --------------------------------------------------------------------------------------------------- */

bool wtl_am_publish_head(wtl_am *am, enum wtl_am_way way, uint64_t position)
{
  if (position == am->shown[way] || (way == WTL_AM_REQUESTS && am->pending))
    return false; /* the head stays before requests whose replies are pending */
  am->shown[way] = position;
  atomic_store_explicit(&am->mine[way].head, position, memory_order_release);
  return true;
}

void wtl_am_wake_waiters(wtl_am *am, enum wtl_am_way way)
{
  const wtl_pe *self = am->pe;
  const wtl_am_ring *r = &am->mine[way];
  if (WTL_LIKELY(atomic_load_explicit(&r->waiters, memory_order_seq_cst) == 0)) return;
  for (int slot = 0; slot < self->n_local; slot++) {
    wtl_control *there = wtl_control_of(self, self->boot.local_pe[slot]);
    uint64_t condition = atomic_load_explicit(&there->am_awaited, memory_order_seq_cst);
    uint64_t pending = atomic_load_explicit(&there->am_reply_awaited, memory_order_seq_cst);
    if (!holds(condition, self->slot, way, r) && !holds(pending, self->slot, way, r)) continue;
    if (wtl_bell_has_sleeper(&there->bell)) wtl_bell_ring_control(&there->bell);
    if (wtl_bell_has_sleeper(&there->am_bell)) wtl_bell_ring(&there->am_bell);
  }
}
