/*
 * flat_tree.c - reductions, gathers and broadcasts of up to 48 bytes among PEs of a node, by flat trees: each PE reads
 * straight from all PEs that contribute. Cost: one cache line a pair of PEs, one hop, no barrier. Flat trees over
 * shared memory are described in Graham and Shipman, "MPI support for multi-core architectures", EuroPVM/MPI 2008. A
 * flag in the line of its data is known from NCCL's LL128 protocol.
 *
 * A PE writes its bytes and the number of the collective into a line of its own; readers wait for the number. A PE has
 * WTL_SMALL_LINES lines for a team and uses them in rotation. So it does not wait until all PEs have read the last one.
 * When all lines have been used since the last barrier, there is a barrier: a PE that arrives at it has read all
 * earlier lines.
 */
#include "collective/algorithms.h"

/* If all PEs contribute, the number of lines read is the square of the number of PEs. With more PEs than this,
 * staged is better. */
enum { MOST_CONTRIBUTORS = 32 };

static bool fits(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  return wtl_collective_bytes(c) <= WTL_SMALL_BYTES && t->n_local == t->n &&
         c->self->collectives <= WTL_COLLECTIVES_SMALL;
}

static wtl_line *line_of(const wtl_collective *c, int pe, uint32_t epoch)
{
  wtl_line *lines = (wtl_line *)(void *)(c->team->lines + (size_t)c->self->slot_of[pe] * c->team->lines_stride);
  return &lines[epoch % WTL_SMALL_LINES];
}

uint32_t wtl_flat_begin(const wtl_collective *c)
{
  wtl_team *t = c->team;
  if (t->small_epoch - t->small_read == WTL_SMALL_LINES) wtl_collective_barrier(c);
  return ++t->small_epoch;
}

static void publish(const wtl_collective *c, uint32_t epoch)
{
  wtl_line *mine = line_of(c, c->self->me, epoch);
  memcpy(mine->bytes, c->source, wtl_collective_bytes(c));
  atomic_store_explicit(&mine->epoch_of_bytes, epoch, memory_order_seq_cst);
}

void wtl_flat_wake(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  for (int i = 0; i < t->n_local; i++)
    if (i != t->local_me) wtl_touch_control(c->self, t->local[i]);
}

typedef struct line_wait {
  wtl_line *line;
  uint32_t epoch;
} line_wait;

static bool is_published(void *arg)
{
  line_wait *h = arg;
  return atomic_load_explicit(&h->line->epoch_of_bytes, memory_order_acquire) == h->epoch;
}

/* Returns the bytes of the team's PE `i`, as soon as it has published them. */
static const char *bytes_of(const wtl_collective *c, int i, uint32_t epoch)
{
  wtl_pe *self = c->self;
  int pe = c->team->local[i];
  line_wait h = {line_of(c, pe, epoch), epoch};
  wtl_os_near_access(WTL_SMALL_BYTES);
  if (is_published(&h)) return h.line->bytes;
  bool apart = self->apart[self->slot_of[pe]];
  (apart ? wtl_door_wait_on_other_core : wtl_door_wait)(&self->door, c->site, WTL_WATCH_CONTROL, is_published, &h);
  return h.line->bytes;
}

/* For collectives to which all PEs contribute. Where PEs outnumber cores, all wake up once after all have published,
 * not once for each PE. */
static inline bool publish_all(const wtl_collective *c, uint32_t *epoch)
{
  wtl_team *t = c->team;
  if (!fits(c) || t->n > MOST_CONTRIBUTORS) return false;
  *epoch = wtl_flat_begin(c);
  publish(c, *epoch);
  if (c->self->central_barrier) {
    wtl_collective_barrier(c);
    t->small_read = t->small_epoch - 1; /* the lines of this collective are read only now */
  } else {
    wtl_flat_wake(c);
  }
  return true;
}

bool wtl_reduce_flat(const wtl_collective *c)
{
  _Alignas(16) char sum[WTL_SMALL_BYTES];
  size_t bytes = wtl_collective_bytes(c);
  uint32_t epoch;
  if (!publish_all(c, &epoch)) return false;
  memcpy(sum, bytes_of(c, 0, epoch), bytes);
  for (int i = 1; i < c->team->n; i++) c->combine(sum, bytes_of(c, i, epoch), c->n);
  memcpy(c->dest, sum, bytes);
  return true;
}

bool wtl_gather_flat(const wtl_collective *c)
{
  size_t bytes = wtl_collective_bytes(c);
  uint32_t epoch;
  if (!publish_all(c, &epoch)) return false;
  for (int i = 0; i < c->team->n; i++) memcpy((char *)c->dest + (size_t)i * bytes, bytes_of(c, i, epoch), bytes);
  return true;
}

bool wtl_broadcast_flat(const wtl_collective *c)
{
  size_t bytes = wtl_collective_bytes(c);
  if (!fits(c)) return false;
  uint32_t epoch = wtl_flat_begin(c);
  if (c->team->me != c->root) {
    memcpy(c->dest, bytes_of(c, c->root, epoch), bytes);
    return true;
  }
  publish(c, epoch);
  wtl_flat_wake(c);
  if (c->to_root && c->dest != c->source) memmove(c->dest, c->source, bytes);
  return true;
}
