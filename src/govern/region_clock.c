/* region_clock.c - chooses the clock at which an instance of a region computes. */
#include <math.h>

#include "govern/governor_parts.h"

/* First steps are taken in one of so many instances, the same on all PEs. So each of them sees the effect of all. */
enum { STEPS_EACH = 16 };
/* A SPARE-th part of a region stays unused at most when its computing is stretched, because instances differ. If the
 * last four differ by less, WTL_SPANS times their difference is enough. */
enum { SPARE = 16 };
/* Memory-bound regions may cost this part of the user's share of time, and less once most of the budget is used up: at
 * most `cautious` times the unused part of it. So the budget is never exceeded, which would end all changes for
 * long. */
static const double spent_at_most = 15.0 / 16, cautious = 8;
/* A trial runs at least this much below the normal clock, so that its effect is larger than chance, and costs at most
 * this part of the remaining budget. */
static const double least_trial = 1.0 / 16, trial_costs = 0.5;
/* Below this share of computing that follows the clock, memory sets the pace. */
static const double memory_bound = 0.5;

/* True if this PE hardly waits and others wait for it, on this node or on another one (far_waits): it waits at most for
 * one change of clock, or, where others wait for much of the region, at most for a small part of it. A put that waits
 * until another node's agent is awake does not make a PE early. */
bool wtl_governor_is_late(const wtl_governor *g, const wtl_region *r)
{
  uint64_t slack = wtl_slack_most(&r->slack);
  unsigned others = wtl_governor_most_waits(g, g->vote.slot),
           far = g->group.far ? atomic_load(g->group.far) : WTL_WAITS_NOT;
  if (far > others) others = far;
  if (slack <= g->price) return others >= WTL_WAITS_LONG;
  return slack <= wtl_slack_least(&r->whole) / SPARE && others == WTL_WAITS_MUCH;
}

/* The ticks that stay unused, so that an instance longer than the last ones also ends in time. */
static uint64_t spare_of(const wtl_governor *g, const wtl_region *r)
{
  uint64_t whole = wtl_slack_least(&r->whole), most = whole / SPARE;
  uint64_t spans = wtl_slack_most(&r->whole) - whole + wtl_slack_most(&r->compute) - wtl_slack_least(&r->compute);
  uint64_t spare = WTL_SPANS * spans < most ? WTL_SPANS * spans : most;
  return spare > g->price ? spare : g->price;
}

/* The computed share differs a little in each instance, and so would the clock where the driver takes any. So the last
 * clock stays while it suffices and is close to the lowest that does. A clock slightly too low is replaced by one with
 * a margin. In millionths of the normal clock. */
static uint32_t steady(uint32_t last, uint32_t share)
{
  enum { ABOUT = WTL_CLOCK_NORMAL / 32 };
  if (last >= share && last - share <= ABOUT) return last;
  return last < share && share - last <= ABOUT ? share + ABOUT / 2 : share;
}

/* In millionths, and not above the normal clock. */
static uint32_t share_of(double clock)
{
  return clock < 1 ? (uint32_t)ceil(1e6 * clock) : WTL_CLOCK_NORMAL;
}

/* The lowest clock at which an instance that computes for `longest` would not lose more than is left to lose. */
static double prudent(const wtl_governor *g, const wtl_region *r, double longest, uint64_t now)
{
  double left = fmax(wtl_budget_left(g, now), 0), more = fmax(longest - (double)wtl_slack_most(&r->compute), 0);
  return more > 0 ? more / (more + left) : 0;
}

/* By how many ticks the computing before a wait for single PEs may become longer. If all computing of an instance were
 * one after the other, and all PEs took this step, its instances would use up half of the budget. A step below chance
 * would show nothing. */
static double step_of(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  if (r->rest) return 0;
  if (r->step > 0) return r->step;
  if (r->instances % STEPS_EACH != STEPS_EACH / 2) return 0;
  double whole = (double)wtl_slack_most(&r->whole), chance = (whole - (double)wtl_slack_least(&r->whole)) / 2;
  double step = wtl_budget_left(g, now) / (2 * WTL_STEP_OF * whole) * (double)wtl_slack_most(&r->compute);
  return step > chance ? step : 0;
}

/* The lowest clock at which the longest computing fits into the shortest region, and at which an instance as long as
 * the longest of a while can be paid. An instance of a region that is not regular may become as long as the longest of
 * any region. If that cannot be paid, only waits are lowered. Computing that is not known to be bound by memory is
 * taken to follow the clock. A change stops the core, so its price is not time for computing. */
