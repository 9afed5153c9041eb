/*
 * staged.c - collectives of up to 2 KiB among PEs of a node, by copy-in and copy-out. Each PE copies its bytes to its
 * stage in shared memory, and all pass one barrier. Then each PE copies or combines the bytes that it needs from the
 * others' stages. Cost: a barrier and two copies of each byte. (Known as CICO, for example in Open MPI's sm and xhc
 * components.)
 *
 * Two stages alternate: when a PE enters a collective, all PEs have left the one before the last.
 */
#include "collective/algorithms.h"
#include "collective/two_level.h"

/* In a reduction each PE combines all bytes. Beyond this number it is better that each PE combines a part
 * (reduce_direct.c). */
enum { MOST_SUMMED = 32768 };

static bool fits(const wtl_collective *c, size_t bytes)
{
  const wtl_team *t = c->team;
  return bytes <= WTL_STAGE_BYTES && t->n_local == t->n && t->entry >= 0 &&
         c->self->collectives != WTL_COLLECTIVES_DIRECT;
}

static char *stage_of(const wtl_collective *c, int i)
{
  return wtl_stage_of(c, c->team->local[i]);
}

static void stage(const wtl_collective *c, size_t bytes)
{
  c->team->stage_epoch++;
  if (bytes) memcpy(stage_of(c, c->team->local_me), c->source, bytes);
  wtl_collective_barrier(c);
}

static bool reduction_fits(const wtl_collective *c)
{
  size_t bytes = wtl_collective_bytes(c);
  return fits(c, bytes) &&
         (bytes * (size_t)c->team->n <= MOST_SUMMED || c->self->collectives == WTL_COLLECTIVES_STAGED);
}

/* Stores op over the PEs before `end` to dest. */
static bool reduce(const wtl_collective *c, int end)
{
  _Alignas(16) char sum[WTL_STAGE_BYTES];
  size_t bytes = wtl_collective_bytes(c);
  stage(c, bytes);
  if (end == 0)
    memset(sum, 0, bytes);
  else
    memcpy(sum, stage_of(c, 0), bytes);
  for (int i = 1; i < end; i++) c->combine(sum, stage_of(c, i), c->n);
  memcpy(c->dest, sum, bytes);
  return true;
}

bool wtl_reduce_staged(const wtl_collective *c)
{
  return reduction_fits(c) && reduce(c, c->team->n);
}

bool wtl_scan_staged(const wtl_collective *c)
{
  return reduction_fits(c) && reduce(c, wtl_scan_end(c));
}

static void greatest(void *to, const void *from, size_t n)
{
  uint64_t *most = to;
  const uint64_t *theirs = from;
  for (size_t i = 0; i < n; i++)
    if (theirs[i] > most[i]) most[i] = theirs[i];
}

void wtl_collective_max(wtl_pe *self, wtl_site *site, uint64_t words[], size_t n)
{
  const wtl_collective c = {self, site, self->world, words, words, .n = n, .size = sizeof *words, .combine = greatest};
  if (c.team->n_nodes > 1)
    wtl_reduce_few_two_level(&c);
  else
    reduce(&c, c.team->n);
}

bool wtl_broadcast_staged(const wtl_collective *c)
{
  size_t bytes = wtl_collective_bytes(c);
  bool is_root = c->team->me == c->root;
  if (!fits(c, bytes)) return false;
  stage(c, is_root ? bytes : 0);
  if (!is_root || c->to_root) memcpy(c->dest, stage_of(c, c->root), bytes);
  return true;
}

bool wtl_gather_staged(const wtl_collective *c)
{
  size_t bytes = wtl_collective_bytes(c);
  if (!fits(c, bytes)) return false;
  stage(c, bytes);
  for (int i = 0; i < c->team->n; i++) memcpy((char *)c->dest + (size_t)i * bytes, stage_of(c, i), bytes);
  return true;
}

bool wtl_alltoall_staged(const wtl_collective *c)
{
  wtl_team *t = c->team;
  size_t block = wtl_collective_bytes(c);
  if (!fits(c, block * (size_t)t->n)) return false;
  t->stage_epoch++;
  wtl_copy_blocks(stage_of(c, t->local_me), c->size, c->source, c->source_stride, c->size, c->n * (size_t)t->n);
  wtl_collective_barrier(c);
  for (int i = 0; i < t->n; i++)
    wtl_copy_blocks((char *)c->dest + (size_t)i * c->n * c->dest_stride, c->dest_stride,
                    stage_of(c, i) + (size_t)t->me * block, c->size, c->size, c->n);
  return true;
}
