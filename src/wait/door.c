/* door.c - takes a wait through its stages (spin, yield, sleep) until its condition holds. */
#include "wait/door.h"

#include "govern/governor.h"
#include "os/floats.h"
#include "os/guest.h"
#include "wait/wait_time.h"

#include <math.h>
#include <sched.h>
#include <string.h>

/* Leaving a low-power state takes about a microsecond, an eighth of this. */
enum { LOWPOWER_FROM_NS = 8000 };

/* A spin reads the clock once in this many polls. In simulation each poll_once blocks. */
enum { POLLS_A_CLOCK = WTL_OS_IS_SIMULATED ? 1 : 32 };

/* The first polls of a wait look at the condition alone. Of the waits that end in them, one in READS_CLOCK reads the
 * clock. */
enum { FIRST_POLLS = 64, READS_CLOCK = 16 };

/* A wait is shown on the live page after this many polls, or when yields have made it long. */
enum { PUBLISH_FROM = 1024 };

void wtl_door_start(wtl_door *d, wtl_bell *bell, const wtl_settings *settings, int n_local, wtl_cores cores)
{
  memset(d, 0, sizeof *d);
  d->bell = bell;
  d->sleep_max_s = settings->sleep_max.seconds;
  d->is_alone = n_local == 1;
  wtl_yielder_start(&d->yielder, (n_local + cores.usable - 1) / cores.usable);
  d->lowpower_from = (uint64_t)(LOWPOWER_FROM_NS / wtl_clock_ns_per_tick());
  d->waited_shift = wtl_waited_shift(wtl_clock_ns_per_tick());
  d->notice_ticks = (uint64_t)(WTL_NOTICE_NS / wtl_clock_ns_per_tick());
  wtl_stages_start(&d->stages, settings, n_local, cores, false, NULL, wtl_clock_ns_per_tick());
}

typedef struct wait {
  wtl_door *door;
  wtl_site *site;
  wtl_watch watch;
  bool (*ready)(void *);
  void *arg;
  const wtl_sleeper *sleeper; /* where it sleeps; NULL: on the doorbell or on the network */
  int awaited;                /* the PE that it depends on; -1: unknown */
  uint64_t began;             /* tick at which the wait began */
  uint64_t since;             /* tick at which the current stage began */
  uint64_t idle;              /* tick of the last event, from which the limit counts */
  uint64_t used;              /* in a wait that yields: its own use of the core since `idle` */
  uint64_t away;              /* the time of its yields */
  uint64_t quiet;             /* the longest time so far in which nothing happened */
  uint64_t over;              /* when a sleep ended, or when the doorbell that ended it rang */
  uint64_t until;             /* the tick at which it returns without the condition; 0: never */
  bool is_read;               /* door->no_core was read when it turned out to be long */
  bool published;             /* it is shown on the live page */
  bool recorded;              /* its time is recorded up to its end */
  bool governed;              /* it is long, and the governor knows of it */
  bool counted;               /* the agent of active messages knows of it */
  bool on_network;            /* it sleeps on the network */
  bool on_other_core;         /* the event comes from another core */
  bool for_signal;            /* only stores with a doorbell end it */
} wait;

