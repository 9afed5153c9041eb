/* lessons.c - learns from the end of an instance: lengths, slack, and what the clock has cost. */
#include <math.h>

#include "govern/governor_parts.h"

/* Waits that polled for more than this part of the computing spoil its counts. */
enum { POLLED_PART = 16 };
/* So many instances with a changed clock show their usual length, if the clock changed in one of four at least. Where
 * PEs raise their clocks, those in which another PE runs controls are longer, so more than these are needed. */
enum { FEW = 3, FEW_RAISED = 2 * WTL_LEARN, PART = 4 };
/* So many instances with and without a change show how long it stops the core. */
enum { LEAST_STALLS = 2 };
/* Rounds of WTL_CONTROL instances after which a price that was learned from stalls shrinks, at most. */
enum { PRICE_STAYS_MOST = 16 };
/* A PE that keeps others waiting at a lower clock twice in so many instances has its clock chosen anew. */
enum { LATE_TWICE_IN = 8 };
/* Instances that became longer by more than this part of their stretched computing have kept others waiting. */
enum { STEP_PART = 2 };
/* An instance with less than this part of the usual computing is empty. */
enum { EMPTY_PART = 16 };
/* Instances for which a region is left alone after a loss, at first and at most. */
enum { STAY_FIRST = 16, STAY_MOST = 1024 };

/* Values to which an instance is added. */
enum { OF_SLACK = 1, OF_WHOLE = 2, OF_NORMAL = 4, OF_CHANGED = 8, OF_STEPPED = 16 };

/* The number of values that are kept. */
static uint32_t known(const wtl_usual *u)
{
  return u->n < WTL_USUAL_OF ? u->n : WTL_USUAL_OF;
}

/* True if the instances that may change the clock show their usual length. */
static bool is_known(const wtl_governor *g, const wtl_region *r)
{
  return r->changed.n >= (wtl_governor_raises(g) ? FEW_RAISED : FEW);
}

/* By how many ticks an instance with a changed clock is usually longer, beyond what chance explains. 0 while too few
 * are known, or too few had their clock changed to move the usual length. */
static double excess(const wtl_governor *g, const wtl_region *r)
{
  uint32_t n = known(&r->changed);
  bool shows = is_known(g, r) && (uint32_t)__builtin_popcount(r->acts & ((1u << n) - 1)) * PART >= n;
  return shows ? wtl_usual_excess(&r->changed, &r->normal) : 0;
}

/* Drops all comparisons, which belong to another phase. */
static void compare_anew(wtl_region *r)
{
  r->normal = r->changed = r->plain = r->after = (wtl_usual){0};
  r->acts = r->late = 0;
}

static uint32_t longer_stay(uint32_t last)
{
  return last ? (last < STAY_MOST ? 2 * last : STAY_MOST) : STAY_FIRST;
}

static void stay_away(wtl_region *r)
{
  r->stay_away = r->last_stay = longer_stay(r->last_stay);
  compare_anew(r);
}

static void lose(wtl_governor *g, wtl_region *r, double ticks, uint64_t now)
{
  r->lost_ticks += (uint64_t)ticks;
  wtl_budget_charge(g, ticks, now);
}

/* A loss by this PE's own clock. Before waits for single PEs each PE that is delayed sees that itself. */
static void lose_own(wtl_governor *g, wtl_region *r, double ticks, uint64_t now)
{
  if (r->is_single) {
    lose(g, r, ticks, now);
    return;
  }
  r->lost_ticks += (uint64_t)ticks;
  wtl_budget_cause(g, ticks, now);
}

/* Computing before a wait for single PEs was longer by the part `more` of itself. A step of another PE makes one
 * instance longer, until this PE follows. Its own step makes all of them longer if others wait for it. So the usual
 * length of a few instances shows that, and their loss counts. Otherwise the next step is twice as long. */
