/*
 * direct_reduce.c - reductions and scans straight from memory to memory. Each PE owns a part of the result, computes it
 * from all PEs' sources and stores it to all PEs' destinations (reduce-scatter and allgather in one). Each byte moves
 * once, and every PE gets the same bits.
 */
#include <string.h>

#include "collective/algorithms.h"

/* A part smaller than this is not worth another PE's turn. */
enum { LEAST_PART_BYTES = 1024 };

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

void wtl_reduce_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                       size_t size, wtl_combine_fn combine)
{
  in_parts(self, site, t, &(sums){size, combine, false, false}, dest, source, n);
}

void wtl_scan_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                     wtl_combine_fn combine, bool exclusive)
{
  in_parts(self, site, t, &(sums){size, combine, true, exclusive}, dest, source, n);
}
