/*
 * broadcast_direct.c - a broadcast of any size that each PE copies straight from the root's source: a barrier, one copy
 * (linear, all PEs at once), a barrier. Each byte crosses to another node once: each PE of the node fetches a part and
 * stores it to all of them (scatter and allgather inside the node).
 */
#include "collective/algorithms.h"

/* An active set does not know which PEs are on its node, so each of its PEs fetches for itself. */
static void fetch_together(const wtl_collective *c, int pe)
{
  wtl_pe *self = c->self;
  const wtl_team *t = c->team;
  size_t bytes = wtl_collective_bytes(c), n = t->n_local ? (size_t)t->n_local : 1;
  size_t part = (bytes / n + WTL_CACHE_LINE) & -(size_t)WTL_CACHE_LINE;
  size_t begin = part * (size_t)t->local_me, end = begin + part < bytes ? begin + part : bytes;
  char *mine = (char *)c->dest + begin;
  if (begin >= end) return;
  wtl_get(wtl_collective_op(c, pe, NULL), mine, (const char *)c->source + begin, end - begin);
  for (int i = 0; i < t->n_local; i++) {
    if (i == t->local_me) continue;
    wtl_os_near_access(end - begin);
    memcpy(wtl_remote(self, mine, t->local[i]), mine, end - begin);
  }
}

bool wtl_broadcast_direct(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  size_t bytes = wtl_collective_bytes(c);
  int pe = wtl_team_pe(self, c->team, c->root);
  wtl_collective_barrier(c);
  const void *there = wtl_remote_source(self, c->source, pe);
  if (!there) {
    fetch_together(c, pe);
  } else if (bytes && (self->me != pe || (c->to_root && c->dest != c->source))) {
    wtl_os_near_access(bytes);
    memmove(c->dest, there, bytes);
  }
  wtl_fence();
  wtl_collective_barrier(c); /* the root may change its source again */
  return true;
}
