/*
 * activity.c - reads the account of this process: from the runtime if one is registered, otherwise from the CPU clock.
 */
#include "power/activity.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "os/os.h"

/* One function for the process, as power.h says. The lock keeps the runtime's state alive during the call. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wtl_activity_fn source;
static void *source_arg;
static unsigned long long generation;

void wtl_activity_register(wtl_activity_fn fn, void *arg)
{
  pthread_mutex_lock(&lock);
  source = fn;
  source_arg = arg;
  generation++;
  pthread_mutex_unlock(&lock);
}

static double seconds(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void wtl_activity_now(wtl_account *out)
{
  out->activity = (wtl_activity){0};
  pthread_mutex_lock(&lock);
  out->generation = generation;
  out->from_runtime = source != NULL;
  if (source) source(source_arg, &out->activity);
  pthread_mutex_unlock(&lock);
  out->cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
  out->wall_s = seconds(CLOCK_MONOTONIC);
  struct rusage use;
  bool is_known = !WTL_OS_IS_SIMULATED && getrusage(RUSAGE_SELF, &use) == 0;
  out->wake_ups = is_known ? (double)use.ru_nvcsw : 0;
}

/*
 * Returns b - a. Totals that were read at slightly different moments may give a difference a little below 0, which
 * becomes 0. A difference below minus one microsecond is an error and stays.
 */
static double since(double a, double b)
{
  double d = b - a;
  return d < 0 && d > -1e-6 ? 0 : d;
}

static void off_between(const wtl_activity *p, const wtl_activity *q, wtl_activity *out)
{
  out->off.active_s = since(p->off.active_s, q->off.active_s);
  out->off.spin_s = since(p->off.spin_s, q->off.spin_s);
  out->off.yield_s = since(p->off.yield_s, q->off.yield_s);
  out->off.asleep_s = since(p->off.asleep_s, q->off.asleep_s);
  out->off.active_clock = since(p->off.active_clock, q->off.active_clock);
  out->off.wait_clock = since(p->off.wait_clock, q->off.wait_clock);
}

void wtl_activity_between(const wtl_account *a, const wtl_account *b, wtl_activity *out)
{
  if (a->from_runtime && b->from_runtime && a->generation == b->generation) {
    const wtl_activity *p = &a->activity, *q = &b->activity;
    *out = (wtl_activity){.wall_s = since(p->wall_s, q->wall_s),
                          .active_s = since(p->active_s, q->active_s),
                          .spin_s = since(p->spin_s, q->spin_s),
                          .yield_s = since(p->yield_s, q->yield_s),
                          .asleep_s = since(p->asleep_s, q->asleep_s),
                          .bytes = since(p->bytes, q->bytes),
                          .wake_ups = since(a->wake_ups, b->wake_ups)};
    off_between(p, q, out);
    return;
  }
  /*
   * There was no runtime at one of the marks, or another one. The CPU clock covers the whole interval, but not the
   * states.
   */
  double wall = since(a->wall_s, b->wall_s), cpu = since(a->cpu_s, b->cpu_s);
  double threads_or_wall = cpu > wall ? cpu : wall; /* several threads may have more CPU seconds than wall seconds */
  *out = (wtl_activity){
      .wall_s = wall, .active_s = cpu, .asleep_s = threads_or_wall - cpu, .wake_ups = since(a->wake_ups, b->wake_ups)};
}
