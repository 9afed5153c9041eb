/* barrier.h - barriers of teams. Each function waits through the wait door (wait/door.h) at the caller's site. */
#ifndef WTL_TEAM_BARRIER_H
#define WTL_TEAM_BARRIER_H

#include "team/team_entry.h"

/* Returns when all PEs have arrived. It orders no other operations: a caller that needs that must call quiet first. */
void wtl_barrier(wtl_pe *self, wtl_site *site);
void wtl_team_barrier(wtl_pe *self, wtl_site *site, wtl_team *t);

/*
 * The team's last barrier. When it returns, no PE reads this PE's entry any more, so the entry may be used for another
 * team. It takes two rounds: the counter of the first lies in the entry of one PE, which may be the first to leave. The
 * second round uses words of each PE's own entry.
 */
void wtl_team_part(wtl_pe *self, wtl_site *site, wtl_team *t);

/*
 * The barrier of a team on several nodes. When all PEs of a node have arrived, their leader calls `lead`, and then all
 * continue. `lead` synchronizes the leaders of the nodes; with NULL the nodes do not synchronize.
 */
typedef void (*wtl_lead_fn)(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *arg);
void wtl_team_barrier_led(wtl_pe *self, wtl_site *site, wtl_team *t, wtl_lead_fn lead, const void *arg);

/* For timelines: begin and end of the span in which the PEs of a team synchronize. 0: no timeline is written, or the
 * team does not have all PEs. */
static inline uint64_t wtl_barrier_span_begins(const wtl_pe *self, const wtl_team *t)
{
  return WTL_UNLIKELY(self->profile.timeline_bytes != 0) && t->n == self->world->n ? wtl_ticks() : 0;
}

static inline void wtl_barrier_span_ends(const wtl_pe *self, const wtl_site *site, uint64_t began)
{
  if (WTL_UNLIKELY(began != 0)) wtl_profile_note(&self->profile, WTL_SPAN_COLLECTIVE, began, wtl_ticks(), site);
}

/* A collective of all PEs of `t` begins and ends, in which they wait for each other; the governor learns from that. It
 * may consist of barriers. The second function takes the result of the first. */
bool wtl_team_enter(wtl_pe *self, const wtl_team *t);
void wtl_team_leave(wtl_pe *self, wtl_site *site, bool entered);

/* The leaders of the nodes send their state with each epoch (govern/sync_group.h): the word for `epoch`, and the wait
 * for a word that a leader sends. */
static inline uint32_t wtl_team_word(const wtl_team *t, uint32_t epoch)
{
  return epoch * WTL_STATES + t->state;
}

void wtl_team_wait_for_leader(wtl_pe *self, wtl_site *site, wtl_team *t, _Atomic uint32_t *word, uint32_t epoch);

/* Waits until a word of control data, which other PEs count up, has reached `epoch`. */
void wtl_wait_word(wtl_pe *self, wtl_site *site, _Atomic uint32_t *word, uint32_t epoch);

/* Waits until other PEs of the team have arrived: until ready(arg), which becomes true by a change of `watch`. */
static inline void wtl_team_wait_for_arrival(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch,
                                             bool (*ready)(void *), void *arg)
{
  if (WTL_UNLIKELY(t->wait_for_arrival != NULL))
    t->wait_for_arrival(self, site, t, watch, ready, arg);
  else
    wtl_door_wait(&self->door, site, watch, ready, arg);
}

/* The barrier of an active set, which uses words of the program (active_set.c). */
void wtl_active_barrier(wtl_pe *self, wtl_site *site, wtl_team *t);

#endif
