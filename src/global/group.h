/*
 * group.h - groups: any set of PEs in any order, with barrier, broadcast, reduction and gather.
 *
 * Only the members take part, also in making a group. Memory alone limits the number of groups. All members make the
 * same calls in the same order. They synchronize by tagged messages (tagged.h). A group of all PEs of the job in their
 * order uses the faster collectives of the world instead (collective.h).
 */
#ifndef WTL_GLOBAL_GROUP_H
#define WTL_GLOBAL_GROUP_H

#include "pgas/pe.h"
#include "collective/collective.h"
#include "team/team_entry.h"

typedef struct wtl_group {
  int n, me; /* me: this PE's number in the group; -1: it is not a member */
  int *pe;   /* numbers in the job */
  uint64_t context;
  int64_t calls; /* calls so far: the tag that separates the messages of one call from those of the next */
  bool is_world;
} wtl_group;

/* `pes` is copied. Requires wtl_tagged_start. NULL: no memory. */
wtl_group *wtl_group_make(wtl_pe *self, const int *pes, int n);
void wtl_group_free(wtl_group *g);

/* The number in the group of PE `pe`; -1: it is not a member. */
int wtl_group_number(const wtl_group *g, int pe);

/* The collectives are for members. Any memory may be passed. `root` is a number in the group. */
void wtl_group_barrier(wtl_pe *self, wtl_site *site, wtl_group *g);
void wtl_group_broadcast(wtl_pe *self, wtl_site *site, wtl_group *g, void *data, size_t bytes, int root);

/* x = op over the members' x, with the same bits on all; `n` elements of `size` bytes. */
void wtl_group_reduce(wtl_pe *self, wtl_site *site, wtl_group *g, void *x, size_t n, size_t size,
                      wtl_combine_fn combine);

/*
 * With SHMEM_DEBUG, before another call: compares the words of all members (check/group_arguments.c). It is like
 * wtl_team_compare (team.h), for groups other than the world. It leaves words[WTL_PUBLISHED_SERIAL] unchanged. A
 * member that waits long reports once the PE for which it waits.
 */
int wtl_group_compare(wtl_pe *self, wtl_site *site, wtl_group *g, const uint64_t words[WTL_PUBLISHED_WORDS],
                      uint64_t theirs[WTL_PUBLISHED_WORDS]);

/* Gathers `bytes` of each member to `all`, in the order of the group. */
void wtl_group_gather(wtl_pe *self, wtl_site *site, wtl_group *g, const void *mine, void *all, size_t bytes);

#endif
