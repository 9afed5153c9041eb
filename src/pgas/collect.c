/*
 * Collectives over all PEs; those of a few bytes on one node are in small.c. Each PE owns a part of the result, computes it from everybody's source and stores it to
 * everybody's destination: each byte is moved once, and every PE gets the same bits.
 */
#include "pgas/sync.h"

/* A part smaller than this is not worth another PE's turn. */
enum { LEAST_PART_BYTES = 1024 };

/* `n` bytes of `source` (an address here) as PE `pe` has them: where they are, or a copy in `room`. */
static const void *look_at(wtl_pe *self, wtl_site *site, const char *source, size_t n, int pe, void *room)
{
  const void *there = wtl_remote(self, source, pe);
  if (there) return there;
  wtl_far_get(self, site, room, source, n, pe, false);
  return room;
}

static void reduce_block(wtl_pe *self, wtl_site *site, char *dest, const char *source, size_t n, size_t size,
                         wtl_combine_fn combine)
{
  char *sum = self->scratch, *room = self->scratch + WTL_SCRATCH_BYTES;
  memcpy(sum, look_at(self, site, source, n * size, 0, room), n * size);
  for (int pe = 1; pe < self->n; pe++) combine(sum, look_at(self, site, source, n * size, pe, room), n);
  for (int pe = 0; pe < self->n; pe++) {
    char *there = wtl_remote(self, dest, pe);
    if (there)
      memcpy(there, sum, n * size);
    else
      wtl_far_put(self, site, dest, sum, n * size, pe, true);
  }
  if (self->net) wtl_quiet(self, site); /* the sum may be overwritten */
}

void wtl_reduce(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine)
{
  if (wtl_is_small(self, n * size) && self->n <= WTL_SMALL_REDUCE_PES) {
    wtl_reduce_small(self, site, dest, source, n, size, combine);
    return;
  }
  size_t part = (n + (size_t)self->n - 1) / (size_t)self->n, block = WTL_SCRATCH_BYTES / size;
  if (part * size < LEAST_PART_BYTES) part = LEAST_PART_BYTES / size;
  size_t begin = part * (size_t)self->me, end = begin + part < n ? begin + part : n;
  wtl_quiet(self, site);
  wtl_barrier(self, site); /* all sources are ready */
  for (size_t at = begin; at < end; at += block)
    reduce_block(self, site, (char *)dest + at * size, (const char *)source + at * size,
                 end - at < block ? end - at : block, size, combine);
  wtl_quiet(self, site);
  wtl_barrier(self, site); /* all results are there */
}

void wtl_broadcast(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t bytes, int root)
{
  if (wtl_is_small(self, bytes)) {
    wtl_broadcast_small(self, site, dest, source, bytes, root);
    return;
  }
  wtl_quiet(self, site);
  wtl_barrier(self, site);
  const void *there = wtl_remote(self, source, root);
  if (!there)
    wtl_far_get(self, site, dest, source, bytes, root, false);
  else if (bytes)
    memmove(dest, there, self->me == root && dest == source ? 0 : bytes);
  wtl_quiet(self, site);
  wtl_barrier(self, site); /* root may change its source again */
}
