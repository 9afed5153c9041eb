/*
 * collective.h - reductions, scans, broadcasts, gathers and alltoall of a team or an active set.
 *
 * DESIGN
 *
 * A front end describes a call once (wtl_collective) and passes a pointer to the description. For each collective
 * collective.c has a table of algorithms, the fastest first. An algorithm returns false if it does not serve the call;
 * the last of a table serves every call. These are the algorithms, each with its cost at the head of its file:
 *
 *   flat_tree.c          up to 48 bytes on a node: data and a sequence number in one cache line, no barrier
 *   staged.c             up to 2 KiB on a node: copy in, one barrier, copy out
 *   reduce_two_level.c   several nodes: reduce on each node, then recursive doubling (few bytes) or reduce-scatter and
 *                        allgather (more) among one leader a node
 *   gather_two_level.c   several nodes, few bytes: fcollect, collect, scans and alltoall, through the leaders
 *   broadcast_binomial.c several nodes, few bytes: a binomial tree of the leaders
 *   direct_push.c        nodes of one PE, up to 256 KiB: each PE sends straight into the others' destinations
 *   gather_doubling.c    from four nodes on: fcollect and collect, log2(nodes) messages of each leader
 *   *_direct.c           any call: a barrier, single copies from memory to memory, a barrier
 *
 * Why it is right:
 *   - All PEs of a call take the same algorithm. An algorithm therefore decides only by values that are equal on all of
 *     them: the team, the byte counts that the standard requires to be equal (or that collect has exchanged), symmetric
 *     addresses, and the setting.
 *   - All PEs get the same bits from a reduction. Either one PE computes an element for all, or all combine in the same
 *     order: that of the team, and among leaders the lower node first.
 *   - Shared memory (lines, stages, the leaders' slots) is used in rotation. A place is used again only when its last
 *     readers have arrived at a later collective or barrier. Each file states its rule.
 *
 * Failures: PEs that call different collectives, or pass different counts, wait for each other or read old bytes.
 * SHMEM_DEBUG compares the arguments first (check/arguments.c). A PE may return while others have not: the memory of
 * the others may be read or written only after a barrier.
 */
#ifndef WTL_COLLECTIVE_COLLECTIVE_H
#define WTL_COLLECTIVE_COLLECTIVE_H

#include "pgas/pe.h"

/* to[i] = to[i] op from[i], i < n, for one type. */
typedef void (*wtl_combine_fn)(void *to, const void *from, size_t n);

/* The algorithms that the setting allows where several could serve: all; flat trees first; staged first; direct
 * only. */
enum wtl_collectives { WTL_COLLECTIVES_AUTO, WTL_COLLECTIVES_SMALL, WTL_COLLECTIVES_STAGED, WTL_COLLECTIVES_DIRECT };

/* A call of a collective on this PE. Members that a collective does not use are 0. */
typedef struct wtl_collective {
  wtl_pe *self;
  wtl_site *site; /* of the caller; waits are counted there */
  wtl_team *team;
  void *dest; /* dest and source may be the same, except for gathers and alltoall */
  const void *source;
  size_t n, size;         /* elements that this PE contributes (alltoall: to each PE), and bytes of an element */
  wtl_combine_fn combine; /* of reductions and scans */
  bool exclusive;         /* scan: the result does not include this PE's own elements */
  bool to_root;           /* broadcast: the root's own dest is written, too */
  int root;               /* broadcast: the root's number in the team */
  size_t dest_stride, source_stride; /* alltoall: bytes from one element to the next */
  /* Gathers: the bytes of PE i go to dest from starts[i] to starts[i + 1]. NULL: all contribute the same number. */
  const uint64_t *starts;
} wtl_collective;

/* dest = op of source over the PEs of the team, in its order. */
void wtl_reduce(const wtl_collective *c);

/* Does the same over the PEs up to this one, or (exclusive) before it. dest is zeros if there is no such PE. */
void wtl_scan(const wtl_collective *c);

/* Copies the root's source to dest of every PE. */
void wtl_broadcast(const wtl_collective *c);

/* Copies the elements of each PE to dest of all PEs, in the order of the team. */
void wtl_fcollect(const wtl_collective *c);

/* Does the same with a different number of elements from each PE. First call wtl_collect_size, which returns the
 * bytes of all contributions, then wtl_collect with the same description. */
size_t wtl_collect_size(const wtl_collective *c);
void wtl_collect(const wtl_collective *c);

/* Copies block i of source, `n` elements, to block me of dest of PE i. */
void wtl_alltoall(const wtl_collective *c);

/* A barrier of all PEs to which each contributes `n` numbers, up to 64. Each number becomes the largest that any PE
 * contributed. */
void wtl_collective_max(wtl_pe *self, wtl_site *site, uint64_t words[], size_t n);

#endif
