/*
 * barrier.c - three barriers (Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors", 1991):
 *
 *   - dissemination on one node where every PE has a core: in each of ceil(log2(n)) rounds PE i writes to PE i+2^k and
 *     waits for PE i-2^k
 *   - a central counter on one node where PEs outnumber cores: each round of dissemination would cost every PE a time
 *     slice, while the last arrival at a counter wakes all PEs at once
 *   - on several nodes a central counter on each, and dissemination among the leaders of the nodes
 *
 * A team uses the words of its team entry, and the world those of its control data.
 */
#include "team/barrier.h"

#include "govern/governor.h"
#include "pgas/near.h"

typedef struct arrival {
  _Atomic uint32_t *word;
  uint32_t epoch;
} arrival;

/* Epochs wrap. No PE can be ahead of another one by half their range. */
static bool arrived(void *arg)
{
  arrival *a = arg;
  return (int32_t)(atomic_load_explicit(a->word, memory_order_acquire) - a->epoch) >= 0;
}

void wtl_wait_word(wtl_pe *self, wtl_site *site, _Atomic uint32_t *word, uint32_t epoch)
{
  arrival a = {word, epoch};
  wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, arrived, &a);
}

/* Waits in the same way for other PEs of a team to arrive. */
static void wait_for_arrival(wtl_pe *self, wtl_site *site, const wtl_team *t, _Atomic uint32_t *word, uint32_t epoch)
{
  arrival a = {word, epoch};
  wtl_team_wait_for_arrival(self, site, t, WTL_WATCH_CONTROL, arrived, &a);
}

/* The words in which PE `pe` of this node receives arrivals. */
static _Atomic uint32_t *rounds_of(const wtl_pe *self, const wtl_team *t, int pe)
{
  return (_Atomic uint32_t *)(void *)(t->rounds + (size_t)self->slot_of[pe] * t->rounds_stride);
}

/* The barrier among the PEs of one node. */
static void disseminate(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch)
{
  _Atomic uint32_t *mine = rounds_of(self, t, self->me);
  for (int k = 0; 1 << k < t->n_local; k++) {
    int i = t->local_me + (1 << k);
    if (i >= t->n_local) i -= t->n_local;
    int to = t->local[i];
    atomic_store_explicit(&rounds_of(self, t, to)[k], epoch, memory_order_seq_cst);
    wtl_touch_control(self, to);
    wait_for_arrival(self, site, t, &mine[k], epoch);
  }
}

void wtl_team_wait_for_leader(wtl_pe *self, wtl_site *site, wtl_team *t, _Atomic uint32_t *word, uint32_t epoch)
{
  wait_for_arrival(self, site, t, word, epoch * WTL_STATES);
  t->state = wtl_state_merge(t->state, atomic_load_explicit(word, memory_order_relaxed) % WTL_STATES);
}

/* The barrier among the leaders of the nodes, over the network. */
static void disseminate_nodes(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *none)
{
  bool of_world = t == self->world;
  wtl_team_entry *entry = wtl_entry_of(self, self->me, t->entry);
  _Atomic uint32_t *mine = of_world ? wtl_control_of(self, self->me)->node_barrier : entry->node_round;
  size_t offset = wtl_entry_offset(t->entry) + offsetof(wtl_team_entry, node_round);
  for (int k = 0; 1 << k < t->n_nodes; k++) {
    int to = t->leader[(t->node + (1 << k)) % t->n_nodes];
    if (of_world)
      wtl_far_signal(self, to, k, wtl_team_word(t, epoch));
    else
      wtl_far_entry_signal(self, to, offset + (size_t)k * sizeof epoch, wtl_team_word(t, epoch));
    wtl_team_wait_for_leader(self, site, t, &mine[k], epoch);
  }
}

static void release(wtl_pe *self, wtl_team *t, uint32_t epoch)
{
  atomic_store_explicit(t->released, epoch, memory_order_seq_cst);
  for (int i = 0; i < t->n_local; i++) wtl_touch_control(self, t->local[i]);
}

/* The last PE of a node to arrive releases all of them. */
static void count(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch)
{
  if (atomic_fetch_add_explicit(t->arrived, 1, memory_order_seq_cst) + 1 < (uint32_t)t->n_local) {
    wait_for_arrival(self, site, t, t->released, epoch);
    return;
  }
  atomic_store_explicit(t->arrived, 0, memory_order_relaxed);
  release(self, t, epoch);
}

/* The barrier on several nodes. The leader waits for the PEs of its node, then for the other nodes (by `lead`), and
 * then releases its PEs. */
static void count_nodes(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, wtl_lead_fn lead, const void *arg)
{
  uint32_t all = epoch * (uint32_t)t->n_local; /* arrivals of all barriers so far; wraps as the epochs do */
  bool leads = t->local_me == 0;
  if (atomic_fetch_add_explicit(t->arrived, 1, memory_order_seq_cst) + 1 == all && !leads)
    wtl_touch_control(self, t->local[0]);
  if (!leads) {
    wait_for_arrival(self, site, t, t->released, epoch);
    return;
  }
  wait_for_arrival(self, site, t, t->arrived, all);
  if (lead) {
    wtl_governor *g = self->door.governor;
    t->state = g ? wtl_governor_state(g) : 0;
    lead(self, site, t, epoch, arg);
    if (g) wtl_governor_hear(g, t->state);
  }
  release(self, t, epoch);
}

static bool enter(wtl_pe *self, const wtl_team *t, bool moves)
{
  wtl_governor *g = self->door.governor;
  return WTL_UNLIKELY(g != NULL) && wtl_governor_enter(g, &t->group, moves);
}

bool wtl_team_enter(wtl_pe *self, const wtl_team *t)
{
  return t->n > 1 && enter(self, t, true);
}

void wtl_team_leave(wtl_pe *self, wtl_site *site, bool entered)
{
  wtl_governor *g = self->door.governor;
  if (!WTL_UNLIKELY(entered) || !g) return;
  if (WTL_UNLIKELY(wtl_governor_exchanges_watts(g)) && self->exchange_watts) self->exchange_watts(self, site);
  wtl_governor_leave(g, site->addr);
}

void wtl_team_part(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  wtl_team_barrier(self, site, t);
  disseminate(self, site, t, ++t->epoch);
}

void wtl_team_barrier_led(wtl_pe *self, wtl_site *site, wtl_team *t, wtl_lead_fn lead, const void *arg)
{
  count_nodes(self, site, t, ++t->epoch, lead, arg);
}

void wtl_team_barrier(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  uint32_t epoch = ++t->epoch;
  t->small_read = t->small_epoch;
  if (t->n == 1) return;
  uint64_t began = wtl_barrier_span_begins(self, t);
  bool entered = enter(self, t, false);
  if (WTL_UNLIKELY(t->sync != NULL))
    wtl_active_barrier(self, site, t);
  else if (t->n_nodes > 1)
    count_nodes(self, site, t, epoch, disseminate_nodes, NULL);
  else if (self->central_barrier)
    count(self, site, t, epoch);
  else
    disseminate(self, site, t, epoch);
  wtl_team_leave(self, site, entered);
  wtl_barrier_span_ends(self, site, began);
}

void wtl_barrier(wtl_pe *self, wtl_site *site)
{
  wtl_team_barrier(self, site, self->world);
}
