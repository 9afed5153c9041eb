/*
 * reduce_direct.c - reductions and scans of any size, straight from memory to memory. Each PE owns a part of the
 * result. It computes that part from all PEs' sources and stores it to all PEs' dest (reduce-scatter and allgather).
 * Cost: two barriers; a PE reads and writes 1/n of the elements of each PE, so each byte moves once. All PEs get the
 * same bits, because one of them computes each element.
 */
#include "collective/algorithms.h"

/* A smaller part is not worth the work of another PE. */
enum { LEAST_PART_BYTES = 1024 };

static void store(const wtl_collective *c, char *dest, const void *from, size_t n, int pe)
{
  char *there = wtl_remote(c->self, dest, pe);
  if (there) {
    wtl_os_near_access(n);
    memcpy(there, from, n);
  } else {
    wtl_far_put(&(wtl_op){.self = c->self, .site = c->site, .pe = pe, .nbi = true}, dest, from, n);
  }
}

/* A row of the scratch memory. The sum comes first, and then a row for each PE: for its fetched source or, in a
 * scan, its result. */
static char *row_of(const wtl_collective *c, size_t bytes, int i)
{
  return wtl_collective_scratch(c->team) + (size_t)(i + 1) * bytes;
}

/* Begins all fetches before it waits for the first. */
static void fetch_rows(const wtl_collective *c, const char *source, size_t bytes)
{
  wtl_pe *self = c->self;
  _Atomic uint32_t left = 0;
  for (int i = 0; i < c->team->n; i++) {
    int pe = wtl_team_pe(self, c->team, i);
    if (self->slot_of[pe] < 0) wtl_get(wtl_collective_op(c, pe, &left), row_of(c, bytes, i), source, bytes);
  }
  wtl_far_wait(self, c->site, &left);
}

/* Computes `n` elements of this PE's part, from element `at` on. */
typedef void part_fn(const wtl_collective *c, size_t at, size_t n);

static void reduce_part(const wtl_collective *c, size_t at, size_t n)
{
  wtl_pe *self = c->self;
  const char *source = (const char *)c->source + at * c->size;
  char *sum = wtl_collective_scratch(c->team), *dest = (char *)c->dest + at * c->size;
  size_t bytes = n * c->size;
  if (self->net) fetch_rows(c, source, bytes);
  for (int i = 0; i < c->team->n; i++) {
    const void *there = wtl_remote_source(self, source, wtl_team_pe(self, c->team, i));
    if (there)
      wtl_os_near_access(bytes);
    else
      there = row_of(c, bytes, i);
    if (i == 0)
      memcpy(sum, there, bytes);
    else
      c->combine(sum, there, n);
  }
  for (int i = 0; i < c->team->n; i++) store(c, dest, sum, bytes, wtl_team_pe(self, c->team, i));
  if (self->net) wtl_quiet(self, c->site); /* the sum may be overwritten */
}

/* Turns the row of each PE into the sum so far. All sources are read before the first dest is written, because a
 * dest may be a source. */
static void scan_part(const wtl_collective *c, size_t at, size_t n)
{
  wtl_pe *self = c->self;
  const char *source = (const char *)c->source + at * c->size;
  char *dest = (char *)c->dest + at * c->size;
  size_t bytes = n * c->size;
  if (self->net) fetch_rows(c, source, bytes);
  memset(row_of(c, bytes, -1), 0, bytes);
  for (int i = 0; i < c->team->n; i++) {
    const void *there = wtl_remote_source(self, source, wtl_team_pe(self, c->team, i));
    if (there) {
      wtl_os_near_access(bytes);
      memcpy(row_of(c, bytes, i), there, bytes);
    }
    if (i > 0) c->combine(row_of(c, bytes, i), row_of(c, bytes, i - 1), n);
  }
  for (int i = 0; i < c->team->n; i++)
    store(c, dest, row_of(c, bytes, c->exclusive ? i - 1 : i), bytes, wtl_team_pe(self, c->team, i));
  if (self->net) wtl_quiet(self, c->site); /* rows may be overwritten */
}

/* Computes this PE's part, in blocks of which `rows` fit its scratch memory. */
static bool in_parts(const wtl_collective *c, size_t rows, part_fn *do_part)
{
  const wtl_team *t = c->team;
  size_t part = (c->n + (size_t)t->n - 1) / (size_t)t->n, block = wtl_scratch_bytes(t) / rows / c->size;
  if (part * c->size < LEAST_PART_BYTES) part = LEAST_PART_BYTES / c->size;
  size_t begin = part * (size_t)t->me, end = begin + part < c->n ? begin + part : c->n;
  wtl_collective_barrier(c); /* all sources are ready */
  for (size_t at = begin; at < end; at += block) do_part(c, at, end - at < block ? end - at : block);
  wtl_scratch_back(c->team);
  wtl_quiet(c->self, c->site);
  wtl_collective_barrier(c); /* all results are complete */
  return true;
}

bool wtl_reduce_direct(const wtl_collective *c)
{
  return in_parts(c, c->self->net ? (size_t)c->team->n + 1 : 2, reduce_part);
}

bool wtl_scan_direct(const wtl_collective *c)
{
  return in_parts(c, (size_t)c->team->n + 1, scan_part);
}
