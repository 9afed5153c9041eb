/*
 * Two barriers. Where every PE has a core: dissemination, log2(n) rounds in which PE i tells PE i+2^k and hears from PE
 * i-2^k. Where PEs outnumber cores, each round would cost everybody a turn on the core: a counter that the last arrival
 * turns over wakes all at once.
 */
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

static void disseminate(wtl_pe *self, wtl_site *site, uint32_t epoch)
{
  wtl_control *mine = wtl_control_of(self, self->me);
  for (int k = 0; 1 << k < self->n; k++) {
    int to = self->me + (1 << k);
    arrival a = {&mine->barrier[k], epoch};
    if (to >= self->n) to -= self->n;
    atomic_store_explicit(&wtl_control_of(self, to)->barrier[k], epoch, memory_order_seq_cst);
    wtl_touch_control(self, to);
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, arrived, &a);
  }
}

static void count(wtl_pe *self, wtl_site *site, uint32_t epoch)
{
  wtl_shared *s = self->shared;
  arrival a = {&s->epoch, epoch};
  if (atomic_fetch_add_explicit(&s->arrived, 1, memory_order_acq_rel) + 1 < (uint32_t)self->n) {
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, arrived, &a);
    return;
  }
  atomic_store_explicit(&s->arrived, 0, memory_order_relaxed);
  atomic_store_explicit(&s->epoch, epoch, memory_order_seq_cst);
  for (int pe = 0; pe < self->n; pe++) wtl_touch_control(self, pe);
}

void wtl_barrier(wtl_pe *self, wtl_site *site)
{
  uint32_t epoch = ++self->barrier_epoch;
  if (self->n == 1) return;
  if (self->central_barrier)
    count(self, site, epoch);
  else
    disseminate(self, site, epoch);
}

void wtl_barrier_saying(wtl_pe *self, wtl_site *site, uint64_t a, uint64_t b)
{
  uint64_t *said = wtl_control_of(self, self->me)->said;
  wtl_barrier(self, site); /* everybody has read what was said before */
  said[0] = a;
  said[1] = b;
  wtl_barrier(self, site);
}
