/*
 * Collectives of a few bytes among the PEs of a node: who has something to say writes it, and the number of the collective,
 * into one cache line of its own, which the others fetch when it has changed. One hop, no barrier.
 *
 * A PE has several such lines and uses them by turns, so that it need not wait for those that have not read the last one yet.
 * When all have been used since the last barrier, a barrier: who has come to it has read everything before.
 */
#include "pgas/sync.h"

static wtl_line *line_of(wtl_pe *self, int pe, uint32_t epoch)
{
  return &wtl_control_of(self, pe)->small[epoch % WTL_SMALL_LINES];
}

static uint32_t begin(wtl_pe *self, wtl_site *site)
{
  if (self->small_epoch - self->small_read == WTL_SMALL_LINES) wtl_barrier(self, site);
  return ++self->small_epoch;
}

static void say(wtl_pe *self, uint32_t epoch, const void *bytes, size_t n)
{
  wtl_line *mine = line_of(self, self->me, epoch);
  memcpy(mine->bytes, bytes, n);
  atomic_store_explicit(&mine->said, epoch, memory_order_seq_cst);
}

static void wake_all(wtl_pe *self)
{
  for (int slot = 0; slot < self->n_local; slot++)
    if (slot != self->slot) wtl_touch_control(self, self->boot.local_pe[slot]);
}

typedef struct hearing {
  wtl_line *line;
  uint32_t epoch;
} hearing;

static bool is_said(void *arg)
{
  hearing *h = arg;
  return atomic_load_explicit(&h->line->said, memory_order_acquire) == h->epoch;
}

static const char *hear(wtl_pe *self, wtl_site *site, int pe, uint32_t epoch)
{
  hearing h = {line_of(self, pe, epoch), epoch};
  if (!is_said(&h)) wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, is_said, &h);
  return h.line->bytes;
}

void wtl_reduce_small(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine)
{
  _Alignas(16) char sum[WTL_SMALL_BYTES];
  uint32_t epoch = begin(self, site);
  say(self, epoch, source, n * size);
  if (self->central_barrier) { /* where PEs outnumber cores: one wake-up when all have spoken, not one for each */
    wtl_barrier(self, site);
    self->small_read = epoch - 1; /* this one is read only now */
  } else {
    wake_all(self);
  }
  memcpy(sum, hear(self, site, 0, epoch), n * size);
  for (int pe = 1; pe < self->n; pe++) combine(sum, hear(self, site, pe, epoch), n);
  memcpy(dest, sum, n * size);
}

void wtl_broadcast_small(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t bytes, int root)
{
  uint32_t epoch = begin(self, site);
  if (self->me != root)
    memcpy(dest, hear(self, site, root, epoch), bytes);
  else {
    say(self, epoch, source, bytes);
    wake_all(self);
    memmove(dest, source, dest == source ? 0 : bytes);
  }
}
