/* algorithms.h - declares the algorithms that collective.c chooses from, and the few lines that they share. */
#ifndef WTL_COLLECTIVE_ALGORITHMS_H
#define WTL_COLLECTIVE_ALGORITHMS_H

#include "collective/collective.h"
#include "pgas/rma.h"
#include "team/barrier.h"
#include "team/team.h"

/* Returns false, on all PEs alike, if the algorithm does not serve the call. The direct algorithms serve every call. */
typedef bool wtl_algorithm(const wtl_collective *c);

wtl_algorithm wtl_reduce_flat, wtl_reduce_staged, wtl_reduce_two_level, wtl_reduce_push, wtl_reduce_direct;
wtl_algorithm wtl_scan_staged, wtl_scan_two_level, wtl_scan_direct;
wtl_algorithm wtl_broadcast_flat, wtl_broadcast_staged, wtl_broadcast_binomial, wtl_broadcast_push,
    wtl_broadcast_direct;
wtl_algorithm wtl_alltoall_staged, wtl_alltoall_two_level, wtl_alltoall_push, wtl_alltoall_direct;

/* The first two are for fcollect only, the others also for collect. For collect the last two require that all PEs have
 * arrived, and the direct one that all pass a source. */
wtl_algorithm wtl_gather_flat, wtl_gather_staged, wtl_gather_two_level, wtl_gather_push, wtl_gather_doubling,
    wtl_gather_direct;

/* gather_two_level.c: gathers a word of each PE, `dest` may be any memory. More words than fit into one message take
 * several. Returns false if no leaders exchange messages. */
wtl_algorithm wtl_gather_words;

/* Bytes of this PE's contribution (alltoall: to each PE). */
static inline size_t wtl_collective_bytes(const wtl_collective *c)
{
  return c->n * c->size;
}

/* An operation of the collective on PE `pe`. `left` counts it until it is complete; NULL: it is complete on return
 * (pgas/rma.h). */
static inline wtl_op wtl_collective_op(const wtl_collective *c, int pe, _Atomic uint32_t *left)
{
  return (wtl_op){.self = c->self, .site = c->site, .pe = pe, .left = left};
}

static inline void wtl_collective_barrier(const wtl_collective *c)
{
  wtl_team_barrier(c->self, c->site, c->team);
}

/* The result of a scan covers the PEs before this number. */
static inline int wtl_scan_end(const wtl_collective *c)
{
  return c->exclusive ? c->team->me : c->team->me + 1;
}

/* Where the bytes of PE `i` begin in the dest of a gather. For the PE after the last one: where all bytes end. */
static inline size_t wtl_collective_block_begin(const wtl_collective *c, int i)
{
  return c->starts ? c->starts[i] : (size_t)i * wtl_collective_bytes(c);
}

/*
 * scratch.c: memory of this PE for collectives of a team. It exists as long as the team, and for an active set until
 * wtl_scratch_back. Its size is wtl_scratch_bytes: at least twice WTL_SCRATCH_BYTES, and enough for a few elements of
 * each PE.
 */
char *wtl_collective_scratch(wtl_team *t);
void wtl_scratch_back(wtl_team *t);
static inline size_t wtl_scratch_bytes(const wtl_team *t)
{
  return 2 * (size_t)WTL_SCRATCH_BYTES + 64 * (size_t)t->n;
}

/*
 * flat_tree.c: returns the number of the team's next small collective. PEs publish in WTL_SMALL_LINES places, in
 * rotation. Begins with a barrier if all places have been used since the last one.
 */
uint32_t wtl_flat_begin(const wtl_collective *c);

/* flat_tree.c: wakes the team's PEs of this node that sleep until this PE publishes. */
void wtl_flat_wake(const wtl_collective *c);

#endif
