/*
 * collective.h - reductions, scans, broadcasts, gathers and alltoall of a team or an active set.
 *
 * Every function waits through the door (wait/door.h) at the caller's site.
 */
#ifndef WTL_COLLECTIVE_COLLECTIVE_H
#define WTL_COLLECTIVE_COLLECTIVE_H

#include "pgas/pe.h"

/* to[i] = to[i] op from[i], i < n, for one type. */
typedef void (*wtl_combine_fn)(void *to, const void *from, size_t n);

/*
 * Collectives. A PE may return while others have not; what others hold may be read or written after a barrier. Three
 * ways:
 *   SMALL   up to WTL_SMALL_BYTES: each PE says its part in a cache line (flat.c), one hop
 *   STAGED  up to WTL_STAGE_BYTES: each PE copies its part to its room, a barrier, each takes what it needs (staged.c)
 *   DIRECT  a barrier, each PE computes or fetches its share of the result from the others' memory, a barrier
 * The first two where all PEs are on one node; on several, unless they are forced to go DIRECT, those of few bytes and
 * all reductions put together what a node has before they use the network (two_level_reduce.c, two_level_gather.c), broadcasts of
 * few bytes are told on from node to node (broadcast_binomial.c), and nodes of one PE send straight to where the bytes belong
 * (direct_push.c). The setting says which is taken where several could be.
 */
enum wtl_collectives { WTL_COLLECTIVES_AUTO, WTL_COLLECTIVES_SMALL, WTL_COLLECTIVES_STAGED, WTL_COLLECTIVES_DIRECT };

/* dest = op over PEs, in the order of the team, of source; `n` elements of `size` bytes. dest may be source. */
void wtl_reduce(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine);

/* The same over the PEs up to this one, or (exclusive) before it; what begins that is zeros. */
void wtl_scan(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
              wtl_combine_fn combine, bool exclusive);

/* source of the team's PE `root` to dest of every PE, but to root's own only where `to_root`. dest may be source. */
void wtl_broadcast(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes, int root,
                   bool to_root);

/* `bytes` of each PE, one after the other in the order of the team. wtl_collect: each PE its own number of bytes;
 * wtl_collect_size comes first, with the same `bytes`, and returns how many all bring. */
void wtl_fcollect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
size_t wtl_collect_size(wtl_pe *self, wtl_site *site, wtl_team *t, size_t bytes);
void wtl_collect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);

/* Block i of `source`, `n` elements of `size` bytes, each `from_step` bytes after the last, to block me of `dest` of PE
 * i. */
void wtl_alltoall(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                  size_t from_step, size_t size, size_t n);

/* A barrier of all PEs at which each brings `n` numbers, up to 64, and gets for each the greatest that any PE
 * brought. */
void wtl_most_of_all(wtl_pe *self, wtl_site *site, uint64_t words[], size_t n);

#endif
