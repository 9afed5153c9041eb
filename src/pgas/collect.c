/*
 * Collectives over all PEs of a node. Each PE owns a part of the result, computes it from everybody's source and stores
 * it to everybody's destination: each byte is moved once, and every PE gets the same bits.
 */
#include "pgas/sync.h"

/* A part smaller than this is not worth another PE's turn. */
enum { LEAST_PART_BYTES = 1024 };

static void reduce_block(wtl_pe *self, char *dest, const char *source, size_t at, size_t n, size_t size,
                         wtl_combine_fn combine)
{
  memcpy(self->scratch, wtl_remote(self, source, 0) + at * size, n * size);
  for (int pe = 1; pe < self->n; pe++) combine(self->scratch, wtl_remote(self, source, pe) + at * size, n);
  for (int pe = 0; pe < self->n; pe++) memcpy(wtl_remote(self, dest, pe) + at * size, self->scratch, n * size);
}

void wtl_reduce(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine)
{
  size_t part = (n + (size_t)self->n - 1) / (size_t)self->n, block = WTL_SCRATCH_BYTES / size;
  if (part * size < LEAST_PART_BYTES) part = LEAST_PART_BYTES / size;
  size_t begin = part * (size_t)self->me, end = begin + part < n ? begin + part : n;
  wtl_quiet(self);
  wtl_barrier(self, site); /* all sources are ready */
  for (size_t at = begin; at < end; at += block)
    reduce_block(self, dest, source, at, end - at < block ? end - at : block, size, combine);
  wtl_quiet(self);
  wtl_barrier(self, site); /* all results are there */
}

void wtl_broadcast(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t bytes, int root)
{
  wtl_quiet(self);
  wtl_barrier(self, site);
  if (bytes) memmove(dest, wtl_remote(self, source, root), self->me == root && dest == source ? 0 : bytes);
  wtl_quiet(self);
  wtl_barrier(self, site); /* root may change its source again */
}
