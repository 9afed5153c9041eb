/*
 * barrier.h - how the PEs of a team meet. Each function waits through the door (wait/door.h) at the caller's site.
 */
#ifndef WTL_TEAM_BARRIER_H
#define WTL_TEAM_BARRIER_H

#include "team/team_entry.h"

/* All PEs arrive before any leaves. Orders nothing else: callers that must, quiet first. */
void wtl_barrier(wtl_pe *self, wtl_site *site);
void wtl_team_barrier(wtl_pe *self, wtl_site *site, wtl_team *t);

/*
 * The team's last barrier: when it returns, no PE looks at this one's entry any more, which it may use for another team.
 * (The counter of a barrier is in one PE's entry, and that PE may be the first to leave: the second round is in words of
 * each PE's own.)
 */
void wtl_team_part(wtl_pe *self, wtl_site *site, wtl_team *t);

/*
 * The barrier of a team on several nodes: when all PEs of a node have arrived, its leader does `lead`, and then all of
 * them go on. It is for `lead` to meet the other nodes' leaders; NULL: the nodes do not meet.
 */
typedef void (*wtl_lead_fn)(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *arg);
void wtl_team_barrier_led(wtl_pe *self, wtl_site *site, wtl_team *t, wtl_lead_fn lead, const void *arg);

/* For timelines: the PEs of a team begin to meet, and have met; 0: nobody wants to know, or it is not all PEs. */
static inline uint64_t wtl_barrier_span_begins(const wtl_pe *self, const wtl_team *t)
{
  return WTL_UNLIKELY(self->profile.timeline_bytes != 0) && t->n == self->world->n ? wtl_ticks() : 0;
}

static inline void wtl_barrier_span_ends(const wtl_pe *self, const wtl_site *site, uint64_t came)
{
  if (WTL_UNLIKELY(came != 0))
    wtl_profile_note(&self->profile, WTL_SPAN_MEETING, came, wtl_ticks(), site->addr, site->call);
}

/* Waits until a word of control data, which others count up, has reached `epoch`. */
void wtl_wait_word(wtl_pe *self, wtl_site *site, _Atomic uint32_t *word, uint32_t epoch);

/* Waits until others of the team have arrived: ready(arg), which becomes true by a change of `watch`. */
static inline void wtl_team_wait_for_arrival(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch,
                                             bool (*ready)(void *), void *arg)
{
  if (WTL_UNLIKELY(t->wait_for_arrival != NULL))
    t->wait_for_arrival(self, site, t, watch, ready, arg);
  else
    wtl_door_wait(&self->door, site, watch, ready, arg);
}

/* Of an active set, which meets in words of the program's (active_set.c). */
void wtl_active_barrier(wtl_pe *self, wtl_site *site, wtl_team *t);

#endif
