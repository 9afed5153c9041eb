/*
 * two_level.h - declares the shared parts of the hierarchical collectives: one leader a node, and messages between the
 * leaders.
 *
 * Each PE copies its contribution to its stage. The leader of its node combines those of the node and exchanges the
 * result with the other leaders, for reductions (reduce_two_level.c) and for gathers (gather_two_level.c). Each such
 * collective increments the team's stage_epoch. Two sets of stages and leaders' slots alternate: when a PE enters a
 * collective, all PEs have left the one before the last.
 */
#ifndef WTL_COLLECTIVE_TWO_LEVEL_H
#define WTL_COLLECTIVE_TWO_LEVEL_H

#include "collective/algorithms.h"

static inline bool wtl_two_level_applies(const wtl_collective *c)
{
  return c->team->n_nodes > 1 && c->team->entry >= 0 && c->self->collectives != WTL_COLLECTIVES_DIRECT;
}

/* The stage of a PE of this node for this epoch: WTL_STAGE_BYTES. For the simulation, each look at it is one access to
 * a cache line of that PE. */
static inline char *wtl_stage_of(const wtl_collective *c, int pe)
{
  const wtl_team *t = c->team;
  wtl_os_near_access(WTL_CACHE_LINE);
  return wtl_entry_of(c->self, pe, t->entry)->stage[t->stage_epoch & 1];
}

/* The bytes that a leader, PE `pe` of this node, received in `slot` in this epoch. */
static inline const char *wtl_leader_received(const wtl_collective *c, int pe, int slot)
{
  const wtl_team *t = c->team;
  return wtl_entry_of(c->self, pe, t->entry)->far_bytes[t->stage_epoch & 1][slot];
}

/* Sends `bytes` (1 to WTL_FAR_BYTES) from this leader to that of the team's `node`, into `slot` (below
 * WTL_FAR_SLOTS). */
void wtl_leader_send(const wtl_collective *c, int node, int slot, const void *data, size_t bytes);

/* Stores `bytes` from this leader to `dest` of that of the team's `node`, as messages that arrive before the next
 * notification. `left` counts while the source is still needed. */
void wtl_leader_push(const wtl_collective *c, int node, char *dest, const char *source, size_t bytes,
                     _Atomic uint32_t *left);

/* Sends a message without bytes into `slot` of the leader of the team's `node`. */
void wtl_leader_notify(const wtl_collective *c, int node, int slot);

/* Waits until a message has arrived in `slot` of this leader, and returns its bytes. */
const char *wtl_leader_receive(const wtl_collective *c, int slot);

/* Combines `mine`, c's `n` elements, of all leaders. All leaders receive the same bits in `mine`. */
void wtl_leaders_exchange(const wtl_collective *c, char *mine);

/* Reduces up to WTL_FAR_BYTES, with any setting. source and dest may be any memory. Returns false if there are no bytes
 * or too many. */
bool wtl_reduce_few_two_level(const wtl_collective *c);

#endif
