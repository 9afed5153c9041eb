/*
 * group.h - any set of PEs in any order, and what its members do together: barrier, broadcast, reduction, gathering.
 * Only the members take part, in making a group too, and there may be as many groups as memory allows. All of a group's
 * PEs make the same calls in the same order.
 *
 * Members find each other by messages (tagged.h). All PEs of the job in their order are the world's team instead, whose
 * ways are shorter (collective.h).
 */
#ifndef WTL_GLOBAL_GROUP_H
#define WTL_GLOBAL_GROUP_H

#include "pgas/pe.h"
#include "collective/collective.h"
#include "team/team_entry.h"

typedef struct wtl_group {
  int n, me; /* me: this PE's number in it; -1: it is no member */
  int *pe;   /* the job's numbers */
  uint64_t context;
  int64_t calls; /* so far: tells one call's messages from the next one's */
  bool is_world;
} wtl_group;

/* NULL: no memory. `pes` is copied. Needs wtl_tagged_start. */
wtl_group *wtl_group_make(wtl_pe *self, const int *pes, int n);
void wtl_group_free(wtl_group *g);

/* The group's number of PE `pe`; -1: it is no member. */
int wtl_group_number(const wtl_group *g, int pe);

/* For members. Any addresses; `root` is the group's number. */
void wtl_group_barrier(wtl_pe *self, wtl_site *site, wtl_group *g);
void wtl_group_broadcast(wtl_pe *self, wtl_site *site, wtl_group *g, void *data, size_t bytes, int root);

/* x = op over members of x, the same bits on all; `n` elements of `size` bytes. */
void wtl_group_reduce(wtl_pe *self, wtl_site *site, wtl_group *g, void *x, size_t n, size_t size,
                      wtl_combine_fn combine);

/*
 * With SHMEM_DEBUG, before another call: do all members tell the same? As wtl_team_compare (team.h), for a group that is
 * not the world; words[WTL_TOLD_SERIAL] is left as it is. One that waits long says for whom, once. (check/group_arguments.c)
 */
int wtl_group_compare(wtl_pe *self, wtl_site *site, wtl_group *g, const uint64_t words[WTL_TOLD_WORDS],
                      uint64_t theirs[WTL_TOLD_WORDS]);

/* `bytes` of each member, in the group's order, to `all`. */
void wtl_group_gather(wtl_pe *self, wtl_site *site, wtl_group *g, const void *mine, void *all, size_t bytes);

#endif
