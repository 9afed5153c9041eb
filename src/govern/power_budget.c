/* power_budget.c - predicts the times and watts of a PE, and chooses from the sums of all PEs when to arrive. */
#include "govern/power_budget.h"

#include <math.h>

/* Part of a second's joules that may be saved for intervals above the budget. So no second exceeds it by more. */
static const double saved_part = 0.015;
/* Intervals above the budget begin once this part of that is saved: each begin changes clocks. */
static const double begins_at = 0.6;
/* Joules beyond the budget are made up for in this time, with at most this part of the watts. */
static const double repaid_s = 0.25, repaid_part = 0.25;
/* Part of a new error that corrects the predicted watts. */
static const double corrected = 0.125;
/* A pair of times must be shorter than the one alone by this part, and of two pairs that are as short the closer one is
 * better. */
static const double gain = 0.001, wide = 0.01;
/* Two times of arrival are equal within this part. */
static const double in_time = 1.001;
/* A PE that would be late by a change may stay at the next higher clock, if that draws at most so much more. */
static const double near = 1.15;
/* The error of a guess follows new ones by this part. The mean is that of so many intervals. */
static const double recent = 0.125, mean_of = 32;
/* In shorter intervals the calls of this library are a large part of the counts. */
static const double counted_s = 1e-3;
/* Fewer instructions in a cycle belong to no program: simulated work may be described without instructions. */
static const double few = 1e-3;
/* Times that are closer together than this are close to the solution. */
static const double coarse = 1.15;
/* Times around a solution. */
static const double around[] = {0.88, 0.95, 0.98, 0.992, 0.997, 1, 1.003, 1.008, 1.02, 1.05, 1.12};
enum { AROUND = sizeof around / sizeof *around, SOONEST = 0, SLOW = 1, FIRST = 2 };
_Static_assert(FIRST + 2 * AROUND == WTL_POWER_POINTS, "two solutions");

