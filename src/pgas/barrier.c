/*
 * Three barriers. On one node, where every PE has a core: dissemination, log2(n) rounds in which PE i tells PE i+2^k
 * and hears from PE i-2^k. Where PEs outnumber cores, each round would cost everybody a turn on the core: a counter
 * that the last arrival turns over wakes all at once. On several nodes: such a counter on each, and dissemination among
 * their leaders.
 */
#include "govern/governor.h"
#include "pgas/sync.h"

typedef struct arrival {
  _Atomic uint32_t *word;
  uint32_t epoch;
} arrival;

/* Epochs wrap; half their range is more than any PE can be ahead. */
static bool arrived(void *arg)
{
  arrival *a = arg;
  return (int32_t)(atomic_load_explicit(a->word, memory_order_acquire) - a->epoch) >= 0;
}

static void wait_for(wtl_pe *self, wtl_site *site, _Atomic uint32_t *word, uint32_t epoch)
{
  arrival a = {word, epoch};
  wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, arrived, &a);
}

/* Among the PEs of a node. */
static void disseminate(wtl_pe *self, wtl_site *site, uint32_t epoch)
{
  wtl_control *mine = wtl_control_of(self, self->me);
  for (int k = 0; 1 << k < self->n_local; k++) {
    int slot = self->slot + (1 << k);
    if (slot >= self->n_local) slot -= self->n_local;
    int to = self->boot.local_pe[slot];
    atomic_store_explicit(&wtl_control_of(self, to)->barrier[k], epoch, memory_order_seq_cst);
    wtl_touch_control(self, to);
    wait_for(self, site, &mine->barrier[k], epoch);
  }
}

/* Among the leaders of the nodes, over the network. */
static void disseminate_nodes(wtl_pe *self, wtl_site *site, uint32_t epoch)
{
  const wtl_boot *b = &self->boot;
  for (int k = 0; 1 << k < b->n_nodes; k++) {
    wtl_far_signal(self, b->leader_pe[(b->node + (1 << k)) % b->n_nodes], k, epoch);
    wait_for(self, site, &wtl_control_of(self, self->me)->node_barrier[k], epoch);
  }
}

static void release(wtl_pe *self, uint32_t epoch)
{
  atomic_store_explicit(&self->shared->epoch, epoch, memory_order_seq_cst);
  for (int slot = 0; slot < self->n_local; slot++) wtl_touch_control(self, self->boot.local_pe[slot]);
}

/* The last of a node's PEs to arrive lets all of them go. */
static void count(wtl_pe *self, wtl_site *site, uint32_t epoch)
{
  wtl_shared *s = self->shared;
  if (atomic_fetch_add_explicit(&s->arrived, 1, memory_order_seq_cst) + 1 < (uint32_t)self->n_local) {
    wait_for(self, site, &s->epoch, epoch);
    return;
  }
  atomic_store_explicit(&s->arrived, 0, memory_order_relaxed);
  release(self, epoch);
}

/* Several nodes: the leader waits for its node's PEs, then for the other nodes, then lets its PEs go. */
static void count_nodes(wtl_pe *self, wtl_site *site, uint32_t epoch)
{
  wtl_shared *s = self->shared;
  uint32_t all = epoch * (uint32_t)self->n_local; /* arrivals of all barriers so far; wraps as the epochs do */
  bool leads = self->slot == 0;
  if (atomic_fetch_add_explicit(&s->arrived, 1, memory_order_seq_cst) + 1 == all && !leads)
    wtl_touch_control(self, self->boot.local_pe[0]);
  if (!leads) {
    wait_for(self, site, &s->epoch, epoch);
    return;
  }
  wait_for(self, site, &s->arrived, all);
  disseminate_nodes(self, site, epoch);
  release(self, epoch);
}

void wtl_barrier(wtl_pe *self, wtl_site *site)
{
  uint32_t epoch = ++self->barrier_epoch;
  self->small_read = self->small_epoch;
  wtl_governor *governor = self->door.governor;
  if (self->n == 1) return;
  if (WTL_UNLIKELY(governor != NULL)) wtl_governor_arrive(governor, wtl_ticks());
  if (self->boot.n_nodes > 1)
    count_nodes(self, site, epoch);
  else if (self->central_barrier)
    count(self, site, epoch);
  else
    disseminate(self, site, epoch);
  if (WTL_UNLIKELY(governor != NULL)) wtl_governor_depart(governor, site->addr, wtl_ticks());
}

void wtl_barrier_saying(wtl_pe *self, wtl_site *site, uint64_t a, uint64_t b)
{
  uint64_t *said = wtl_control_of(self, self->me)->said;
  wtl_barrier(self, site); /* everybody has read what was said before */
  said[0] = a;
  said[1] = b;
  wtl_barrier(self, site);
}