static double take_step(wtl_region *r, double whole, double computed, double more, double normal)
{
  wtl_usual_add(&r->stepped, whole);
  r->learned |= OF_STEPPED;
  if (r->stepped.n < WTL_STEP_OF) return 0;
  r->learned &= ~(unsigned)OF_STEPPED;
  double longer = wtl_usual_mean(&r->stepped) - normal;
  bool is_free = longer <= more * computed / STEP_PART;
  r->stepped = (wtl_usual){0};
  r->step = is_free ? 2 * r->step : 0;
  if (!is_free) r->rest = r->last_rest = longer_stay(r->last_rest);
  return is_free ? 0 : WTL_STEP_OF * longer;
}

/* The part of this instance's time by which this PE's clock can have kept others waiting, at most. */
static double kept_waiting(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack, double normal)
{
  double stalled = g->began_by_change && g->price > slack ? (double)(g->price - slack) : 0;
  double clock = 1e-6 * g->level, computed = clock * (double)(whole - slack);
  double slowed = (double)(whole - slack) - computed + (double)g->price;
  bool lowers = g->level < WTL_CLOCK_NORMAL && !g->spends, is_late = lowers && slack <= g->price;
  r->late = r->late << 1 | is_late;
  if (lowers && r->is_single) return take_step(r, (double)whole, computed, 1 / clock - 1, normal);
  if (!is_late && g->level == WTL_CLOCK_NORMAL && !wtl_governor_raises(g)) return stalled;
  return fmin(fmax(0, (double)whole - normal), is_late ? slowed : stalled);
}

/* How long a change of clock stops the core, by the usual computing after a change and without one. So a change that
 * costs more than was measured at the start is noticed by what it does to the program. */
static double stall_of(const wtl_region *r)
{
  if (r->after.n < LEAST_STALLS || r->plain.n < LEAST_STALLS) return 0;
  return fmax(wtl_usual_excess(&r->after, &r->plain), wtl_usual_shift(&r->after, &r->plain));
}

/* An instance that may have changed the clock, and what the last such instances show. In ticks. */
typedef struct judged {
  uint64_t whole, slack;
  bool has_changed;
  double normal; /* usual length at the normal clock */
  double longer; /* the usual excess over that */
  double late;   /* the time by which this PE kept others waiting in this instance, at most */
  double stall;  /* the time for which a change stops the core */
  bool is_long, stalls, late_twice;
} judged;

static judged compare(wtl_governor *g, wtl_region *r, judged j)
{
  j.longer = excess(g, r);
  j.late = kept_waiting(g, r, j.whole, j.slack, j.normal);
  j.stall = stall_of(r);
  j.is_long = j.longer > g->allowed * j.normal;
  j.stalls = j.stall > (double)g->price;
  j.late_twice = __builtin_popcount(r->late & ((1u << LATE_TWICE_IN) - 1)) >= 2;
  return j;
}

/* Opens a suspicion: the next few instances run at the normal clock (settle_suspicion). */
static void suspect(wtl_governor *g, wtl_region *r, const judged *j, uint64_t now)
{
  r->suspicion = (wtl_suspicion){.is_open = true,
                                 .is_of_length = j->is_long || j->late_twice,
                                 .normal = j->normal,
                                 .longer = r->late & 1 ? fmax(j->longer, (double)j->whole - j->normal) : j->longer,
                                 .lost = j->is_long ? (known(&r->changed) + j->has_changed) * j->longer : 0,
                                 .at_most = j->late + (double)g->price};
  if (j->stalls) {
    r->suspicion.plain = wtl_usual_mean(&r->plain);
    r->suspicion.stall = j->stall;
    r->suspicion.stalled = known(&r->after) * fmax(j->stall - fmax((double)g->price, (double)j->slack), 0);
  }
  wtl_budget_charge(g, 0, now);
  compare_anew(r);
}

/* Judges an instance that may have changed the clock. If such instances are longer than the user allows, the cause is
 * the clock or the program. */
