/*
 * gather_direct.c - fcollect, collect and alltoall of any size, straight from memory to memory: a barrier, one copy of
 * each block, a barrier.
 *
 * Each PE begins with its own block and continues cyclically, so that not all PEs access one memory. This is the order
 * of the ring and spread-out algorithms. A PE begins all fetches from other nodes before it waits for the first. A
 * block of another node's PE crosses once: one PE of this node fetches it for all of them, in rotation.
 */
#include "collective/algorithms.h"

static int in_turn(const wtl_team *t, int k)
{
  return (t->me + k) % t->n;
}

/* --- gathers ----------------------------------------------------------------------------------------------------- */

/* An active set does not know which PEs are on its node, so each of its PEs fetches for itself. */
static bool fetches(const wtl_collective *c, int i)
{
  const wtl_team *t = c->team;
  return c->self->slot_of[wtl_team_pe(c->self, t, i)] < 0 && (!t->n_local || i % t->n_local == t->local_me);
}

static char *block_of(const wtl_collective *c, int i)
{
  return (char *)c->dest + wtl_collective_block_begin(c, i);
}

static size_t block_bytes(const wtl_collective *c, int i)
{
  return wtl_collective_block_begin(c, i + 1) - wtl_collective_block_begin(c, i);
}

static void fetch_blocks(const wtl_collective *c, _Atomic uint32_t *left)
{
  for (int k = 0; k < c->team->n; k++) {
    int i = in_turn(c->team, k);
    if (fetches(c, i))
      wtl_get(wtl_collective_op(c, wtl_team_pe(c->self, c->team, i), left), block_of(c, i), c->source,
              block_bytes(c, i));
  }
}

static void copy_blocks(const wtl_collective *c)
{
  for (int k = 0; k < c->team->n; k++) {
    int i = in_turn(c->team, k);
    const void *there = wtl_remote_source(c->self, c->source, wtl_team_pe(c->self, c->team, i));
    if (!there || !block_bytes(c, i)) continue;
    wtl_os_near_access(block_bytes(c, i));
    memmove(block_of(c, i), there, block_bytes(c, i));
  }
}

/* Copies the fetched blocks to the other PEs of this node. */
static void share_blocks(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  for (int i = 0; i < t->n; i++) {
    char *block = block_of(c, i);
    size_t n = block_bytes(c, i);
    for (int k = 0; n && fetches(c, i) && k < t->n_local; k++) {
      if (k == t->local_me) continue;
      wtl_os_near_access(n);
      memcpy(wtl_remote(c->self, block, t->local[k]), block, n);
    }
  }
}

bool wtl_gather_direct(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  _Atomic uint32_t left = 0;
  if (!c->starts) wtl_collective_barrier(c); /* else all have arrived with their sizes */
  if (self->net) fetch_blocks(c, &left);
  copy_blocks(c);
  if (self->net) {
    wtl_far_wait(self, c->site, &left);
    share_blocks(c);
  }
  wtl_fence();
  wtl_collective_barrier(c);
  return true;
}

/* --- alltoall ---------------------------------------------------------------------------------------------------- */

bool wtl_alltoall_direct(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  const wtl_team *t = c->team;
  size_t from_step = c->source_stride, to_step = c->dest_stride, n = c->n;
  bool dense = to_step == c->size && from_step == c->size;
  size_t block = dense ? n * c->size : c->size, blocks = dense ? 1 : n; /* dense: a block is contiguous */
  const char *source = c->source, *mine = source + (size_t)t->me * n * from_step;
  char *dest = c->dest;
  _Atomic uint32_t left = 0;
  wtl_collective_barrier(c);
  for (int k = 0; self->net && n && k < t->n; k++) {
    int i = in_turn(t, k), pe = wtl_team_pe(self, t, i);
    if (self->slot_of[pe] < 0)
      wtl_get_blocks(wtl_collective_op(c, pe, &left), dest + (size_t)i * n * to_step, mine,
                     (wtl_blocks){to_step, from_step, block, blocks});
  }
  /* Stores to the others are a tenth faster than loads from them, because the source is in this core's own cache. */
  for (int k = 0; n && k < t->n; k++) {
    int i = in_turn(t, k);
    char *there = wtl_remote(self, dest + (size_t)t->me * n * to_step, wtl_team_pe(self, t, i));
    if (!there) continue;
    wtl_os_near_access(block * blocks);
    wtl_copy_blocks(there, to_step, source + (size_t)i * n * from_step, from_step, block, blocks);
  }
  if (self->net) wtl_far_wait(self, c->site, &left);
  wtl_fence();
  wtl_collective_barrier(c);
  return true;
}
