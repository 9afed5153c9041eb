/* wait_by_test.c - waits for conditions that ring no doorbell, by tests and sleeps in steps (door.h). */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "govern/governor.h"
#include "govern/steps.h"
#include "os/floats.h"
#include "os/guest.h"
#include "wait/wait_time.h"
#include "wait/door.h"

/*
 * A test that takes MOVED times as long as an idle one has made progress, if it takes at least LEAST_NS.
 * A test after a sleep is also slow because caches are cold: one in twenty takes more than 2 us. The MPI library may
 * call the kernel in it, too (Open MPI every 10 ms, for 6 to 12 us). There a test must take at least LEAST_COLD_NS.
 * Even then it is only a sign: the wait polls for SURE_NS before it sleeps again. SIGNS of these, with no idle test
 * after a sleep between them, count as progress.
 */
enum { PROGRESS_FACTOR = 4, LEAST_NS = 1000, LEAST_COLD_NS = 4000, SURE_NS = 20000, SIGNS = 3 };
/* Depth 0: sleeps shorter than this. Each further depth: sleeps of up to DEEPER times the length. */
enum { SHALLOW_NS = 50000, DEEPER = 4 };
/* After progress before the first sleep, the idle time is divided by this. It is not reset to 0, since a test is
 * also slow if another process had the core meanwhile. Where data flows it soon reaches 0. */
enum { FORGOTTEN = 4 };
/* A wait is shown on the live page after this many tests, or when it is long. Other processes may have had the core. */
enum { PUBLISH_FROM = 256 };

/* Learns the duration of an idle test: quickly that it is shorter, slowly that it is longer, and most slowly from a
 * test that made progress. */
static void learn_pace(_Atomic uint32_t *pace, uint32_t now, uint32_t took, bool progressed)
{
  uint32_t next = now == 0 ? took : took < now ? now - (now - took) / 4 : now + (took - now) / (progressed ? 64 : 8);
  atomic_store_explicit(pace, next ? next : 1, memory_order_relaxed);
}

static bool has_progressed(const wtl_door *d, wtl_test_wait *t, wtl_pace *p, uint64_t took)
{
  wtl_test_result result = t->result;
  t->result = WTL_TEST_UNKNOWN;
  if (result == WTL_TEST_IDLE) t->reports_idle = true;
  if (result == WTL_TEST_PROGRESS ||
      (result == WTL_TEST_UNKNOWN && t->reports_idle)) {    /* no need to guess or to learn the duration */
    if (t->recorded - t->idle >= t->limit) t->flows = true; /* not for data that came with the call itself */
    return true;
  }
  bool cold = t->slept || t->moving_signs; /* code that only some tests run stays cold for some tests after a sleep */
  _Atomic uint32_t *pace = cold ? &p->cold[t->depth] : &p->warm;
  uint32_t usual = atomic_load_explicit(pace, memory_order_relaxed);
  uint64_t least = (uint64_t)((cold ? LEAST_COLD_NS : LEAST_NS) / d->stages.ns_per_tick);
  bool progressed = usual && took > PROGRESS_FACTOR * (uint64_t)usual && took > least;
  if (t->slept || !cold) learn_pace(pace, usual, took < UINT32_MAX ? (uint32_t)took : UINT32_MAX, progressed);
  if (!cold) return progressed;
  if (progressed && result == WTL_TEST_UNKNOWN) {
    t->awake_until = t->recorded + (uint64_t)(SURE_NS / d->stages.ns_per_tick);
    t->moving_signs = (uint8_t)((t->moving_signs + 1) % SIGNS);
    if (t->moving_signs == 0) t->flows = true;
    return t->moving_signs == 0;
  }
  if (t->slept) t->moving_signs = 0;
  return false;
}