static void judge(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack, uint64_t now)
{
  double normal = wtl_usual_mean(&r->normal), change = g->spends && g->began_by_change ? (double)g->price : 0;
  bool has_changed = g->has_acted || g->was_raised;
  r->acted += has_changed;
  if (g->spends) g->bound_ticks += whole - slack;
  if (g->tries) {
    lose(g, r, fmax(0, (double)whole - normal), now);
    return;
  }
  wtl_usual_add(&r->changed, (double)whole - change); /* which it had not to pay if it followed itself */
  r->acts = r->acts << 1 | has_changed;
  r->learned |= OF_CHANGED;
  judged j = compare(g, r, (judged){.whole = whole, .slack = slack, .has_changed = has_changed, .normal = normal});
  if (is_known(g, r) && wtl_usual_mean(&r->changed) < normal / 2) { /* no clock explains that: another phase */
    lose_own(g, r, j.late, now);
    compare_anew(r);
    return;
  }
  if (!j.is_long) {
    lose_own(g, r, j.late, now);
    lose(g, r, fmax(j.longer - j.late, 0) + change, now);
    if (!j.stalls && !j.late_twice) return;
  }
  suspect(g, r, &j, now);
}

/* If the region is shorter again, the clock was the cause. If it is as long at the normal clock, another phase has
 * begun, and only the part that this PE's own clock can explain in one instance counts as lost. */
static void settle_suspicion(wtl_governor *g, wtl_region *r, uint64_t now)
{
  wtl_suspicion d = r->suspicion;
  r->suspicion.is_open = false;
  if (d.stall > (double)g->price && wtl_usual_mean(&r->plain) <= d.plain + d.stall / 2) {
    g->settle += (uint64_t)d.stall - g->price;
    g->price = (uint64_t)d.stall;
    g->price_stays = g->price_stays < PRICE_STAYS_MOST ? 2 * g->price_stays : PRICE_STAYS_MOST;
    lose_own(g, r, d.stalled, now);
  }
  if (!d.is_of_length) return;
  if (d.longer > 0 && wtl_usual_mean(&r->normal) > d.normal + d.longer / 2) {
    lose(g, r, fmin(d.lost, d.at_most), now);
  } else {
    lose(g, r, d.lost, now);
    stay_away(r);
  }
}

/* A longer price than at the start may have been chance, or of another phase. So it shrinks slowly, and is learned
 * again if that was wrong: the more often, the more slowly. */
static void doubt_price(wtl_governor *g, const wtl_region *r)
{
  uint64_t less = g->settle > g->least_settle ? (g->settle - g->least_settle) / 8 : 0;
  if (r->instances % (WTL_CONTROL * g->price_stays) || less >= g->price) return;
  g->settle -= less;
  g->price -= less;
}

/* Learns from an instance at the normal clock. A wait is as long at any clock, but computing is not; and a change of
 * clock is not computing. */
static void learn(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack)
{
  uint64_t busy = whole - slack, change = g->began_by_change ? g->price : 0;
  if (g->level != WTL_CLOCK_NORMAL) return;
  wtl_slack_add(&r->slack, slack);
  r->learned |= OF_SLACK;
  if (g->was_raised) return;
  wtl_usual_add(g->began_by_change ? &r->after : &r->plain, (double)busy);
  wtl_slack_add(&r->compute, busy > change ? busy - change : 0);
  wtl_slack_add(&r->whole, whole);
  r->learned |= OF_WHOLE;
  if (!r->normal.n && g->began_by_change) return; /* the change back may be part of the suspicion */
  if (g->acts && !r->is_single) return;
  wtl_usual_add(&r->normal, (double)whole);
  r->learned |= OF_NORMAL;
}

