/* power_watch.c - measures the intervals of a budget of watts and gives the governor their clock. */
#include "govern/governor_parts.h"
#include "os/floats.h"
#include "os/os.h"

/* An exchange of some microseconds for each doubling of nodes, and at most two changes of clock, cost some percent of
 * an interval of this length. */
static const double least_s = 2e-3;
enum { LEAST_CHANGES = 64, MOST_LEFT = 64 };
/* Waits of more than this part of the computing spoil its counts. */
enum { POLLED_PART = 16 };

static double seconds(uint64_t ticks)
{
  return 1e-9 * wtl_clock_ns_per_tick() * (double)ticks;
}

static uint64_t waited_in(const wtl_governor *g, int stage)
{
  uint64_t now = atomic_load_explicit(&g->waited[stage], memory_order_relaxed), before = g->power->waited[stage];
  return now > before ? now - before : 0; /* the door's account restarts when the program's account does */
}

static uint64_t waited(const wtl_governor *g)
{
  uint64_t sum = g->unrecorded - g->power->unrecorded;
  for (int stage = 0; stage < WTL_N_STAGES; stage++) sum += waited_in(g, stage);
  return sum;
}

static void begin(wtl_governor *g, uint64_t now)
{
  wtl_power_watch *w = g->power;
  w->since = now;
  w->unrecorded = g->unrecorded;
  for (int stage = 0; stage < WTL_N_STAGES; stage++)
    w->waited[stage] = atomic_load_explicit(&g->waited[stage], memory_order_relaxed);
  w->computed = 0;
  w->syncs = 0;
}

void wtl_governor_watch_start(wtl_governor *g, uint64_t now)
{
  wtl_power_watch *w = g->power;
  w->call = wtl_budget_call_of(&w->budget, 0);
  w->left = 1;
  w->counts = false;
  begin(g, now);
}

void wtl_governor_watch_arrive(wtl_governor *g, uint64_t now)
{
  wtl_power_watch *w = g->power;
  uint64_t rest = waited(g), all = now - w->since;
  w->computed = all > rest ? all - rest : 0;
  w->syncs++;
  if (w->left) w->left--;
  if (w->left || !w->counts) return;
  wtl_counts counted, *c = &w->counted;
  w->counts = false;
  if (rest > w->computed / POLLED_PART || !g->count(g->count_arg, &counted)) return;
  *c = (wtl_counts){counted.instructions - c->instructions, counted.cycles - c->cycles, counted.misses - c->misses};
  w->has_counted = true;
}

void wtl_governor_share_watts(wtl_governor *g, wtl_power_part *mine, uint64_t now)
{
  WTL_FLOATS_APART;
  wtl_power_watch *w = g->power;
  uint64_t all = now - w->since, slept = waited_in(g, WTL_STAGE_ASLEEP), yielded = waited_in(g, WTL_STAGE_YIELD);
  uint64_t known = w->computed + slept + yielded;
  w->budget.change_s = seconds(g->price);
  wtl_power_interval done = {.lasted = seconds(all),
                             .computed = seconds(w->computed),
                             .slept = seconds(slept),
                             .yielded = seconds(yielded),
                             .spun = all > known ? seconds(all - known) : 0,
                             .changed = w->changed ? w->budget.change_s : 0,
                             .counts = w->has_counted ? &w->counted : NULL};
  wtl_budget_end(&w->budget, w->call, &done, mine);
  w->has_counted = false;
}

/* The number of synchronizations until the next exchange is equal on all PEs, as `all` and `syncs` are. */
void wtl_governor_hear_watts(wtl_governor *g, const wtl_power_part *all, uint64_t now)
{
  WTL_FLOATS_APART;
  wtl_power_watch *w = g->power;
  double each = all->lasted * WTL_POWER_QUANTUM / (w->syncs ? w->syncs : 1), least = least_s;
  if (LEAST_CHANGES * all->change * WTL_POWER_QUANTUM > least) least = LEAST_CHANGES * all->change * WTL_POWER_QUANTUM;
  double left = each > 0 ? least / each : MOST_LEFT;                   /* beyond the next one */
  uint32_t most = 2 * w->syncs < MOST_LEFT ? 2 * w->syncs : MOST_LEFT; /* after few short ones, long ones may follow */
  w->left = left < most ? (uint32_t)left + 1 : most;
  wtl_budget_hear(&w->budget, w->call, all);
  begin(g, now);
  w->call = NULL;
}

uint32_t wtl_governor_watch_level(wtl_governor *g, uint64_t key)
{
  wtl_power_watch *w = g->power;
  if (w->syncs) return g->level; /* no exchange was due */
  w->call = wtl_budget_call_of(&w->budget, key);
  w->budget.level = wtl_budget_choose(&w->budget, w->call);
  return w->budget.clocks.at[w->budget.level].share;
}

void wtl_governor_watch_begin(wtl_governor *g, bool changed)
{
  wtl_power_watch *w = g->power;
  if (w->syncs) return;
  w->changed = changed;
  w->counts = g->count && g->count(g->count_arg, &w->counted);
}
