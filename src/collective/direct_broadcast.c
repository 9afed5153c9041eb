/* direct_broadcast.c - a broadcast that each PE fetches straight from the root's source. */
#include <string.h>

#include "collective/algorithms.h"

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

void wtl_broadcast_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root)
{
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