void wtl_governor_extend(wtl_region *r, uint64_t ticks)
{
  r->slack_ticks += ticks;
  if (r->learned & OF_SLACK) wtl_slack_extend(&r->slack, ticks);
  if (r->learned & OF_WHOLE) wtl_slack_extend(&r->whole, ticks);
  if (r->learned & OF_NORMAL && r->normal.n) wtl_usual_extend(&r->normal, (double)ticks);
  if (r->learned & OF_CHANGED && r->changed.n) wtl_usual_extend(&r->changed, (double)ticks);
  if (r->learned & OF_STEPPED && r->stepped.n) wtl_usual_extend(&r->stepped, (double)ticks);
}

/* Learns from the counters how the computing of this instance depends on the clock. False if the program has entered
 * another phase: its loss is at most what the lower clock can have cost, and the region is learned anew. */
static bool learn_intensity(wtl_governor *g, wtl_region *r, uint64_t busy, uint64_t now)
{
  uint64_t change = g->began_by_change ? g->price : 0, ticks = busy > change ? busy - change : 0;
  if (!g->has_counted || g->polled > busy / POLLED_PART || g->was_raised) return true;
  double ns = (double)ticks * wtl_clock_ns_per_tick();
  if (g->level == WTL_CLOCK_NORMAL) wtl_intensity_add_normal(&r->intensity, &g->counted, ns);
  if (g->level >= WTL_CLOCK_NORMAL || wtl_intensity_add_lowered(&r->intensity, &g->counted, ns)) return true;
  r->intensity = (wtl_intensity){0};
  lose(g, r, g->spends || g->tries ? (1 - 1e-6 * g->level) * (double)busy : 0, now);
  compare_anew(r);
  return false;
}

/* True if this instance is compared with controls. Each that may change the clock is, once one has: it is the longer
 * instances that have waits to change it in. */
static bool is_compared(const wtl_governor *g, const wtl_region *r)
{
  if (r->is_single && g->level == WTL_CLOCK_NORMAL) return false; /* its waits have paid for their changes */
  return g->was_raised || (g->acts && !g->began_short && (g->has_acted || r->changed.n));
}

/* True for an instance with hardly any computing, as where one barrier follows right after another. It would hide the
 * slack of the others. From the second in a row on the region has changed. */
static bool is_empty(wtl_region *r, uint64_t computed)
{
  bool empty = wtl_governor_is_empty(r, computed), is_first = empty && !r->was_empty;
  r->was_empty = empty;
  return is_first;
}

bool wtl_governor_is_empty(const wtl_region *r, uint64_t computed)
{
  return (double)computed < r->longest / EMPTY_PART;
}

void wtl_governor_end_region(wtl_governor *g, uint64_t slack, uint64_t now)
{
  wtl_region *r = g->region;
  uint64_t whole = now - g->region_since;
  if (!r) return;
  if (slack > whole) slack = whole;
  r->compute_ticks += whole - slack;
  r->slack_ticks += slack;
  r->instances++;
  r->learned = 0;
  if (r->stay_away) r->stay_away--;
  if (r->rest) r->rest--;
  doubt_price(g, r);
  g->last_whole = whole;
  double computed = fmin(1e-6 * g->level, 1) * (double)(whole - slack);
  r->longest = fmax(r->longest * (1 - 1.0 / WTL_CONTROL), computed);
  g->longest = fmax(g->longest, computed);
  wtl_extent_add(&r->extent, (double)whole);
  if (g->is_fixed) return;
  if (is_empty(r, whole - slack)) return;
  if (!learn_intensity(g, r, whole - slack, now)) return;
  learn(g, r, whole, slack);
  if (r->suspicion.is_open && r->normal.n >= WTL_LEARN) settle_suspicion(g, r, now);
  if (g->lowers_waits && g->has_acted && slack <= g->price)
    stay_away(r); /* others may have waited for the change back */
  if (is_compared(g, r))
    judge(g, r, whole, slack, now);
  else
    wtl_budget_charge(g, g->has_acted && !g->began_short && !g->lowers_waits && !r->is_single ? (double)g->price : 0,
                      now);
}
