/*
 * Collectives of a few bytes among PEs of a node: who has something to say writes it, and the number of the collective,
 * into one cache line of its own, which the others fetch when it has changed. One hop, no barrier.
 *
 * A PE has several such lines for a team and uses them by turns, so that it need not wait for those that have not read
 * the last one yet. When all have been used since the last barrier, a barrier: who has come to it has read everything
 * before.
 */
#include "collective/algorithms.h"
#include "team/team.h"

/* Each reads what all others say: the square of their number. */
enum { MOST_SPEAKERS = 32 };

static bool fits(const wtl_pe *self, const wtl_team *t, size_t bytes)
{
  return bytes <= WTL_SMALL_BYTES && t->n_local == t->n && self->collectives <= WTL_COLLECTIVES_SMALL;
}

static wtl_line *line_of(const wtl_pe *self, const wtl_team *t, int pe, uint32_t epoch)
{
  wtl_line *lines = (wtl_line *)(void *)(t->lines + (size_t)self->slot_of[pe] * t->lines_stride);
  return &lines[epoch % WTL_SMALL_LINES];
}

uint32_t wtl_flat_begin(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  if (t->small_epoch - t->small_read == WTL_SMALL_LINES) wtl_team_barrier(self, site, t);
  return ++t->small_epoch;
}

static void say(wtl_pe *self, const wtl_team *t, uint32_t epoch, const void *bytes, size_t n)
{
  wtl_line *mine = line_of(self, t, self->me, epoch);
  memcpy(mine->bytes, bytes, n);
  atomic_store_explicit(&mine->said, epoch, memory_order_seq_cst);
}

void wtl_flat_wake(wtl_pe *self, const wtl_team *t)
{
  for (int i = 0; i < t->n_local; i++)
    if (i != t->local_me) wtl_touch_control(self, t->local[i]);
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

/* What the team's PE `i` says. */
static const char *hear(wtl_pe *self, wtl_site *site, wtl_team *t, int i, uint32_t epoch)
{
  hearing h = {line_of(self, t, t->local[i], epoch), epoch};
  if (is_said(&h)) return h.line->bytes;
  bool apart = self->apart[self->slot_of[t->local[i]]];
  (apart ? wtl_door_wait_apart : wtl_door_wait)(&self->door, site, WTL_WATCH_CONTROL, is_said, &h);
  return h.line->bytes;
}

/* Where PEs outnumber cores: one wake-up when all have spoken, not one for each. */
static void let_hear(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  if (self->central_barrier) {
    wtl_team_barrier(self, site, t);
    t->small_read = t->small_epoch - 1; /* this one is read only now */
  } else {
    wtl_flat_wake(self, t);
  }
}

bool wtl_reduce_flat(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine)
{
  _Alignas(16) char sum[WTL_SMALL_BYTES];
  if (!fits(self, t, n * size) || t->n > MOST_SPEAKERS) return false;
  uint32_t epoch = wtl_flat_begin(self, site, t);
  say(self, t, epoch, source, n * size);
  let_hear(self, site, t);
  memcpy(sum, hear(self, site, t, 0, epoch), n * size);
  for (int i = 1; i < t->n; i++) combine(sum, hear(self, site, t, i, epoch), n);
  memcpy(dest, sum, n * size);
  return true;
}

bool wtl_fcollect_flat(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  if (!fits(self, t, bytes) || t->n > MOST_SPEAKERS) return false;
  uint32_t epoch = wtl_flat_begin(self, site, t);
  say(self, t, epoch, source, bytes);
  let_hear(self, site, t);
  for (int i = 0; i < t->n; i++) memcpy((char *)dest + (size_t)i * bytes, hear(self, site, t, i, epoch), bytes);
  return true;
}

bool wtl_broadcast_flat(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                         int root, bool to_root)
{
  if (!fits(self, t, bytes)) return false;
  uint32_t epoch = wtl_flat_begin(self, site, t);
  if (t->me != root) {
    memcpy(dest, hear(self, site, t, root, epoch), bytes);
    return true;
  }
  say(self, t, epoch, source, bytes);
  wtl_flat_wake(self, t);
  if (to_root && dest != source) memmove(dest, source, bytes);
  return true;
}
