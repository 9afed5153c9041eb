/* collective.c - which algorithm a collective takes: the first that is for the call. */
#include "collective/collective.h"

#include <string.h>

#include "collective/algorithms.h"
#include "collective/two_level.h"

void wtl_reduce(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine)
{
  if (!wtl_reduce_flat(self, site, t, dest, source, n, size, combine) &&
      !wtl_reduce_staged(self, site, t, dest, source, n, size, combine) &&
      !wtl_reduce_two_level(self, site, t, dest, source, n, size, combine) &&
      !wtl_reduce_push(self, site, t, dest, source, n, size, combine))
    wtl_reduce_direct(self, site, t, dest, source, n, size, combine);
}

void wtl_scan(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
              wtl_combine_fn combine, bool exclusive)
{
  if (!wtl_scan_staged(self, site, t, dest, source, n, size, combine, exclusive) &&
      !wtl_scan_two_level(self, site, t, dest, source, n, size, combine, exclusive))
    wtl_scan_direct(self, site, t, dest, source, n, size, combine, exclusive);
}

void wtl_broadcast(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes, int root,
                   bool to_root)
{
  if (!wtl_broadcast_flat(self, site, t, dest, source, bytes, root, to_root) &&
      !wtl_broadcast_staged(self, site, t, dest, source, bytes, root, to_root) &&
      !wtl_broadcast_binomial(self, site, t, dest, source, bytes, root, to_root) &&
      !wtl_broadcast_push(self, site, t, dest, source, bytes, root, to_root))
    wtl_broadcast_direct(self, site, t, dest, source, bytes, root, to_root);
}

bool wtl_fcollect_few(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  if (wtl_fcollect_flat(self, site, t, dest, source, bytes) || wtl_fcollect_staged(self, site, t, dest, source, bytes))
    return true;
  if (bytes > WTL_FAR_BYTES) return false; /* nor may the product overflow */
  size_t total = (size_t)t->n * bytes;
  const char *all = wtl_gather_two_level(self, site, t, source, bytes, (size_t)t->me * bytes, total);
  if (all) memcpy(dest, all, total);
  return all != NULL;
}

void wtl_fcollect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  if (!wtl_fcollect_few(self, site, t, dest, source, bytes) &&
      !wtl_gather_push(self, site, t, dest, source, (size_t)t->me * bytes, bytes, bytes))
    wtl_fcollect_direct(self, site, t, dest, source, bytes);
}

void wtl_alltoall(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                  size_t from_step, size_t size, size_t n)
{
  bool dense = to_step == size && from_step == size;
  if (!wtl_alltoall_staged(self, site, t, dest, to_step, source, from_step, size, n) &&
      !wtl_alltoall_two_level(self, site, t, dest, to_step, source, from_step, size, n) &&
      !(dense && wtl_alltoall_push(self, site, t, dest, source, n * size)))
    wtl_alltoall_direct(self, site, t, dest, to_step, source, from_step, size, n);
}
