/*
 * Collectives of up to a room's stage among PEs of a node: each PE copies its part to its stage, all meet once, and
 * each takes what it needs from the others' stages. Two stages by turns: who enters a collective has seen all leave the
 * one before the last.
 */
#include "collective/two_level.h"
#include "collective/algorithms.h"

/* A PE of a reduction computes all of it: beyond so much, parts of it are better (direct_reduce.c). */
enum { MOST_SUMMED = 32768 };

static bool fits(const wtl_pe *self, const wtl_team *t, size_t bytes)
{
  return bytes <= WTL_STAGE_BYTES && t->n_local == t->n && t->room >= 0 && self->collectives != WTL_COLLECTIVES_DIRECT;
}

static char *stage_of(const wtl_pe *self, const wtl_team *t, int i)
{
  return wtl_room_of(self, t->local[i], t->room)->stage[t->stage_epoch & 1];
}

static void stage(wtl_pe *self, wtl_site *site, wtl_team *t, const void *source, size_t bytes)
{
  t->stage_epoch++;
  if (bytes) memcpy(stage_of(self, t, t->local_me), source, bytes);
  wtl_team_barrier(self, site, t);
}

static bool sums(const wtl_pe *self, const wtl_team *t, size_t bytes)
{
  return fits(self, t, bytes) && (bytes * (size_t)t->n <= MOST_SUMMED || self->collectives == WTL_COLLECTIVES_STAGED);
}

static void greatest(void *to, const void *from, size_t n)
{
  uint64_t *most = to;
  const uint64_t *theirs = from;
  for (size_t i = 0; i < n; i++)
    if (theirs[i] > most[i]) most[i] = theirs[i];
}

void wtl_most_of_all(wtl_pe *self, wtl_site *site, uint64_t words[], size_t n)
{
  wtl_team *t = &self->world;
  if (t->n_nodes > 1) {
    wtl_reduce_few_two_level(self, site, t, words, words, n, sizeof *words, greatest);
    return;
  }
  stage(self, site, t, words, n * sizeof *words);
  for (int i = 0; i < t->n; i++) greatest(words, stage_of(self, t, i), n);
}

bool wtl_reduce_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                       wtl_combine_fn combine)
{
  _Alignas(16) char sum[WTL_STAGE_BYTES];
  if (!sums(self, t, n * size)) return false;
  stage(self, site, t, source, n * size);
  memcpy(sum, stage_of(self, t, 0), n * size);
  for (int i = 1; i < t->n; i++) combine(sum, stage_of(self, t, i), n);
  memcpy(dest, sum, n * size);
  return true;
}

bool wtl_scan_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                     wtl_combine_fn combine, bool exclusive)
{
  _Alignas(16) char sum[WTL_STAGE_BYTES];
  int end = exclusive ? t->me : t->me + 1;
  if (!sums(self, t, n * size)) return false;
  stage(self, site, t, source, n * size);
  if (end == 0)
    memset(sum, 0, n * size);
  else
    memcpy(sum, stage_of(self, t, 0), n * size);
  for (int i = 1; i < end; i++) combine(sum, stage_of(self, t, i), n);
  memcpy(dest, sum, n * size);
  return true;
}

bool wtl_broadcast_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root)
{
  if (!fits(self, t, bytes)) return false;
  stage(self, site, t, source, t->me == root ? bytes : 0);
  if (t->me != root || to_root) memcpy(dest, stage_of(self, t, root), bytes);
  return true;
}

bool wtl_fcollect_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  if (!fits(self, t, bytes)) return false;
  stage(self, site, t, source, bytes);
  for (int i = 0; i < t->n; i++) memcpy((char *)dest + (size_t)i * bytes, stage_of(self, t, i), bytes);
  return true;
}

bool wtl_alltoall_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                         size_t from_step, size_t size, size_t n)
{
  size_t block = n * size;
  if (!fits(self, t, block * (size_t)t->n)) return false;
  t->stage_epoch++;
  wtl_copy_blocks(stage_of(self, t, t->local_me), size, source, from_step, size, n * (size_t)t->n);
  wtl_team_barrier(self, site, t);
  for (int i = 0; i < t->n; i++)
    wtl_copy_blocks((char *)dest + (size_t)i * n * to_step, to_step, stage_of(self, t, i) + (size_t)t->me * block, size,
                    size, n);
  return true;
}