static uint32_t stretched(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  uint64_t compute = wtl_slack_most(&r->compute), whole = wtl_slack_least(&r->whole), spare = spare_of(g, r);
  if (whole <= compute + wtl_governor_two_changes(g) + spare) return WTL_CLOCK_NORMAL;
  double ends = (double)(whole - spare - g->price);
  if (r->is_single) ends = fmin(ends, (double)compute + step_of(g, r, now));
  double longest = ends / (double)compute, follows = wtl_intensity_follows(&r->intensity);
  double trusted = follows < 1 ? wtl_intensity_trusted(&r->intensity) : 0;
  double clock = fmax(fmax(wtl_intensity_clock(follows, longest), trusted), prudent(g, r, r->longest, now));
  bool can_be_paid = wtl_extent_is_regular(&r->extent) || prudent(g, r, g->longest, now) <= clock;
  return can_be_paid ? share_of(clock) : WTL_CLOCK_NORMAL;
}

/* Two changes of clock, unless the region follows itself and keeps its clock. */
static double changes_of(const wtl_governor *g, const wtl_region *r)
{
  return r->repeats ? 0 : (double)wtl_governor_two_changes(g);
}

static bool is_memory_bound(const wtl_region *r)
{
  return wtl_intensity_follows(&r->intensity) <= memory_bound;
}

/* The longest time of a region without slack, relative to that at the normal clock, if it must also pay for its changes
 * of clock. At most 1: it cannot be lowered. */
static double longest_of(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  double budget = g->allowed * (double)(now - g->started), unused = budget > 0 ? wtl_budget_left(g, now) / budget : 0;
  double part = fmin(spent_at_most, cautious * unused);
  return 1 + part * g->allowed - changes_of(g, r) / (double)wtl_slack_most(&r->compute);
}

/* The clock of least energy that costs a region without slack no more than its part of the user's share of time. Where
 * the watts are not known, only regions bound by memory are certain to gain. */
static uint32_t spent(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  double follows = wtl_intensity_follows(&r->intensity), longest = longest_of(g, r, now);
  if (longest <= 1 || follows >= 1 || (!g->watts.n && !is_memory_bound(r))) return WTL_CLOCK_NORMAL;
  double least = fmax(wtl_intensity_clock(follows, longest), wtl_intensity_trusted(&r->intensity));
  return wtl_clocks_watts_best(&g->watts, follows, share_of(least));
}

/* The clock of a trial; the normal one if none is wanted, or none can be paid yet. */
static uint32_t trial(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  if (!wtl_intensity_wants_trial(&r->intensity) || longest_of(g, r, now) <= 1) return WTL_CLOCK_NORMAL;
  double compute = (double)wtl_slack_most(&r->compute), left = wtl_budget_left(g, now);
  double room = trial_costs * left - changes_of(g, r);
  uint32_t share = room > 0 ? share_of(compute / (compute + room)) : WTL_CLOCK_NORMAL;
  return wtl_vote_rounded(&g->vote, share) <= share_of(1 - least_trial) ? share : WTL_CLOCK_NORMAL;
}

/* The clock at which a region computes if it is lowered. */
static uint32_t lowered(wtl_governor *g, wtl_region *r, uint64_t now)
{
  if (wtl_slack_most(&r->compute) == UINT64_MAX) return WTL_CLOCK_NORMAL;
  uint32_t in_time = stretched(g, r, now), share = in_time;
  if (g->count && in_time == WTL_CLOCK_NORMAL) {
    share = trial(g, r, now);
    g->tries = share < in_time;
  }
  if (g->count && !g->tries) {
    uint32_t costs = spent(g, r, now);
    g->spends = wtl_vote_rounded(&g->vote, costs) < wtl_vote_rounded(&g->vote, in_time);
    if (g->spends) share = costs;
  }
  if (wtl_vote_rounded(&g->vote, share) >= WTL_CLOCK_NORMAL) return WTL_CLOCK_NORMAL;
  if (r->is_single) r->step = step_of(g, r, now);
  bool is_exact = r->is_single || (g->spends && g->watts.n); /* a step, or a clock of the driver */
  r->level = is_exact ? share : steady(r->level, share);
  return wtl_vote_rounded(&g->vote, r->level) < WTL_CLOCK_NORMAL ? r->level : WTL_CLOCK_NORMAL;
}

uint32_t wtl_governor_level(wtl_governor *g, wtl_region *r, uint64_t now)
{
  if (!g->acts || g->scaling != WTL_SCALING_PROACTIVE) return WTL_CLOCK_NORMAL;
  if (wtl_governor_raises(g) && !r->is_single && wtl_governor_is_late(g, r) && !is_memory_bound(r))
    return WTL_CLOCK_HIGHEST;
  return wtl_governor_lowers(g) ? lowered(g, r, now) : WTL_CLOCK_NORMAL;
}
