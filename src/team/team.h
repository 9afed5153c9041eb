/*
 * team.h - teams: which PEs belong together, and in which memory they meet.
 *
 * DESIGN
 *
 * A team has one of WTL_MOST_TEAMS rooms, the same on all its PEs. Each PE has its own copy of each room in the arena
 * (wtl_room): words for barriers, lines and stages for collectives. The world meets in wtl_control and has room 1 for
 * what that lacks; room 0 is the team of the node's PEs. Both exist from the start. An active set has no room: its PEs
 * meet in the program's pSync (active_set.c).
 *
 * A split (team_split.c) finds a room that all PEs of the new team have free:
 *
 *   each PE of the parent writes its free rooms, what it asks for and its node into its own copy of the parent's room
 *   a barrier of the parent
 *   each PE reads the words of all the others, and takes the lowest room that is free on all members
 *   each PE clears its copy of the new room
 *   a barrier of the parent: from now on the new team may meet
 *
 * Why all members take the same room: they read the same words, which do not change between the two barriers. Why no two
 * teams take one room: on each PE one thread at a time chooses. Where threads split several teams at once, those that may
 * not choose say so in their words, and all PEs of their parent begin anew; the split of the lowest parent goes first, so
 * that one of them always gets through.
 *
 * Why a room may be used again: wtl_team_part is a barrier after which no PE reads another's copy (barrier.h).
 *
 * What may go wrong: PEs that pass different values to a split are named (wtl_team_agree). A handle is room and
 * generation, so that a handle of a destroyed team is noticed. PEs of one team that make different collective calls wait
 * for ever; SHMEM_DEBUG finds them (check/deadlock.h).
 */
#ifndef WTL_TEAM_TEAM_H
#define WTL_TEAM_TEAM_H

#include "team/room.h"

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
  wtl_range members; /* the parent's PEs that find the rooms together: those of the new teams are among them */
  uint64_t words;    /* what was asked for: the same number on all members */
  int n;             /* new teams of this PE, 0 to 2 */
  int rooms[2];      /* wtl_team_agree's result: a room for each, the same on all members */
  int *node_of;      /* likewise: the node of each PE of the parent; the caller's memory */
} wtl_split;

/*
 * Collective over the parent: finds the rooms and the nodes. Returns 0; -1 if the members do not all have as many rooms
 * free; or 1 + a member whose `words` are not this one's (if this PE is a member). wtl_teams_made must follow. Several
 * threads may be in it, each with a parent of its own.
 */
int wtl_team_agree(wtl_pe *self, wtl_site *site, wtl_split *s);

/* Makes the team of the parent's `pes`, this PE among them, in `room`. */
wtl_team *wtl_team_make(wtl_pe *self, const wtl_split *s, const wtl_range *pes, int room);

/* Ends what wtl_team_agree began: from now on the new teams may meet. */
void wtl_teams_made(wtl_pe *self, wtl_site *site, wtl_team *parent);

/* Collective over the team: gives its room back. */
void wtl_team_free(wtl_pe *self, wtl_site *site, wtl_team *t);

/* Keeps the nodes of a team's PEs, as all of them said; who is in the job does not change. */
void wtl_team_keep_places(wtl_team *t, const int *node_of);

/*
 * A barrier at which each PE of the team tells what it is about to do (check/arguments.c): words[WTL_TOLD_SERIAL] is filled in, and
 * the last one, the call, is not compared. Returns -1 where all tell the same. Where they do not, the PE that is to say
 * so gets the job's number of one that tells something else, and `theirs`, what that one tells; the others wait for the
 * job's end. A PE that is elsewhere has an older serial.
 */
enum { WTL_TOLD_SERIAL };
int wtl_team_compare(wtl_pe *self, wtl_site *site, wtl_team *t, uint64_t words[WTL_TOLD_WORDS],
                     uint64_t theirs[WTL_TOLD_WORDS]);

/* The set of one call of the old kind; `sync`: WTL_ACTIVE_WORDS symmetric longs, all 0 between calls. */
enum { WTL_ACTIVE_WORDS = 24 };
void wtl_active_set(wtl_pe *self, wtl_team *t, int start, int stride, int n, long *sync);

#endif
