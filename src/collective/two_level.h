/*
 * two_level.h - what the hierarchical collectives share: one leader a node, and messages between the leaders.
 *
 * Each PE puts its contribution into its stage. Its node's leader combines those of the node and exchanges the result
 * with the other leaders, for reductions (two_level_reduce.c) as for gathers (two_level_gather.c). Each such
 * collective counts up the team's stage_epoch. Two sets of stages and leaders' slots alternate: when a PE enters a
 * collective, all PEs have left the one before the last.
 */
#ifndef WTL_COLLECTIVE_TWO_LEVEL_H
#define WTL_COLLECTIVE_TWO_LEVEL_H

#include "collective/algorithms.h"

static inline bool wtl_two_level_applies(const wtl_collective *c)
{
  return c->team->n_nodes > 1 && c->team->entry >= 0 && c->self->collectives != WTL_COLLECTIVES_DIRECT;
}

/* WTL_STAGE_BYTES of a PE of this node, in this turn. */
static inline char *wtl_stage_of(const wtl_collective *c, int pe)
{
  const wtl_team *t = c->team;
  return wtl_entry_of(c->self, pe, t->entry)->stage[t->stage_epoch & 1];
}

/* The bytes that a leader, PE `pe` of this node, received in `slot` in this turn. */
static inline const char *wtl_leader_received(const wtl_collective *c, int pe, int slot)
{
  const wtl_team *t = c->team;
  return wtl_entry_of(c->self, pe, t->entry)->far_bytes[t->stage_epoch & 1][slot];
}

/* From leader to leader: `bytes` (1 to WTL_FAR_BYTES) into `slot` (below WTL_FAR_SLOTS) of the team's `node`. */
void wtl_leader_send(const wtl_collective *c, int node, int slot, const void *data, size_t bytes);

/* Waits until something has come in `slot` of this leader, and returns it. */
const char *wtl_leader_receive(const wtl_collective *c, int slot);

/* All leaders bring `mine`, c's `n` elements, and leave with all of them combined, the same for each to the bit. */
void wtl_leaders_exchange(const wtl_collective *c, char *mine);

/* A reduction with any setting; source and dest may be any memory. False: it has no bytes, or more than
 * WTL_FAR_BYTES. */
bool wtl_reduce_few_two_level(const wtl_collective *c);

#endif