static uint32_t larger(uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

void wtl_budget_part_add(wtl_power_part *to, const wtl_power_part *from)
{
  to->call = larger(to->call, from->call);
  to->not_call = larger(to->not_call, from->not_call);
  to->soonest = larger(to->soonest, from->soonest);
  to->latest = larger(to->latest, from->latest);
  to->lasted = larger(to->lasted, from->lasted);
  to->change = larger(to->change, from->change);
  to->drew += from->drew;
  for (int i = 0; i < WTL_POWER_POINTS; i++) to->watts[i] += from->watts[i];
}

void wtl_budget_power_start(wtl_power_budget *b, double budget_w, double equal_w)
{
  wtl_power_clocks clocks = b->clocks;
  *b = (wtl_power_budget){.plan.budget_w = budget_w,
                          .clocks = clocks,
                          .equal_w = equal_w,
                          .normal_ghz = b->normal_ghz,
                          .change_s = b->change_s,
                          .rests = 1};
  b->level = wtl_budget_choose(b, NULL);
}

wtl_power_call *wtl_budget_call_of(wtl_power_budget *b, uint64_t key)
{
  for (size_t i = 0; i < b->n_calls; i++)
    if (b->calls[i].key == key) return &b->calls[i];
  if (b->n_calls == WTL_POWER_CALLS) return NULL;
  wtl_power_call *c = &b->calls[b->n_calls++];
  c->key = key;
  return c;
}

/* ---- this PE ---- */

/* The guess that was closest so far. */
static double predicted(const wtl_power_call *c)
{
  int best = 0;
  for (int i = 1; i < WTL_POWER_GUESSES; i++)
    if (c->error[i] < c->error[best]) best = i;
  return c->guess[best];
}

/* Makes the guesses of the interval after one that computed `now` s. */
static void guess(wtl_power_call *c, double now)
{
  double last = now - c->before[0], earlier = c->before[0] - c->before[1];
  bool drifts = c->n > 1 && last * earlier > 0;
  for (int i = 0; i < WTL_POWER_GUESSES && c->n; i++) c->error[i] += recent * (fabs(c->guess[i] - now) - c->error[i]);
  c->guess[WTL_POWER_AS_LAST] = now;
  c->guess[WTL_POWER_DRIFTS] = drifts ? now + copysign(fmin(fabs(last), fabs(earlier)), last) : now;
  c->guess[WTL_POWER_ALTERNATES] = c->n ? c->before[0] : now;
  c->guess[WTL_POWER_VARIES] += (now - c->guess[WTL_POWER_VARIES]) / fmin(c->n + 1.0, mean_of);
  c->before[1] = c->before[0];
  c->before[0] = now;
  c->n++;
}

/* Relative to the normal clock. */
static double slowness(const wtl_power_budget *b, const wtl_power_call *c, size_t k)
{
  double follows = wtl_clocks_fit_follows(&c->fit, 1);
  return follows / b->clocks.at[k].speed + 1 - follows;
}

double wtl_budget_takes(const wtl_power_budget *b, const wtl_power_call *c, size_t k)
{
  return predicted(c) * slowness(b, c, k);
}

/* The lowest clock that arrives at `t` s; the highest if none does. */
static size_t lowest(const wtl_power_budget *b, const wtl_power_call *c, double t)
{
  size_t k = 0;
  while (k + 1 < b->clocks.n && wtl_budget_takes(b, c, k) > t * in_time) k++;
  return k;
}

/* Mean watts of an interval of `t` s. */
static double watts_until(const wtl_power_budget *b, const wtl_power_call *c, double t)
{
  size_t k = lowest(b, c, t);
  const wtl_power_clock *clock = &b->clocks.at[k];
  double computes = wtl_budget_takes(b, c, k), part = t > computes ? computes / t : 1;
  return b->clocks.always_w + clock->computes * part + b->rests * clock->spins * (1 - part);
}

static uint32_t quanta(double s)
{
  return (uint32_t)fmin(fmax(s / WTL_POWER_QUANTUM, 0), UINT32_MAX);
}

static uint32_t milliwatts(double w)
{
  return (uint32_t)(1e3 * w + 0.5);
}

/* The mean watts of this PE in the interval. */
static double drawn(wtl_power_budget *b, const wtl_power_interval *done)
{
  const wtl_power_clock *clock = &b->clocks.at[b->level];
  double waited = done->spun + done->yielded + done->slept;
  double rested = clock->spins * done->spun + clock->yields * done->yielded + clock->sleeps * done->slept;
  if (waited > 0.01 * done->lasted && clock->spins > 0) b->rests = fmin(rested / (clock->spins * waited), 1);
  double joules = clock->computes * done->computed + rested + b->clocks.always_w * done->lasted;
  b->own_j += joules;
  return done->lasted > 0 ? joules / done->lasted : 0;
}

static void learn(wtl_power_budget *b, wtl_power_call *c, const wtl_power_interval *done)
{
  const wtl_counts *n = done->counts;
  double seconds = fmax(done->computed - done->changed, 0);
  if (n && n->cycles > 0 && seconds > counted_s && b->normal_ghz > 0) {
    double ghz = n->cycles / (1e9 * seconds);
    wtl_clocks_power_see(&b->clocks, b->level, ghz, b->normal_ghz);
    if (n->instructions > few * n->cycles)
      wtl_clocks_fit_add(&c->fit, b->normal_ghz / ghz, 1e9 * seconds / n->instructions);
  }
  guess(c, seconds / slowness(b, c, b->level));
}

void wtl_budget_end(wtl_power_budget *b, wtl_power_call *c, const wtl_power_interval *done, wtl_power_part *mine)
{
  *mine = (wtl_power_part){.call = UINT32_MAX,
                           .lasted = quanta(done->lasted),
                           .change = quanta(b->change_s),
                           .drew = milliwatts(drawn(b, done))};
  if (!c) return;
  uint32_t bits = (uint32_t)c->key & 0xfff; /* an address is another one in each process, but for these */
  learn(b, c, done);
  mine->call = bits;
  mine->not_call = ~bits;
  mine->soonest = quanta(wtl_budget_takes(b, c, b->clocks.n - 1));
  mine->latest = quanta(wtl_budget_takes(b, c, 0));
  for (int i = 0; i < WTL_POWER_POINTS && c->has_times; i++)
    mine->watts[i] = milliwatts(watts_until(b, c, c->time[i] * WTL_POWER_QUANTUM));
}

/* ---- all PEs ---- */

/* Adds an interval to the seconds of the meter. */
static void meter(wtl_power_plan *p, double watts, double seconds)
{
  p->all_s += seconds;
  p->all_j += watts * seconds;
  while (seconds > 0) {
    double part = fmin(seconds, 1 - p->second_s);
    p->second_s += part;
    p->second_j += part * watts;
    seconds -= part;
    if (p->second_s < 1) break;
    p->highest_w = fmax(p->highest_w, p->second_j);
    p->above_s += p->second_j > p->budget_w;
    p->second_s = p->second_j = 0;
  }
}

/* Times of arrival: the earliest within the budget, and two that are taken in turn. `mean`: the time of an interval
 * within the budget. */
typedef struct solution {
  double alone, slow, fast, slow_w, fast_w, above_j, mean;
} solution;

/* The shortest mean. Without a time within the budget it is the latest one. */
static solution solve(const wtl_power_call *c, const wtl_power_part *all, double budget_w, double most_j)
{
  double t[WTL_POWER_POINTS], w[WTL_POWER_POINTS], saves[WTL_POWER_POINTS];
  double latest = all->latest * WTL_POWER_QUANTUM, drawn = c->drawn > 0 ? c->drawn : 1;
  solution best = {latest, latest, .mean = latest};
  for (int i = 0; i < WTL_POWER_POINTS; i++) {
    t[i] = c->time[i] * WTL_POWER_QUANTUM;
    w[i] = 1e-3 * all->watts[i];
    bool is_early = all->soonest > c->time[i] * in_time;
    saves[i] = is_early ? NAN : (budget_w - drawn * w[i]) * t[i];
    if (saves[i] >= 0 && t[i] < best.alone) {
      best.alone = best.slow = best.mean = t[i];
      best.slow_w = w[i];
    }
  }
  best.mean *= 1 - gain;
  for (int i = 0; i < WTL_POWER_POINTS; i++)
    for (int j = 0; j < WTL_POWER_POINTS; j++) {
      if (!(saves[i] >= 0) || !(saves[j] < 0) || -saves[j] > most_j || t[j] >= t[i]) continue;
      double kept = fmin(saves[i], most_j), part = kept / (kept - saves[j]);
      double mean = (t[i] - part * (t[i] - t[j])) * (1 + wide * (1 - t[j] / t[i]));
      if (mean < best.mean) best = (solution){best.alone, t[i], t[j], w[i], w[j], -saves[j], mean};
    }
  return best;
}

/* True if the solution is one of the times that are close together, or the soonest one. After an odd interval the times
 * may lie elsewhere. */
static bool is_fine(const wtl_power_call *c, double alone)
{
  double before = 0, t;
  for (int i = 0; i < WTL_POWER_POINTS; i++)
    if ((t = c->time[i] * WTL_POWER_QUANTUM) < alone) before = fmax(before, t);
  return before == 0 || alone <= coarse * before;
}

/* The times of the next exchange: around the solution if it is known, else evenly from the soonest to the latest. */
static void place(wtl_power_call *c, const wtl_power_part *all, double alone, bool is_known)
{
  c->time[SOONEST] = all->soonest;
  c->time[SLOW] = c->slow ? c->slow : all->latest;
  for (int i = 0; i < AROUND && is_known; i++) {
    c->time[FIRST + i] = quanta(around[i] * (c->fast ? c->fast * WTL_POWER_QUANTUM : 0.9 * alone));
    c->time[FIRST + AROUND + i] = quanta(around[i] * alone);
  }
  for (int i = FIRST; i < WTL_POWER_POINTS && !is_known; i++)
    c->time[i] = all->soonest + (uint32_t)((double)(all->latest - all->soonest) * (i - FIRST) / (2 * AROUND - 1));
  c->has_times = true;
}

void wtl_budget_hear(wtl_power_budget *b, wtl_power_call *c, const wtl_power_part *all)
{
  wtl_power_plan *p = &b->plan;
  double watts = 1e-3 * all->drew, seconds = all->lasted * WTL_POWER_QUANTUM, most_j = saved_part * p->budget_w;
  b->exchanges++;
  meter(p, watts, seconds);
  p->saved_j = fmin(fmax(p->saved_j + (p->budget_w - watts) * seconds, -repaid_s * p->budget_w), most_j);
  if (!c) return;
  if (all->call != (uint32_t)~all->not_call || all->latest <= all->soonest) {
    c->has_times = false;
    c->slow = c->fast = 0;
    return;
  }
  double alone = 0;
  bool is_known = false;
  if (p->planned_w > 0) {
    double drawn = fmin(fmax(watts / p->planned_w, 0.25), 2);
    c->drawn = c->drawn > 0 ? c->drawn + corrected * (drawn - c->drawn) : drawn;
  }
  if (c->has_times) {
    double repaid_w = fmin(fmax(-p->saved_j, 0) / repaid_s, repaid_part * p->budget_w);
    solution best = solve(c, all, p->budget_w - repaid_w, most_j);
    alone = best.alone;
    is_known = best.slow_w > 0 && is_fine(c, alone);
    c->slow = quanta(best.slow);
    c->fast = quanta(best.fast);
    c->slow_w = best.slow_w;
    c->fast_w = best.fast_w;
    c->above_j = best.above_j;
  }
  place(c, all, alone, is_known);
}

size_t wtl_budget_choose(wtl_power_budget *b, const wtl_power_call *c)
{
  wtl_power_plan *p = &b->plan;
  p->planned_w = 0;
  if (!c || !c->slow || !c->n) {
    size_t k = b->clocks.n - 1;
    while (k > 0 && b->clocks.at[k].computes + b->clocks.always_w > b->equal_w) k--;
    return k;
  }
  double enough = fmax(c->above_j, p->is_fast ? 0 : begins_at * saved_part * p->budget_w);
  p->is_fast = c->fast && p->saved_j >= enough;
  p->planned_w = p->is_fast ? c->fast_w : c->slow_w;
  double t = (p->is_fast ? c->fast : c->slow) * WTL_POWER_QUANTUM;
  size_t k = lowest(b, c, t);
  bool is_late = wtl_budget_takes(b, c, k) + b->change_s > t * in_time; /* if it changes to that clock */
  bool is_near = k + 1 == b->level && b->clocks.at[b->level].computes < near * b->clocks.at[k].computes;
  return is_near && is_late ? b->level : k;
}
