#include "wait/door.h"

#include <sched.h>
#include <string.h>

void wtl_door_start(wtl_door *d, wtl_bell *bell, const wtl_settings *settings, int n_local, int cores)
{
  memset(d, 0, sizeof *d);
  d->bell = bell;
  d->sleep_max_s = settings->sleep_max.seconds;
  wtl_stages_start(&d->stages, settings, n_local, cores, wtl_clock_ns_per_tick());
}

typedef struct wait {
  wtl_door *door;
  wtl_site *site;
  wtl_watch watch;
  bool (*ready)(void *);
  void *arg;
  uint64_t since; /* tick at which the present stage began */
} wait;

/* Ends a stage: its time goes to the site and to the PE. */
static void book(wait *w, enum wtl_stage stage)
{
  uint64_t now = wtl_ticks(), spent = now - w->since;
  w->site->wait_ticks[stage] += spent;
  atomic_fetch_add_explicit(&w->door->ticks[stage], spent, memory_order_relaxed);
  w->since = now;
}

static bool spin(wait *w, uint64_t limit)
{
  for (unsigned turn = 1; !w->ready(w->arg); turn++) {
    if ((turn & 31) == 0 && wtl_ticks() - w->since >= limit) return false;
    wtl_relax();
  }
  return true;
}

static bool yield(wait *w, uint64_t limit)
{
  while (!w->ready(w->arg)) {
    if (wtl_ticks() - w->since >= limit) return false;
    sched_yield();
  }
  return true;
}

static void sleep_until_ready(wait *w)
{
  wtl_door *d = w->door;
  while (!w->ready(w->arg)) {
    uint64_t asleep_at = wtl_ticks();
    enum wtl_sleep how = wtl_bell_sleep(d->bell, w->watch, w->ready, w->arg, d->sleep_max_s);
    uint64_t now = wtl_ticks(), rung_at = atomic_load_explicit(&d->bell->rung_at, memory_order_relaxed);
    if (how != WTL_SLEPT_NOT) atomic_fetch_add_explicit(&d->sleeps, 1, memory_order_relaxed);
    if (how == WTL_SLEPT_OUT && w->ready(w->arg)) atomic_fetch_add_explicit(&d->rescues, 1, memory_order_relaxed);
    if (how == WTL_SLEPT_WOKEN && rung_at > asleep_at && rung_at < now) wtl_stages_learn(&d->stages, now - rung_at);
  }
}

void wtl_door_missed(wtl_door *d)
{
  if (d->stages.crowded) sched_yield();
}

void wtl_door_wait(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg)
{
  wait w = {d, site, watch, ready, arg, 0};
  uint64_t limit;
  site->waits++;
  if (ready(arg)) return;
  w.since = wtl_ticks();
  if ((limit = d->stages.spin_ticks) > 0) {
    bool done = spin(&w, limit);
    book(&w, WTL_STAGE_SPIN);
    if (done) return;
  }
  if ((limit = d->stages.yield_ticks) > 0) {
    bool done = yield(&w, limit);
    book(&w, WTL_STAGE_YIELD);
    if (done) return;
  }
  sleep_until_ready(&w);
  book(&w, WTL_STAGE_ASLEEP);
}
