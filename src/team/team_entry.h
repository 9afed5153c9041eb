/*
 * team_entry.h - the state of a team on one PE, and its team entry: the memory in the arena through which the PEs of
 * the team synchronize (team.h).
 */
#ifndef WTL_TEAM_TEAM_ENTRY_H
#define WTL_TEAM_TEAM_ENTRY_H

#include "govern/sync_group.h"
#include "pgas/pe.h"

/* A team entry. Each PE of the team has its own copy in the arena, beside the control data (team.h). */
enum { WTL_MOST_TEAMS = 64, WTL_STAGE_BYTES = 2048, WTL_FAR_BYTES = 512, WTL_FAR_SLOTS = WTL_BARRIER_ROUNDS + 2 };
enum { WTL_PUBLISHED_WORDS = 9 };
typedef struct wtl_team_entry {
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t round[WTL_BARRIER_ROUNDS];      /* as wtl_control.barrier */
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t node_round[WTL_BARRIER_ROUNDS]; /* as wtl_control.node_barrier */
  /* The counters of the central barrier, used in the copy of the team's first PE of the node. */
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t arrived;
  _Alignas(WTL_CACHE_LINE) _Atomic uint32_t epoch;
  _Atomic uint32_t far_waits; /* as wtl_votes.far_waits, in the copy of the team's first PE of the node */
  wtl_line small[WTL_SMALL_LINES];
  _Alignas(WTL_CACHE_LINE) uint64_t exchange[4]; /* words published during a split; byte counts of collect */
  /* The call and its arguments (check/arguments.c). Other PEs may read the first word at any time. */
  uint64_t published[WTL_PUBLISHED_WORDS];
  _Atomic uint32_t far_epochs[2][WTL_FAR_SLOTS]; /* of a leader: epochs of the messages in far_bytes */
  _Atomic uint32_t
      forwarded_epochs[WTL_SMALL_LINES]; /* epochs of the broadcasts in `forwarded` (broadcast_binomial.c) */
  _Alignas(WTL_CACHE_LINE) char stage[2][WTL_STAGE_BYTES]; /* sources of collectives, used alternately (staged.c) */
  /* Messages that a leader received from the others (reduce_two_level.c). */
  _Alignas(WTL_CACHE_LINE) char far_bytes[2][WTL_FAR_SLOTS][WTL_FAR_BYTES];
  char forwarded[WTL_SMALL_LINES][WTL_FAR_BYTES];
} wtl_team_entry;

enum { WTL_ENTRY_OF_NODE, WTL_ENTRY_OF_WORLD, WTL_FIRST_FREE_ENTRY };

/* Team entry number `entry` of a PE of this node. */
static inline wtl_team_entry *wtl_entry_of(const wtl_pe *self, int pe, int entry)
{
  size_t index = (size_t)entry * (size_t)self->n_local + (size_t)self->slot_of[pe];
  return (wtl_team_entry *)(void *)self->entries + index;
}

/* The entries of a PE are one segment for PEs of other nodes. Returns the offset of entry number `entry` in it. */
static inline size_t wtl_entry_offset(int entry)
{
  return (size_t)entry * sizeof(wtl_team_entry);
}

/* Returns the address of `n` bytes at `offset` of that segment, of a PE of this node. NULL: they do not lie in one
 * entry. */
static inline char *wtl_entry_at(const wtl_pe *self, int pe, uint64_t offset, uint64_t n)
{
  uint64_t entry = offset / sizeof(wtl_team_entry), at = offset % sizeof(wtl_team_entry);
  if (entry >= WTL_MOST_TEAMS || n > sizeof(wtl_team_entry) - at) return NULL;
  return (char *)wtl_entry_of(self, pe, (int)entry) + at;
}

/* A function that waits for other PEs of `t` until ready(arg), which becomes true by a change of `watch`. */
typedef void (*wtl_arrival_fn)(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch, bool (*ready)(void *),
                               void *arg);

/*
 * A team, or the active set of one call. The words of the world (wtl_pe.world) lie in wtl_control and wtl_shared. Its
 * `n` PEs are start, start + stride, ... These are numbers in the job, or local ranks if `of_node` is set.
 */
struct wtl_team {
  int me, n;
  int start, stride;
  bool of_node;
  int n_contexts; /* as requested */
  /* The PEs of this node in the order of the team, and the leader of each node. */
  int n_local, local_me, n_nodes, node;
  const int *local, *leader;
  int entry; /* -1: none (an active set) */
  char *rounds, *lines;
  size_t rounds_stride, lines_stride; /* bytes from one local rank to the next */
  _Atomic uint32_t *arrived, *released;
  uint32_t epoch, stage_epoch;
  wtl_sync_group group; /* for the governor (govern/sync_group.h) ... */
  uint32_t state; /* ... and of a leader: the merged state of the nodes that it knows, in a barrier or a collective */
  /* Small collectives (flat_tree.c, broadcast_binomial.c): the number begun so far, and how many of them all PEs
   * have read. */
  uint32_t small_epoch, small_read;
  char *scratch; /* twice WTL_SCRATCH_BYTES, for collectives; NULL: not allocated yet */
  long *sync;    /* of an active set: WTL_ACTIVE_WORDS symmetric words (active_set.c) */
  int *owned;    /* memory of `local` and `leader`, where the team owns it */
  int *node_of;  /* the node of each PE, numbered as in `leader`; NULL: not known yet */
  /* Do the PEs of each node follow each other in the team (gather_doubling.c)? */
  enum { WTL_ORDER_UNKNOWN, WTL_ORDER_BY_NODE, WTL_ORDER_MIXED } order;
  uintptr_t handle; /* 0: the team does not exist */
  uint32_t generation;
  uint64_t comparisons;            /* comparisons so far (check/arguments.c) */
  uint32_t call;                   /* the call that is being compared */
  wtl_arrival_fn wait_for_arrival; /* NULL: wait through the door only (check/deadlock.h sets another function) */
};

/* The number in the job of the team's PE `i`, 0 <= i < n. */
static inline int wtl_team_pe(const wtl_pe *self, const wtl_team *t, int i)
{
  int at = t->start + i * t->stride;
  return WTL_UNLIKELY(t->of_node) ? self->boot.local_pe[at] : at;
}

#endif