/* Linux may prolong a sleep by 50 us. This timer slack belongs to the program, so the wait restores it at its end. */
static void take_slack(wtl_test_wait *t)
{
  if (t->slack) return;
  t->slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  if (t->slack > 0) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

/* A sleep between two tests may prolong the wait by its length and by the lateness of the timer. To prolong no wait
 * by more than a sixteenth (govern/steps.h), 16 times that must have passed before it. Where PEs outnumber cores,
 * the time in which others had the core does not count. */
enum { PATIENCE = 16 };

static void learn_price(wtl_door *d, uint64_t slept, uint64_t step)
{
  uint64_t late = slept > step ? slept - step : 0, least = wtl_steps_least(&d->stages);
  wtl_stages_learn(&d->stages, (late + least) * PATIENCE);
}

/* The longer a sleep, the more of the caches other processes have used, and the deeper the core has slept. */
static int depth_of(uint64_t ns)
{
  int depth = 0;
  for (uint64_t shorter = SHALLOW_NS; ns >= shorter && depth < WTL_DEPTHS - 1; shorter *= DEEPER) depth++;
  return depth;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* A process that is woken runs about 50 us later, and the wake-up takes its caller about ten. For a shorter sleep
 * than this, it is not worth that. */
enum { WORTH_A_WAKE_UP_NS = 250000 };
/* A wake-up without a result was for others. After it, no process may wake this one for the time waited so far
 * divided by this. So it accepts only few wake-ups, however many there are. */
enum { REFUSE_FOR = 2 };

/* Reads the time without a core before the wait, which has turned out to be long. */
static void note_long(wtl_door *d, wtl_test_wait *t)
{
  if (!t->is_read) wtl_door_note_no_core(d, t->recorded - t->began, false);
  t->is_read = true;
}

static void sleep_step(wtl_door *d, wtl_site *site, wtl_test_wait *t)
{
  WTL_AS_GUEST;
  static const wtl_wait_length unknown;
  const wtl_wait_length *length = t->flows ? &unknown : &site->length;
  uint64_t idle = t->recorded - t->idle, step = wtl_steps_next(&d->stages, length, idle), from;
  if (t->rung) t->no_wakeup_until = t->recorded + idle / REFUSE_FOR;
  bool may_wake = d->ring.node && t->recorded >= t->no_wakeup_until;
  if (may_wake && d->ring.only) step = larger(step, wtl_steps_rung(&d->stages, &site->length, idle));
  uint64_t ns = (uint64_t)((double)step * d->stages.ns_per_tick);
  struct timespec s = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  t->can_be_woken = may_wake && ns >= WORTH_A_WAKE_UP_NS;
  take_slack(t);
  from = t->recorded;
  note_long(d, t);
  if (!t->is_shown && d->live) t->is_shown = wtl_door_publish(d, site);
  if (t->may_have_progressed) wtl_wakeup_others(&d->ring);
  t->may_have_progressed = false;
  wtl_door_keep_sleep(d);
  t->rung = t->can_be_woken && wtl_wakeup_sleep(&d->ring, (double)ns * 1e-9);
  if (!t->can_be_woken) nanosleep(&s, NULL);
  wtl_door_record(d, site, WTL_STAGE_ASLEEP, &t->recorded);
  atomic_fetch_add_explicit(&d->sleeps, 1, memory_order_relaxed);
  if (t->rung) {
    atomic_fetch_add_explicit(&d->rings, 1, memory_order_relaxed);
    t->awake_until = t->recorded + (uint64_t)(SURE_NS / d->stages.ns_per_tick);
  } else {
    learn_price(d, t->recorded - from, step);
  }
  t->depth = (uint8_t)depth_of(ns);
  t->slept = true;
}

/* Notifies the governor of a wait that is longer than a moment, later of slack, and then of its expected end. */
static void notify_governor(const wtl_door *d, const wtl_site *site, wtl_test_wait *t)
{
  uint64_t after = t->governed ? 0 : wtl_governor_wait(d->governor, site, t->began);
  bool is_slack = t->governed || after <= t->recorded - t->began;
  t->governed = true;
  if (t->ends) {
    wtl_governor_ready(d->governor, t->recorded);
    after = UINT64_MAX;
  } else if (is_slack) {
    wtl_governor_slack(d->governor, t->recorded);
    after = wtl_governor_rise(d->governor, t->began, t->recorded);
    t->ends = true;
  }
  t->slack_at = after == UINT64_MAX ? UINT64_MAX : t->began + after;
}

void wtl_door_test_wait_begin(wtl_door *d, wtl_site *site, wtl_test_wait *t, uint64_t at)
{
  bool may_compute = t->may_compute;
  memset(t, 0, sizeof *t);
  t->may_compute = may_compute;
  t->idle = t->recorded = t->began = at;
  t->slack_at = d->governor && !may_compute ? t->began + d->governor->moment : UINT64_MAX;
  t->limit = wtl_stages_limit(&d->stages, &site->history);
  t->may_have_progressed = true;
  site->waits++;
  wtl_wakeup_others(&d->ring);
}

/* A process that computes keeps the core for longer than this. Processes that wait return it after some
 * microseconds. */
enum { COMPUTED_NS = 10000 };

/* Yields the core; returns true if another process computed on it. The time that others had it does not count as
 * idle. No wait sleeps while they compute: the test after each sleep would take_result the core from them. */
static bool yield_core(const wtl_door *d, wtl_test_wait *t)
{
  uint64_t from = wtl_ticks(), took;
  syscall(SYS_sched_yield); /* a direct system call: under MPI the function is ours (mpi/yield_hook.c) */
  took = wtl_ticks() - from;
  t->away += took;
  if (took > d->stages.turn_ticks) t->others_ticks += took - d->stages.turn_ticks;
  return (double)took * d->stages.ns_per_tick >= COMPUTED_NS;
}

void wtl_door_test_failed(wtl_door *d, wtl_site *site, wtl_test_wait *t, wtl_pace *pace, uint64_t took)
{
  WTL_FLOATS_APART;
  if (!t->idle) wtl_door_test_wait_begin(d, site, t, wtl_ticks());
  wtl_door_record(d, site, wtl_door_polling_stage(d), &t->recorded);
  bool is_long = t->recorded - t->began >= d->no_core.long_ticks;
  if (WTL_UNLIKELY(is_long)) note_long(d, t);
  if (WTL_UNLIKELY(t->recorded >= t->slack_at) && d->governor) notify_governor(d, site, t);
  if (has_progressed(d, t, pace, took)) {
    uint64_t idle = t->recorded - t->idle;
    if (idle > t->quiet) t->quiet = idle;
    t->idle = t->recorded - (idle < t->limit ? idle / FORGOTTEN : 0);
    t->others_ticks = 0;
    if (t->rung) wtl_steps_ended(&site->length, true); /* the wake-up had a result */
    t->rung = false;
    t->may_have_progressed = true;
    wtl_wakeup_others(&d->ring);
    if (t->flows) t->limit = d->stages.limit_ticks; /* the other waits of the site predict nothing about this one */
  } else if (t->slept && t->rung) {
    wtl_wakeup_others(&d->ring); /* each process wakes a few, so this one wakes more; the event may concern them */
  }
  t->slept = false;
  if (!t->is_shown && d->live && (is_long || ++t->turns >= PUBLISH_FROM)) t->is_shown = wtl_door_publish(d, site);
  if (d->stages.yields && yield_core(d, t)) return;
  uint64_t gone = t->recorded - t->idle;
  if (gone >= t->others_ticks && gone - t->others_ticks >= t->limit && t->recorded >= t->awake_until)
    sleep_step(d, site, t);
  else if (!d->stages.yields)
    wtl_relax();
}

void wtl_door_test_wait_end(wtl_door *d, wtl_site *site, wtl_test_wait *t, bool learn)
{
  WTL_FLOATS_APART;
  if (!t->idle) return;
  if (site) wtl_door_record(d, site, wtl_door_polling_stage(d), &t->recorded);
  if (t->slack > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)t->slack, 0, 0, 0);
  if (t->recorded - t->idle > t->quiet) t->quiet = t->recorded - t->idle;
  if (learn) {
    wtl_stages_waited(&d->stages, &site->history, t->limit, t->quiet);
    wtl_steps_waited(&site->length, t->quiet);
    if (t->rung || (t->slept && t->can_be_woken)) wtl_steps_ended(&site->length, t->rung);
  }
  if (WTL_UNLIKELY(t->recorded - t->began >= d->no_core.long_ticks))
    wtl_door_note_no_core(d, t->recorded - t->began, true);
  else if (t->away)
    wtl_no_core_note_yields(&d->no_core, t->away);
  if (WTL_UNLIKELY(t->governed) && d->governor) wtl_governor_continue(d->governor, site, t->began, t->recorded);
  if (t->is_shown && d->live) wtl_door_unpublish(d);
  t->idle = 0;
}

/* Returns the outcome of the last test, and resets it. */
static wtl_test_result take_result(wtl_test_result *result)
{
  wtl_test_result has = result ? *result : WTL_TEST_UNKNOWN;
  if (result) *result = WTL_TEST_UNKNOWN;
  return has;
}

void wtl_door_wait_by_tests(wtl_door *d, wtl_site *site, wtl_pace *pace, bool (*test)(void *), void *arg,
                            wtl_test_result *result)
{
  wtl_test_wait t = {0};
  uint64_t from;
  if (test(arg)) {
    site->waits++;
    return;
  }
  take_result(result); /* progress before the wait does not count */
  wtl_door_test_wait_begin(d, site, &t, wtl_ticks());
  while (from = wtl_ticks(), !test(arg)) {
    t.result = take_result(result);
    wtl_door_test_failed(d, site, &t, pace, wtl_ticks() - from);
  }
  wtl_door_test_wait_end(d, site, &t, true);
}
