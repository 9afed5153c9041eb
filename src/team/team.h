/*
 * team.h - teams: ordered subsets of the PEs, how they are made and how they end.
 *
 * DESIGN
 *
 * A team has one of WTL_MOST_TEAMS team entries, the same on all its PEs. Each PE has its own copy of each entry in the
 * arena (wtl_team_entry): words for barriers, lines and stages for collectives. The world has its words in wtl_control,
 * and entry 1 for the rest. Entry 0 belongs to the team of the node's PEs. Both teams exist from the start. An active
 * set has no entry: its PEs use the program's pSync (active_set.c).
 *
 * A split (team_agree.c) finds an entry that all PEs of the new team have free:
 *
 *   each PE of the parent writes its free entries, its request and its node into its own copy of the parent's entry
 *   a barrier of the parent
 *   each PE reads the words of all the others, and takes the lowest entry that is free on all members
 *   each PE clears its copy of the new entry
 *   a barrier of the parent: from now on the new team may be used
 *
 * All members take the same entry: they read the same words, which do not change between the two barriers. No two teams
 * take one entry: on each PE one thread at a time chooses. Threads may split several teams at once. Then a PE that may
 * not choose publishes this in its words, and all PEs of that parent begin again. The split of the lowest parent goes
 * first, so one of them always succeeds.
 *
 * An entry may be used again after wtl_team_part, a barrier after which no PE reads another's copy (barrier.h).
 *
 * Failures: if a PE passes other values to a split than the others, wtl_team_agree returns that PE. A handle consists
 * of entry and generation, so a handle of a destroyed team is noticed. PEs of one team that make different collective
 * calls wait for ever; SHMEM_DEBUG finds them (check/deadlock.h).
 */
#ifndef WTL_TEAM_TEAM_H
#define WTL_TEAM_TEAM_H

#include "team/team_entry.h"

void wtl_teams_start(wtl_pe *self);
void wtl_teams_stop(wtl_pe *self);

/* The number in the team of PE `pe` of the job; -1: the PE is not in the team. */
int wtl_team_number(const wtl_pe *self, const wtl_team *t, int pe);

/* Returns the team of a handle that wtl_team_make returned, or NULL if the handle is not or no longer valid. */
wtl_team *wtl_team_find(const wtl_pe *self, uintptr_t handle);

/* PEs of a team: start, start + stride, ..., `n` of them. */
typedef struct wtl_range {
  int start, stride, n;
} wtl_range;

bool wtl_range_has(const wtl_range *r, int pe);

/* The split of a team, as one of its PEs requests it. */
typedef struct wtl_split {
  wtl_team *parent;
  wtl_range members; /* the PEs of the parent that find the entries together; they include those of the new teams */
  uint64_t words;    /* a number that stands for the request: the same on all members */
  int n;             /* new teams of this PE, 0 to 2 */
  int entries[2];    /* result of wtl_team_agree: an entry for each new team, the same on all members */
  int *node_of;      /* result too: the node of each PE of the parent; the memory is the caller's */
} wtl_split;

/*
 * Finds the entries and the nodes. Collective over the parent. Returns 0 on success. Returns -1 if the members do not
 * have enough common free entries. Returns 1 + the PE of a member whose `words` differ from those of this one, if this
 * PE is a member. wtl_teams_made must follow. Several threads may call it, each with its own parent.
 */
int wtl_team_agree(wtl_pe *self, wtl_site *site, wtl_split *s);

/* Makes the team of the parent's PEs `pes`, which include this PE, in `entry`. */
wtl_team *wtl_team_make(wtl_pe *self, const wtl_split *s, const wtl_range *pes, int entry);

/* Ends a split that wtl_team_agree began. From now on the new teams may synchronize. */
void wtl_teams_made(wtl_pe *self, wtl_site *site, wtl_team *parent);

/* Ends the team and frees its entry. Collective over the team. */
void wtl_team_free(wtl_pe *self, wtl_site *site, wtl_team *t);

/* Keeps a copy of the nodes of the team's PEs. They do not change while the job runs. */
void wtl_team_keep_places(wtl_team *t, const int *node_of);

/*
 * A barrier at which each PE of the team publishes the call that it is about to make (check/arguments.c). It fills in
 * words[WTL_PUBLISHED_SERIAL]. The last word, the call, is not compared. Returns -1 if the words of all PEs are equal.
 * Otherwise one PE receives the number in the job of a PE with different words, and those words in `theirs`. That PE
 * must report the error, while the others wait for the end of the job. A PE that is in another call has an older serial
 * number.
 */
enum { WTL_PUBLISHED_SERIAL };
int wtl_team_compare(wtl_pe *self, wtl_site *site, wtl_team *t, uint64_t words[WTL_PUBLISHED_WORDS],
                     uint64_t theirs[WTL_PUBLISHED_WORDS]);

/* The active set of one call of the routines before OpenSHMEM 1.5. `sync`: WTL_ACTIVE_WORDS symmetric longs, all 0
 * between calls. */
enum { WTL_ACTIVE_WORDS = 24 };
void wtl_active_set(wtl_pe *self, wtl_team *t, int start, int stride, int n, long *sync);

#endif
