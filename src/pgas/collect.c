/*
 * Reductions, scans and broadcast straight from memory to memory; those of fewer bytes are in small.c and staged.c,
 * those of several nodes mostly in by_node.c. Each PE owns a part of the result, computes it from everybody's source
 * and stores it to everybody's destination: each byte is moved once, and every PE gets the same bits.
 */
#include <stdlib.h>

#include "base/error.h"
#include "pgas/by_node.h"
#include "pgas/sync.h"
#include "pgas/team.h"

/* A part smaller than this is not worth another PE's turn. */
enum { LEAST_PART_BYTES = 1024 };

char *wtl_collective_scratch(wtl_team *t)
{
  if (!t->scratch && !(t->scratch = malloc(wtl_scratch_bytes(t))))
    wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the collectives' %zu bytes", wtl_scratch_bytes(t));
  return t->scratch;
}

/* An active set lasts for one call, and its scratch with it. */
void wtl_scratch_back(wtl_team *t)
{
  if (!t->sync) return;
  free(t->scratch);
  t->scratch = NULL;
}

static void give(wtl_pe *self, wtl_site *site, char *dest, const void *from, size_t n, int pe)
{
  char *there = wtl_remote(self, dest, pe);
  if (there)
    memcpy(there, from, n);
  else
    wtl_far_put(self, NULL, site, dest, from, n, pe, true);
}

typedef struct sums {
  size_t size; /* of an element */
  wtl_combine_fn combine;
  bool scans, exclusive;
} sums;

/* Scratch: the sum, and a row for each PE, for those whose source has to be fetched (for a scan: whose result has to be
 * kept). */
static char *row_of(wtl_team *t, size_t bytes, int i)
{
  return wtl_collective_scratch(t) + (size_t)(i + 1) * bytes;
}

/* As many elements as fit. */
static size_t block_of(const wtl_pe *self, const wtl_team *t, const sums *s)
{
  size_t rows = self->net || s->scans ? (size_t)t->n + 1 : 2;
  return wtl_scratch_bytes(t) / rows / s->size;
}

/* All on their way before the first is waited for. */
static void fetch_rows(wtl_pe *self, wtl_site *site, wtl_team *t, const char *source, size_t bytes)
{
  _Atomic uint32_t left = 0;
  for (int i = 0; i < t->n; i++) {
    int pe = wtl_team_pe(self, t, i);
    if (self->slot_of[pe] < 0)
      wtl_far_get_at(self, NULL, site, pe, wtl_far_place(self, source), row_of(t, bytes, i), bytes, &left);
  }
  wtl_far_wait(self, site, &left);
}

static void reduce_block(wtl_pe *self, wtl_site *site, wtl_team *t, const sums *s, char *dest, const char *source,
                         size_t n)
{
  char *sum = wtl_collective_scratch(t);
  size_t bytes = n * s->size;
  if (self->net) fetch_rows(self, site, t, source, bytes);
  for (int i = 0; i < t->n; i++) {
    const void *there = wtl_remote_source(self, source, wtl_team_pe(self, t, i));
    if (!there) there = row_of(t, bytes, i);
    if (i == 0)
      memcpy(sum, there, bytes);
    else
      s->combine(sum, there, n);
  }
  for (int i = 0; i < t->n; i++) give(self, site, dest, sum, bytes, wtl_team_pe(self, t, i));
  if (self->net) wtl_quiet(self, site); /* the sum may be overwritten */
}

/* Each PE's row becomes the sum so far. All sources are read before the first destination, which may be one, is
 * written. */
static void scan_block(wtl_pe *self, wtl_site *site, wtl_team *t, const sums *s, char *dest, const char *source,
                       size_t n)
{
  size_t bytes = n * s->size;
  if (self->net) fetch_rows(self, site, t, source, bytes);
  memset(row_of(t, bytes, -1), 0, bytes);
  for (int i = 0; i < t->n; i++) {
    const void *there = wtl_remote_source(self, source, wtl_team_pe(self, t, i));
    if (there) memcpy(row_of(t, bytes, i), there, bytes);
    if (i > 0) s->combine(row_of(t, bytes, i), row_of(t, bytes, i - 1), n);
  }
  for (int i = 0; i < t->n; i++)
    give(self, site, dest, row_of(t, bytes, s->exclusive ? i - 1 : i), bytes, wtl_team_pe(self, t, i));
  if (self->net) wtl_quiet(self, site); /* rows may be overwritten */
}

/* Each PE its part, in blocks that fit its scratch. */
static void in_parts(wtl_pe *self, wtl_site *site, wtl_team *t, const sums *s, char *dest, const char *source, size_t n)
{
  size_t part = (n + (size_t)t->n - 1) / (size_t)t->n, block = block_of(self, t, s);
  if (part * s->size < LEAST_PART_BYTES) part = LEAST_PART_BYTES / s->size;
  size_t begin = part * (size_t)t->me, end = begin + part < n ? begin + part : n;
  wtl_team_barrier(self, site, t); /* all sources are ready */
  for (size_t at = begin; at < end; at += block) {
    size_t count = end - at < block ? end - at : block;
    (s->scans ? scan_block : reduce_block)(self, site, t, s, dest + at * s->size, source + at * s->size, count);
  }
  wtl_scratch_back(t);
  wtl_quiet(self, site);
  wtl_team_barrier(self, site, t); /* all results are there */
}

void wtl_reduce(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine)
{
  if (wtl_reduce_small(self, site, t, dest, source, n, size, combine) ||
      wtl_reduce_staged(self, site, t, dest, source, n, size, combine) ||
      wtl_reduce_by_node(self, site, t, dest, source, n, size, combine) ||
      wtl_reduce_pushed(self, site, t, dest, source, n, size, combine))
    return;
  in_parts(self, site, t, &(sums){size, combine, false, false}, dest, source, n);
}

void wtl_scan(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
              wtl_combine_fn combine, bool exclusive)
{
  if (wtl_scan_staged(self, site, t, dest, source, n, size, combine, exclusive) ||
      wtl_scan_by_node(self, site, t, dest, source, n, size, combine, exclusive))
    return;
  in_parts(self, site, t, &(sums){size, combine, true, exclusive}, dest, source, n);
}

/*
 * From another node: each PE of this node fetches a part and stores it to all of them, so that each byte crosses once a
 * node. (An active set does not know who is on its node: there each PE fetches for itself.)
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
      wtl_broadcast_passed(self, site, t, dest, source, bytes, root, to_root) ||
      wtl_broadcast_pushed(self, site, t, dest, source, bytes, root, to_root))
    return;
  int pe = wtl_team_pe(self, t, root);
  wtl_team_barrier(self, site, t);
  const void *there = wtl_remote_source(self, source, pe);
  if (!there)
    fetch_together(self, site, t, dest, source, bytes, pe);
  else if (bytes && (self->me != pe || (to_root && dest != source)))
    memmove(dest, there, bytes);
  wtl_fence();
  wtl_team_barrier(self, site, t); /* root may change its source again */
}