static void record(wait *w, enum wtl_stage stage)
{
  wtl_door_record(w->door, w->site, stage, &w->since);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* Returns the time, in ticks, in which nothing has happened. */
static uint64_t idle_ticks(const wait *w)
{
  uint64_t now = wtl_ticks();
  return now > w->idle ? now - w->idle : 0;
}

static void end_idle(wait *w, uint64_t now)
{
  if (now > w->idle) w->quiet = larger(w->quiet, now - w->idle);
  w->idle = now;
  w->used = 0;
}

static bool has_messages(const wtl_door *d)
{
  return WTL_UNLIKELY(atomic_load_explicit(&d->bell->has_messages, memory_order_relaxed)) && d->messages.of;
}

/* Runs handlers if there are messages. The stage is recorded up to their beginning. */
static bool run_handlers(wait *w, enum wtl_stage stage)
{
  const wtl_messages *m = &w->door->messages;
  if (!has_messages(w->door) || !m->waits(m->of)) return false;
  record(w, stage);
  end_idle(w, stage == WTL_STAGE_ASLEEP ? w->over : w->since); /* the wake-up itself is no waiting */
  return m->take(m->of);
}

/* Starts the stage anew after handlers: their time belongs to the program. */
static void restart_stage(wait *w)
{
  w->idle = w->since = wtl_ticks();
}

static bool take_messages(wait *w, enum wtl_stage stage)
{
  if (!run_handlers(w, stage)) return false;
  restart_stage(w);
  return true;
}

static enum wtl_stage polling_stage(const wait *w)
{
  return wtl_door_polling_stage(w->door);
}

/* Checks the condition after making progress and running handlers. A thread that makes progress is not idle. If
 * handlers end the wait, it was over when they began: reading the clock again would only delay the caller. */
static bool poll_once(wait *w)
{
  const wtl_progress_driver *p = &w->door->driver;
  if (p->progress && p->progress(p->agent)) end_idle(w, wtl_ticks());
  bool ran = run_handlers(w, polling_stage(w)), done = w->ready(w->arg);
  w->recorded = ran && done;
  if (ran && !done) restart_stage(w);
  return done;
}

/* Ends a sleep if true: the condition holds, or there are messages to handle. */
static bool is_called(void *arg)
{
  const wait *w = arg;
  return w->ready(w->arg) || (has_messages(w->door) && w->door->messages.waits(w->door->messages.of));
}

bool wtl_door_publish(wtl_door *d, const wtl_site *site)
{
  WTL_FLOATS_APART;
  uint64_t ns[WTL_N_STAGES];
  for (int stage = 0; stage < WTL_N_STAGES; stage++)
    ns[stage] =
        (uint64_t)((double)atomic_load_explicit(&d->ticks[stage], memory_order_relaxed) * d->stages.ns_per_tick);
  if (!wtl_live_enter(d->live, site->addr ? wtl_call_of(d->calls, site->call)->name : "finish", site, ns)) return false;
  wtl_door_keep_wait(d, site);
  return true;
}

void wtl_door_unpublish(wtl_door *d)
{
  if (d->kept) atomic_store_explicit(&d->kept->addr, 0, memory_order_release);
  wtl_live_leave(d->live);
}

/* Reads the time without a core before the wait, which has turned out to be long. */
static void note_long(wait *w)
{
  if (!w->is_read) wtl_door_note_no_core(w->door, wtl_ticks() - w->began, false);
  w->is_read = true;
}

static void publish(wait *w)
{
  note_long(w);
  if (!w->published && w->door->live && !wtl_door_is_in_agent()) w->published = wtl_door_publish(w->door, w->site);
}

/* Can a plain store of another PE end the wait? */
static bool awaits_stores(const wait *w)
{
  return w->watch != WTL_WATCH_CONTROL && !w->for_signal;
}

/* Blocks a simulated PE between two polls until its doorbell rings, something arrives, or until tick `until`
 * (UINT64_MAX: no limit). Time must pass in simulation, and an event for each poll_once would be too many. The core
 * counts as spinning or yielding meanwhile. */
static void await_ring(wait *w, uint64_t until)
{
  WTL_FLOATS_APART;
  uint64_t now = wtl_ticks(), left = until > now ? until - now : 0;
  enum wtl_os_idle_mode before = wtl_os_set_idle_mode(w->door->stages.yields ? WTL_OS_YIELDS : WTL_OS_SPINS);
  wtl_os_poll(awaits_stores(w), true);
  wtl_bell_sleep(w->door->bell, NULL, w->watch, is_called, w,
                 until == UINT64_MAX ? INFINITY : (double)left * w->door->stages.ns_per_tick * 1e-9);
  wtl_os_poll(false, false);
  wtl_os_set_idle_mode(before);
}

/* Pauses between two polls. After the shortest waits it uses the low-power instruction of the CPU, if there is one,
 * for an eighth of the time waited so far. So it prolongs no wait by more than that. Only time ends the pause: a PE
 * that does not sleep has no doorbell rung. */
static void pause_between_polls(wait *w)
{
  wtl_door *d = w->door;
  uint64_t now, waited;
  if (d->lowpower == WTL_LOWPOWER_NONE || (now = wtl_ticks(), waited = now - w->idle) < d->lowpower_from) {
    wtl_relax();
    return;
  }
  wtl_lowpower_arm(d->lowpower, d->bell);
  if (!w->ready(w->arg)) wtl_lowpower_wait(d->lowpower, now + waited / 8);
}

static bool spin(wait *w, uint64_t limit)
{
  bool progresses = w->door->driver.progress; /* the progress call is pause enough for the other thread of the core */
  for (unsigned turn = 1; !poll_once(w); turn++) {
    if (turn % POLLS_A_CLOCK == 0 && idle_ticks(w) >= limit) return false;
    if (turn == PUBLISH_FROM) publish(w);
    if (WTL_OS_IS_SIMULATED)
      await_ring(w, limit == UINT64_MAX ? limit : w->idle + limit);
    else if (!progresses)
      pause_between_polls(w);
  }
  return true;
}

static bool holds_within(wait *w, uint64_t ticks)
{
  do {
    if (poll_once(w)) return true;
    wtl_relax();
  } while (wtl_ticks() - w->since < ticks);
  return false;
}

/* Polls and yields until the limit. The time of other processes between two turns does not count, so that their long
 * turns do not exhaust the limit. If one of them computes, a wait that may sleep does so at once. */
static bool yield(wait *w, uint64_t limit)
{
  wtl_yielder *yielder = &w->door->yielder;
  uint64_t turn_ticks = w->door->stages.turn_ticks, now = w->since;
  unsigned turn = 0;
  if (w->on_other_core && holds_within(w, turn_ticks / 4 * 3)) return true;
  while (!poll_once(w)) {
    if (w->used >= limit || (limit != UINT64_MAX && !wtl_yielder_may_yield(yielder, now))) return false;
    if (turn++ == PUBLISH_FROM) publish(w);
    uint64_t took = wtl_yielder_yield(yielder);
    w->away += took;
    w->used += smaller(took, turn_ticks);
    now += took;
    if (WTL_UNLIKELY(now - w->since > w->door->no_core.long_ticks)) publish(w);
  }
  return true;
}

/* Ends a sleep if true; called when the thread is registered at its bell, after a full barrier. */
static bool is_over(void *arg)
{
  const wait *w = arg;
  const wtl_progress_driver *p = &w->door->driver;
  if (w->door->notice && w->watch != WTL_WATCH_CONTROL) wtl_notice_post(w->door->notice, w->door->notice_ticks);
  return is_called(arg) || (awaits_stores(w) && p->is_posted && !p->is_posted(p->agent));
}

/* The time limit of a sleep, in seconds, in a wait that has slept so long. It finds stores through shmem_ptr, which
 * ring no doorbell. Each check costs a wake-up of the core, so a long wait checks less often: this prolongs it by a
 * quarter at most. */
#define LONGEST_SLEEP_S 1.0

static double next_check(const wtl_door *d, double slept_s)
{
  return fmax(d->sleep_max_s, fmin(slept_s / 4, LONGEST_SLEEP_S));
}

static double longest_sleep(const wait *w)
{
  const wtl_door *d = w->door;
  uint64_t now = wtl_ticks();
  double longest = wtl_os_check_after(next_check(d, (double)(now - w->since) * d->stages.ns_per_tick * 1e-9));
  if (!w->until) return longest;
  return fmin(longest, now < w->until ? (double)(w->until - now) * d->stages.ns_per_tick * 1e-9 : 0);
}

static bool is_given_up(const wait *w)
{
  return w->until && wtl_ticks() >= w->until;
}

/* Polls after a message for as long as a sleep would cost, since the next message is likely near. Does nothing if
 * waits are set to sleep at once. */
static void poll_for_more(wait *w)
{
  const wtl_stages *s = &w->door->stages;
  if (!s->learns || (s->yields && !wtl_yielder_may_yield(&w->door->yielder, w->since))) return;
  const wtl_progress_driver *p = &w->door->driver; /* a PE that sleeps on the network makes its own progress */
  for (uint64_t since = w->since; !w->ready(w->arg) && wtl_ticks() - since < s->limit_ticks;) {
    if (take_messages(w, polling_stage(w)))
      since = w->since;
    else if (w->on_network && p->progress(p->agent))
      since = wtl_ticks();
    else if (WTL_OS_IS_SIMULATED)
      await_ring(w, since + s->limit_ticks);
    else if (s->yields)
      wtl_yielder_yield(&w->door->yielder);
    else
      wtl_relax();
  }
  record(w, polling_stage(w));
}

/* Takes what has arrived after a sleep on the network. If that does not end the wait, the next message is likely
 * near. */
static void take_what_came(wait *w)
{
  const wtl_progress_driver *p = &w->door->driver;
  bool came = false;
  while (!is_called(w) && p->progress(p->agent)) came = true;
  if (!came) return;
  end_idle(w, w->over);
  if (w->ready(w->arg) || w->site->history.way != WTL_WAY_USUAL) return;
  record(w, WTL_STAGE_ASLEEP);
  poll_for_more(w);
  w->over = w->since;
}

/* Sleeps until the doorbell rings. In simulation a store through shmem_ptr ends the block, and the sleep then goes on
 * to the check that finds it. */
static enum wtl_sleep sleep_until_rung(wait *w, const wtl_sleeper *sleeper)
{
  const wtl_door *d = w->door;
  uint64_t began = wtl_ticks();
  enum wtl_sleep how;
  bool found;
  do {
    wtl_os_poll(awaits_stores(w) && wtl_os_is_stored_directly(), false);
    how = wtl_bell_sleep(w->door->bell, sleeper, w->watch, is_over, w, longest_sleep(w));
    found = how == WTL_SLEPT_WOKEN && wtl_os_has_seen_store();
  } while (found && !is_over(w));
  wtl_os_poll(false, false);
  if (!found || !w->ready(w->arg)) return how;
  double slept = (double)(wtl_ticks() - began) * d->stages.ns_per_tick * 1e-9, check = 0;
  do check += next_check(d, check);
  while (check < slept);
  wtl_os_sleep_on(check - slept);
  return WTL_SLEPT_OUT;
}

static void sleep_once(wait *w, const wtl_sleeper *sleeper)
{
  WTL_FLOATS_APART;
  wtl_door *d = w->door;
  uint64_t asleep_at = wtl_ticks();
  wtl_door_keep_sleep(d);
  wtl_os_set_idle_mode(WTL_OS_SLEEPS);
  enum wtl_sleep how = sleep_until_rung(w, sleeper);
  wtl_os_set_idle_mode(WTL_OS_SPINS);
  uint64_t now = wtl_ticks(), rung_at = atomic_load_explicit(&d->bell->rung_at, memory_order_relaxed);
  if (how != WTL_SLEPT_NOT) atomic_fetch_add_explicit(&d->sleeps, 1, memory_order_relaxed);
  if (how == WTL_SLEPT_OUT && is_called(w)) atomic_fetch_add_explicit(&d->rescues, 1, memory_order_relaxed);
  bool rung =
      how != WTL_SLEPT_OUT && rung_at > asleep_at && rung_at < now; /* it may have rung before the sleep began */
  if (rung && how == WTL_SLEPT_WOKEN) wtl_stages_learn(&d->stages, now - rung_at);
  w->over = rung ? rung_at : now;
}

static void sleep_until_ready(wait *w)
{
  const wtl_progress_driver *p = &w->door->driver;
  const wtl_sleeper *sleeper = w->on_network ? &p->sleeper : w->sleeper;
  while (!w->ready(w->arg) && !is_given_up(w)) {
    if (p->post && awaits_stores(w)) p->post(p->agent);
    if (take_messages(w, WTL_STAGE_ASLEEP)) {
      poll_for_more(w);
      w->over = w->since;
      continue;
    }
    sleep_once(w, sleeper);
    if (w->on_network) take_what_came(w);
  }
}

void wtl_door_missed(wtl_door *d)
{
  wtl_os_test_missed();
  if (d->driver.progress) d->driver.progress(d->driver.agent);
  if (has_messages(d) && d->messages.waits(d->messages.of)) d->messages.take(d->messages.of);
  if (d->stages.crowded) sched_yield();
}

static bool poll_until(wait *w, uint64_t limit)
{
  bool yields = w->door->stages.yields, done;
  if (limit == 0) return false;
  done = yields && !WTL_OS_IS_SIMULATED ? yield(w, limit) : spin(w, limit); /* a simulated PE has its own core */
  if (!w->recorded) record(w, polling_stage(w));
  return done;
}

static void sleep_on(wait *w)
{
  const wtl_progress_driver *p = &w->door->driver;
  publish(w);
  if (p->agent) end_idle(w, w->since);
  w->on_network = w->door->is_alone && p->begin_sleep && p->begin_sleep(p->agent);
  if (p->take_over && !w->on_network) p->take_over(p->agent);
  if (w->counted) w->door->messages.falls_asleep(w->door->messages.of);
  w->over = w->since;
  sleep_until_ready(w);
  if (p->relieved && !w->on_network)
    w->quiet = larger(w->quiet, p->relieved(p->agent, w->over));
  else
    end_idle(w, w->over);
  if (w->on_network) {
    p->end_sleep(p->agent);
    p->resume(p->agent);
  }
  record(w, WTL_STAGE_ASLEEP);
}

/* Polls until the limit. The governor is notified of a wait that is longer than a moment and, if it asked for that,
 * later of slack. */
static bool poll_governed(wait *w, uint64_t limit)
{
  wtl_governor *g = w->door->governor;
  if (poll_until(w, smaller(limit, g->moment))) return true;
  w->governed = true;
  uint64_t slack = wtl_governor_wait(g, w->site, w->began);
  if (slack < limit || slack == 0) {
    if (poll_until(w, slack)) return true;
    wtl_governor_slack(g, wtl_ticks());
    uint64_t rise = wtl_governor_rise(g, w->began, wtl_ticks());
    if (rise < limit) {
      if (poll_until(w, rise)) return true;
      wtl_governor_ready(g, wtl_ticks());
    }
  }
  return poll_until(w, limit);
}

/* Calls that are not counted share one site, whose history predicts none of them. */
static bool is_remembered(const wtl_site *site)
{
  return site->addr != 0;
}

static uint64_t limit_of(const wtl_door *d, wtl_site *site)
{
  if (WTL_LIKELY(site->history.way == WTL_WAY_USUAL))
    return WTL_LIKELY(is_remembered(site)) ? wtl_stages_limit(&d->stages, &site->history) : d->stages.limit_ticks;
  return site->history.way == WTL_WAY_POLL ? UINT64_MAX : 0;
}

/* Waits for a condition that did not hold at once, until it holds or the wait reaches its time limit. */
static void wait_on(wait *w)
{
  WTL_AS_GUEST;
  wtl_door *d = w->door;
  wtl_site *site = w->site;
  const wtl_progress_driver *p = &d->driver;
  const wtl_messages *m = &d->messages;
  bool asleep = false;
  uint64_t limit = limit_of(d, site);
  if (!w->began) w->began = wtl_ticks();
  w->idle = w->since = w->began;
  if (w->until) limit = smaller(limit, w->until - smaller(w->until, w->since));
  if (p->stand_by) p->stand_by(p->agent);
  w->counted = m->enter && m->enter(m->of);
  wtl_os_note_wait(site->call, site->addr);
  if (WTL_LIKELY(!d->governor) || wtl_door_is_in_agent() ? poll_until(w, limit) : poll_governed(w, limit)) {
    if (p->resume) p->resume(p->agent);
    end_idle(w, w->since);
  } else {
    sleep_on(w);
    asleep = true;
  }
  if (w->counted) m->leave(m->of, asleep);
  wtl_os_note_wait(0, 0);
  if (w->awaited >= 0) wtl_profile_awaited(w->awaited, w->since - w->began);
  if (WTL_UNLIKELY(w->since - w->began >= d->no_core.long_ticks))
    wtl_door_note_no_core(d, w->since - w->began, true);
  else if (w->away)
    wtl_no_core_note_yields(&d->no_core, w->away);
  if (WTL_LIKELY(site->history.way == WTL_WAY_USUAL && is_remembered(site)))
    wtl_stages_waited(&d->stages, &site->history, limit, w->quiet);
  if (WTL_UNLIKELY(w->governed) && d->governor) wtl_governor_continue(d->governor, site, w->began, w->since);
}

static uint64_t ticks_of(const wtl_door *d, double seconds)
{
  WTL_FLOATS_APART;
  return (uint64_t)fmax(1, seconds * 1e9 / d->stages.ns_per_tick);
}

static void wait_by_rounds(wait *all, double seconds, void (*late)(void *), void *of)
{
  const uint64_t ticks = ticks_of(all->door, seconds);
  while (!all->ready(all->arg)) {
    wait w = *all;
    w.until = wtl_ticks() + ticks;
    wait_on(&w);
    all->published = w.published;
    all->began = 0; /* the next round begins at its own time */
    if (!w.ready(w.arg)) late(of);
  }
}

static void ask_overdue(void *arg)
{
  const wait *w = arg;
  const wtl_overdue *o = w->door->overdue; /* another thread may remove it */
  if (o) o->late(o->of, w->site, w->awaited);
}

/* Learns the time of a poll, in parts, unless the thread was interrupted. A much shorter time replaces the known one,
 * which was of an interrupted thread. A few ticks more or less prove nothing: some clocks have ticks that are longer
 * than a poll. */
static void learn_poll(wtl_door *d, uint64_t parts)
{
  const uint64_t few = 4 * WTL_POLL_PARTS;
  uint64_t known = atomic_load_explicit(&d->poll_parts, memory_order_relaxed);
  if (known != 0 && parts > 4 * known + few) return;
  bool replaces = known == 0 || 4 * parts + few < known;
  uint64_t next = replaces ? parts : known - known / 16 + parts / 16;
  atomic_store_explicit(&d->poll_parts, (uint32_t)smaller(next, UINT32_MAX), memory_order_relaxed);
}

/* Returns whether the first polls of a wait end it. The caller has found that the condition does not hold. */
static inline __attribute__((always_inline)) bool ends_at_once(wait *w)
{
  wtl_door *d = w->door;
  wtl_wait_history *history = &w->site->history;
  if (WTL_OS_IS_SIMULATED || d->stages.yields || d->driver.progress) return false; /* a poll is more than a look */
  if (WTL_UNLIKELY(d->governor || d->noted || wtl_door_is_in_agent())) return false;
  if (WTL_UNLIKELY(history->way != WTL_WAY_USUAL || !is_remembered(w->site))) return false;
  uint64_t poll_parts = atomic_load_explicit(&d->poll_parts, memory_order_relaxed);
  unsigned polls = 0;
  /* They cost less than a fiftieth of a sleep. So only a limit that is set may be below them, not a learned one. */
  if (!d->stages.learns && d->stages.limit_ticks <= FIRST_POLLS * poll_parts / WTL_POLL_PARTS) return false;
  uint64_t limit = wtl_stages_limit(&d->stages, history), spent;
  w->began = wtl_ticks();
  do {
    if (has_messages(d)) return false;
    if (polls++ == FIRST_POLLS) {
      learn_poll(d, (wtl_ticks() - w->began) * WTL_POLL_PARTS / FIRST_POLLS);
      return false;
    }
    wtl_relax();
  } while (!w->ready(w->arg));
  if (WTL_UNLIKELY(w->site->waits % READS_CLOCK == 0 || poll_parts == 0)) {
    spent = wtl_ticks() - w->began;
    learn_poll(d, spent * WTL_POLL_PARTS / polls);
  } else {
    spent = polls * poll_parts / WTL_POLL_PARTS;
  }
  wtl_door_add(d, w->site, WTL_STAGE_SPIN, spent, w->began + spent);
  if (w->awaited >= 0) wtl_profile_awaited(w->awaited, spent);
  wtl_stages_waited(&d->stages, history, larger(limit, spent), spent);
  return true;
}

/* Inlined, so that a wait which its first polls end fills no `wait` in memory. */
static inline __attribute__((always_inline)) void wait_once(wait *w)
{
  w->site->waits++;
  if (w->ready(w->arg)) return;
  if (ends_at_once(w)) return;
  const wtl_overdue *o = w->door->overdue;
  if (WTL_UNLIKELY(o != NULL))
    wait_by_rounds(w, o->seconds, ask_overdue, w);
  else
    wait_on(w);
  if (WTL_UNLIKELY(w->published) && w->door->live) wtl_door_unpublish(w->door);
}

void wtl_door_wait_for(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg, int pe)
{
  wait w = {.door = d, .site = site, .watch = watch, .ready = ready, .arg = arg, .awaited = pe};
  wait_once(&w);
}

void wtl_door_wait(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg)
{
  wtl_door_wait_for(d, site, watch, ready, arg, -1);
}

void wtl_door_wait_for_signal(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg)
{
  wait w = {.door = d, .site = site, .watch = watch, .ready = ready, .arg = arg, .awaited = -1, .for_signal = true};
  wait_once(&w);
}

void wtl_door_wait_on_other_core(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg)
{
  wait w = {.door = d, .site = site, .watch = watch, .ready = ready, .arg = arg, .awaited = -1, .on_other_core = true};
  wait_once(&w);
}

void wtl_door_wait_with_checks(wtl_door *d, wtl_site *site, wtl_watch watch, bool (*ready)(void *), void *arg,
                               double seconds, void (*late)(void *))
{
  wait w = {.door = d, .site = site, .watch = watch, .ready = ready, .arg = arg, .awaited = -1};
  site->waits++;
  wait_by_rounds(&w, seconds, late, arg);
  if (w.published && d->live) wtl_door_unpublish(d);
}

void wtl_door_wait_on_sleeper(wtl_door *d, wtl_site *site, const wtl_sleeper *sleeper, bool (*ready)(void *), void *arg)
{
  wait w = {
      .door = d, .site = site, .watch = WTL_WATCH_ALL, .ready = ready, .arg = arg, .awaited = -1, .sleeper = sleeper};
  wait_once(&w);
}
