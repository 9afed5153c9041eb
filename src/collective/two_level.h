/*
 * two_level.h - few bytes of a collective, node by node: each PE brings its part in its stage, its node's leader puts
 * them together and meets the other leaders (two_level_reduce.c), for reductions as for gathers
 * (two_level_gather.c). A broadcast is told on from leader to leader instead (broadcast_binomial.c).
 *
 * A collective of this kind counts up the team's stage_epoch; stages and the leaders' slots are used by turns, as who
 * enters one has seen all leave the one before the last.
 */
#ifndef WTL_COLLECTIVE_TWO_LEVEL_H
#define WTL_COLLECTIVE_TWO_LEVEL_H

#include "collective/algorithms.h"
#include "team/team.h"

static inline bool wtl_is_two_level(const wtl_pe *self, const wtl_team *t)
{
  return t->n_nodes > 1 && t->room >= 0 && self->collectives != WTL_COLLECTIVES_DIRECT;
}

/* WTL_STAGE_BYTES of a PE of this node, in this turn. */
static inline char *wtl_stage_of(const wtl_pe *self, const wtl_team *t, int pe)
{
  return wtl_room_of(self, pe, t->room)->stage[t->stage_epoch & 1];
}

/* What was told to a leader, PE `pe` of this node, in `slot`, this turn. */
static inline const char *wtl_leader_received(const wtl_pe *self, const wtl_team *t, int pe, int slot)
{
  return wtl_room_of(self, pe, t->room)->far_bytes[t->stage_epoch & 1][slot];
}

/* From leader to leader: `bytes` (1 to WTL_FAR_BYTES) into `slot` (below WTL_FAR_SLOTS) of the team's `node`; and what
 * was told to this one, waited for. */
void wtl_leader_send(wtl_pe *self, wtl_team *t, int node, int slot, const void *what, size_t bytes);
const char *wtl_leader_receive(wtl_pe *self, wtl_site *site, wtl_team *t, int slot);

/*
 * direct_push.c: between nodes of one PE each, `n` bytes for `at` of dest, where no PE has more than `most`; a block for
 * each PE; and the rest as in collective.h. False: they are not for this call, on all PEs.
 */
bool wtl_gather_push(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const void *source, size_t at, size_t n,
                       size_t most);
bool wtl_alltoall_push(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const char *source, size_t block);
bool wtl_broadcast_push(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root);
bool wtl_reduce_push(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const char *source, size_t n, size_t size,
                       wtl_combine_fn combine);

/* What the leaders put together: `n` elements, `bytes` in all. */
typedef struct wtl_parts {
  size_t n, bytes;
  wtl_combine_fn combine;
} wtl_parts;

/* All leaders bring `mine` and leave with all of them put together, the same for each to the bit. */
void wtl_leaders_exchange(wtl_pe *self, wtl_site *site, wtl_team *t, const wtl_parts *p, char *mine);

/* A reduction, whatever the setting says; source and dest may be any memory. False: it has no bytes, or more than
 * WTL_FAR_BYTES. */
bool wtl_reduce_few_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                            size_t size, wtl_combine_fn combine);

#endif
