/*
 * team.h - teams: which PEs belong together, how teams are made and end.
 *
 * DESIGN
 *
 * A team has one of WTL_MOST_TEAMS team entries, the same on all its PEs. Each PE has its own copy of each entry in
 * the arena (wtl_team_entry): words for barriers, lines and stages for collectives. The world has its words in wtl_control,
 * and entry 1 for the rest. Entry 0 belongs to the team of the node's PEs. Both teams exist from the start. An active
 * set has no entry: its PEs use the program's pSync (active_set.c).
 *
 * A split (team_split.c) finds an entry that all PEs of the new team have free:
 *
 *   each PE of the parent writes its free entries, its request and its node into its own copy of the parent's entry
 *   a barrier of the parent
 *   each PE reads the words of all the others, and takes the lowest entry that is free on all members
 *   each PE clears its copy of the new entry
 *   a barrier of the parent: from now on the new team may be used
 *
 * All members take the same entry: they read the same words, which do not change between the two barriers. No two
 * teams take one entry: on each PE one thread at a time chooses. Threads may split several teams at once. Then a PE
 * that may not choose says so in its words, and all PEs of that parent begin again. The split of the lowest parent
 * goes first, so one of them always succeeds.
 *
 * An entry may be used again after wtl_team_part, a barrier after which no PE reads another's copy (barrier.h).
 *
 * Failures: a PE that passes other values to a split than the others is named (wtl_team_agree). A handle consists of
 * entry and generation, so a handle of a destroyed team is noticed. PEs of one team that make different collective
 * calls wait for ever; SHMEM_DEBUG finds them (check/deadlock.h).
 */
#ifndef WTL_TEAM_TEAM_H
#define WTL_TEAM_TEAM_H

#include "team/team_entry.h"

void wtl_teams_start(wtl_pe *self);
void wtl_teams_stop(wtl_pe *self);

/* The team's number of the job's PE `pe`; -1: it is not in the team. */
int wtl_team_number(const wtl_pe *self, const wtl_team *t, int pe);

/* The team of a handle that wtl_team_make gave; NULL: there is none (any more). */
wtl_team *wtl_team_find(const wtl_pe *self, uintptr_t handle);

/* PEs of a team: start, start + stride, ..., n of them. */
typedef struct wtl_range {
  int start, stride, n;
} wtl_range;

bool wtl_range_has(const wtl_range *r, int pe);

/* A team that is split, as one of its PEs asks for it. */
typedef struct wtl_split {
  wtl_team *parent;
  wtl_range members; /* the parent's PEs that find the entries together: those of the new teams are among them */
  uint64_t words;    /* a number for the request: the same on all members */
  int n;             /* new teams of this PE, 0 to 2 */
  int entries[2];    /* wtl_team_agree's result: an entry for each, the same on all members */
  int *node_of;      /* also its result: the node of each PE of the parent; the caller's memory */
} wtl_split;

/*
 * Collective over the parent: finds the entries and the nodes. Returns 0; -1 if the members do not all have as many entries
 * free; or 1 + a member whose `words` are not this one's (if this PE is a member). wtl_teams_made must follow. Several
 * threads may be in it, each with a parent of its own.
 */
int wtl_team_agree(wtl_pe *self, wtl_site *site, wtl_split *s);

/* Makes the team of the parent's `pes`, this PE among them, in `entry`. */
wtl_team *wtl_team_make(wtl_pe *self, const wtl_split *s, const wtl_range *pes, int entry);

/* Ends what wtl_team_agree began: from now on the new teams may meet. */
void wtl_teams_made(wtl_pe *self, wtl_site *site, wtl_team *parent);

/* Collective over the team: gives its entry back. */
void wtl_team_free(wtl_pe *self, wtl_site *site, wtl_team *t);

/* Keeps the nodes of a team's PEs, as all of them said; who is in the job does not change. */
void wtl_team_keep_places(wtl_team *t, const int *node_of);

/*
 * A barrier at which each PE of the team tells what it is about to do (check/arguments.c): words[WTL_TOLD_SERIAL] is
 * filled in, and the last one, the call, is not compared. Returns -1 where all tell the same. Where they do not, the
 * PE that is to say so gets the job's number of one that tells something else, and `theirs`, what that one tells; the
 * others wait for the job's end. A PE that is elsewhere has an older serial.
 */
enum { WTL_TOLD_SERIAL };
int wtl_team_compare(wtl_pe *self, wtl_site *site, wtl_team *t, uint64_t words[WTL_TOLD_WORDS],
                     uint64_t theirs[WTL_TOLD_WORDS]);

/* The set of one call of the old kind; `sync`: WTL_ACTIVE_WORDS symmetric longs, all 0 between calls. */
enum { WTL_ACTIVE_WORDS = 24 };
void wtl_active_set(wtl_pe *self, wtl_team *t, int start, int stride, int n, long *sync);

#endif
