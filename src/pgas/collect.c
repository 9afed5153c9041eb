/*
 * Reductions, scans and broadcast straight from memory to memory; those of fewer bytes are in small.c and staged.c, those of
 * several nodes mostly in by_node.c. Each PE owns
 * a part of the result, computes it from everybody's source and stores it to everybody's destination: each byte is moved once,
 * and every PE gets the same bits.
 */
#include <stdlib.h>

#include "base/error.h"
#include "pgas/sync.h"
#include "pgas/team.h"

/* A part smaller than this is not worth another PE's turn. */
enum { LEAST_PART_BYTES = 1024 };

/* An active set lasts for one call, and its scratch with it (put_back). */
char *wtl_collective_scratch(wtl_team *t)
{
  if (!t->scratch && !(t->scratch = malloc((size_t)2 * WTL_SCRATCH_BYTES)))
    wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the collectives' %d bytes", WTL_SCRATCH_BYTES);
  return t->scratch;
}

static void put_back(wtl_team *t)
{
  if (!t->sync) return;
  free(t->scratch);
  t->scratch = NULL;
}

/* `n` bytes of `source` (an address here) as PE `pe` has them: where they are, or a copy in `room`. */
static const void *look_at(wtl_pe *self, wtl_site *site, const char *source, size_t n, int pe, void *room)
{
  const void *there = wtl_remote(self, source, pe);
  if (there) return there;
  wtl_far_get(self, NULL, site, room, source, n, pe, false);
  return room;
}

static void give(wtl_pe *self, wtl_site *site, char *dest, const void *from, size_t n, int pe, bool nbi)
{
  char *there = wtl_remote(self, dest, pe);
  if (there)
    memcpy(there, from, n);
  else
    wtl_far_put(self, NULL, site, dest, from, n, pe, nbi);
}

typedef struct sums {
  size_t size; /* of an element */
  wtl_combine_fn combine;
  bool scans, exclusive;
} sums;

static void reduce_block(wtl_pe *self, wtl_site *site, wtl_team *t, const sums *s, char *dest, const char *source,
                         size_t n)
{
  char *sum = wtl_collective_scratch(t), *room = sum + WTL_SCRATCH_BYTES;
  size_t bytes = n * s->size;
  memcpy(sum, look_at(self, site, source, bytes, wtl_team_pe(self, t, 0), room), bytes);
  for (int i = 1; i < t->n; i++) s->combine(sum, look_at(self, site, source, bytes, wtl_team_pe(self, t, i), room), n);
  for (int i = 0; i < t->n; i++) give(self, site, dest, sum, bytes, wtl_team_pe(self, t, i), true);
  if (self->net) wtl_quiet(self, site); /* the sum may be overwritten */
}

/* The sum so far goes to each PE in its turn; a source is read before the destination in its place is written. */
static void scan_block(wtl_pe *self, wtl_site *site, wtl_team *t, const sums *s, char *dest, const char *source,
                       size_t n)
{
  char *sum = wtl_collective_scratch(t), *room = sum + WTL_SCRATCH_BYTES;
  size_t bytes = n * s->size;
  memset(sum, 0, bytes);
  for (int i = 0; i < t->n; i++) {
    int pe = wtl_team_pe(self, t, i);
    const void *from = look_at(self, site, source, bytes, pe, room);
    if (s->exclusive && from != room) memcpy(room, from, bytes);
    if (s->exclusive) give(self, site, dest, sum, bytes, pe, false);
    if (i == 0)
      memcpy(sum, s->exclusive ? room : from, bytes);
    else
      s->combine(sum, s->exclusive ? room : from, n);
    if (!s->exclusive) give(self, site, dest, sum, bytes, pe, false);
  }
}

/* Each PE its part, in blocks that fit its scratch. */
static void in_parts(wtl_pe *self, wtl_site *site, wtl_team *t, const sums *s, char *dest, const char *source, size_t n)
{
  size_t part = (n + (size_t)t->n - 1) / (size_t)t->n, block = WTL_SCRATCH_BYTES / s->size;
  if (part * s->size < LEAST_PART_BYTES) part = LEAST_PART_BYTES / s->size;
  size_t begin = part * (size_t)t->me, end = begin + part < n ? begin + part : n;
  wtl_team_barrier(self, site, t); /* all sources are ready */
  for (size_t at = begin; at < end; at += block) {
    size_t count = end - at < block ? end - at : block;
    (s->scans ? scan_block : reduce_block)(self, site, t, s, dest + at * s->size, source + at * s->size, count);
  }
  put_back(t);
  wtl_quiet(self, site);
  wtl_team_barrier(self, site, t); /* all results are there */
}

void wtl_reduce(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine)
{
  if (wtl_reduce_small(self, site, t, dest, source, n, size, combine) ||
      wtl_reduce_staged(self, site, t, dest, source, n, size, combine) ||
      wtl_reduce_by_node(self, site, t, dest, source, n, size, combine))
    return;
  in_parts(self, site, t, &(sums){size, combine, false, false}, dest, source, n);
}

void wtl_scan(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
              wtl_combine_fn combine, bool exclusive)
{
  if (wtl_scan_staged(self, site, t, dest, source, n, size, combine, exclusive)) return;
  in_parts(self, site, t, &(sums){size, combine, true, exclusive}, dest, source, n);
}

/*
 * From another node: each PE of this node fetches a part and stores it to all of them, so that each byte crosses once a node.
 * (An active set does not know who is on its node: there each PE fetches for itself.)
 */
static void fetch_together(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const char *source, size_t bytes,
                           int pe)
{
  size_t n = t->n_local ? (size_t)t->n_local : 1, part = (bytes / n + WTL_CACHE_LINE) & -(size_t)WTL_CACHE_LINE;
  size_t begin = part * (size_t)t->local_me, end = begin + part < bytes ? begin + part : bytes;
  if (begin >= end) return;
  wtl_far_get(self, NULL, site, dest + begin, source + begin, end - begin, pe, false);
  for (int i = 0; i < t->n_local; i++)
    if (i != t->local_me) memcpy(wtl_remote(self, dest + begin, t->local[i]), dest + begin, end - begin);
}

void wtl_broadcast(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes, int root,
                   bool to_root)
{
  if (wtl_broadcast_small(self, site, t, dest, source, bytes, root, to_root) ||
      wtl_broadcast_staged(self, site, t, dest, source, bytes, root, to_root) ||
      wtl_broadcast_by_node(self, site, t, dest, source, bytes, root, to_root))
    return;
  int pe = wtl_team_pe(self, t, root);
  wtl_team_barrier(self, site, t);
  const void *there = wtl_remote(self, source, pe);
  if (!there)
    fetch_together(self, site, t, dest, source, bytes, pe);
  else if (bytes && (self->me != pe || (to_root && dest != source)))
    memmove(dest, there, bytes);
  wtl_fence();
  wtl_team_barrier(self, site, t); /* root may change its source again */
}
