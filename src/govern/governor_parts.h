/*
 * governor_parts.h - declares the parts of the governor to each other: governor.c decides at control points, budget.c
 * counts what clocks have cost, region_clock.c chooses the clock of a region, and lessons.c learns from its end.
 */
#ifndef WTL_GOVERN_GOVERNOR_PARTS_H
#define WTL_GOVERN_GOVERNOR_PARTS_H

#include "govern/governor.h"

/* Four random values span two standard deviations: twice their spread is a reserve. */
enum { WTL_SPANS = 2 };

static inline bool wtl_governor_lowers(const wtl_governor *g)
{
  return g->mode == WTL_GOVERN_ENERGY || g->mode == WTL_GOVERN_HYBRID;
}

static inline bool wtl_governor_raises(const wtl_governor *g)
{
  return g->mode == WTL_GOVERN_PERFORMANCE || g->mode == WTL_GOVERN_HYBRID;
}

/* Two changes, down and up. */
static inline uint64_t wtl_governor_two_changes(const wtl_governor *g)
{
  return 2 * g->price;
}

static inline wtl_ballot *wtl_governor_ballot(const wtl_governor *g, int slot)
{
  return &g->vote.votes->ballot[slot];
}

/* Too short for any change of clock. A loop of barriers must not be slowed down by learning. */
static inline bool wtl_governor_is_brief(const wtl_governor *g, uint64_t ticks)
{
  return ticks < wtl_governor_two_changes(g);
}

/* ---- budget.c ---- */

/* Ticks that may still be lost. */
double wtl_budget_left(const wtl_governor *g, uint64_t now);

/* Charges a loss of this PE alone, or one that its own clock has caused for all. */
void wtl_budget_charge(wtl_governor *g, double ticks, uint64_t now);
void wtl_budget_cause(wtl_governor *g, double ticks, uint64_t now);

/* Without a region the effect of a change is unknown and counts as its price. True if so much has been earned. */
bool wtl_budget_can_pay(const wtl_governor *g, uint64_t now);

/* The greatest wait class of the group's PEs on this node without that of local rank `but` (-1: of all). */
unsigned wtl_governor_most_waits(const wtl_governor *g, int but);

/* ---- power_watch.c: only with a budget of watts ---- */

void wtl_governor_watch_start(wtl_governor *g, uint64_t now);

/* This PE arrives at a synchronization of all PEs. */
void wtl_governor_watch_arrive(wtl_governor *g, uint64_t now);

/* It leaves one, at the call `key`: the vote from now on, and whether that changed a clock. */
uint32_t wtl_governor_watch_level(wtl_governor *g, uint64_t key);
void wtl_governor_watch_begin(wtl_governor *g, bool changed);

/* ---- region_clock.c ---- */

/* True if this PE hardly waits and others of its group wait for it. */
bool wtl_governor_is_late(const wtl_governor *g, const wtl_region *r);

/* The clock at which an instance of `r` begins. */
uint32_t wtl_governor_level(wtl_governor *g, wtl_region *r, uint64_t now);

/* ---- lessons.c ---- */

/* The present instance has ended, after waits of `slack` ticks in it. */
void wtl_governor_end_region(wtl_governor *g, uint64_t slack, uint64_t now);

/* True for hardly any computing in a region. */
bool wtl_governor_is_empty(const wtl_region *r, uint64_t computed);

/* The last instance of `r`, which a wait has ended, lasts longer by a further wait. */
void wtl_governor_extend(wtl_region *r, uint64_t ticks);

#endif
