/* gauge.c - reads gauges, sums their joules, and computes figures with gaps and uncertainty. */
#include "power/gauge.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "power/figure.h"

static const double GAIN_ERROR = 0.05;
/* Interval between readings of watts. Sensors of power average over 50 ms and more. */
enum { READ_EVERY_MS = 100 };
/*
 * The process that writes a sensor's file may stop while the file stays. A reading is too old after this many missed
 * updates. The sensor's clock may differ from ours by one part in a thousand.
 */
static const double MISSED_UPDATES = 5, CLOCKS_APART = 1e-3;

struct wtl_gauge_reader {
  pthread_mutex_t lock; /* guards the gauges; held by the thread that reads them */
  pthread_cond_t stop_bell;
  pthread_t thread;
  bool runs, stop;
};

int wtl_gauge_number(const wtl_sys *sys, const char *path, double *number)
{
  char text[64], *end;
  int n = sys->read_file(sys->arg, path, text, sizeof text);
  if (n < 0) return -n;
  *number = strtod(text, &end);
  return end == text || !isfinite(*number) ? EBADMSG : 0;
}

wtl_gauge *wtl_gauge_add(wtl_gauges *set, const wtl_domain *domain)
{
  if (set->n == WTL_MAX_DOMAINS) return NULL;
  wtl_gauge *g = &set->gauge[set->n++];
  *g = (wtl_gauge){.domain = *domain, .fd = -1, .unit = 1, .stamp = NAN};
  return g;
}

static void take_joules(wtl_gauge *g, double value, double at)
{
  if (g->have && value >= g->value) {
    double over_s = fmax(at - g->at, g->step_s); /* one update contains the joules of a whole step */
    g->joules += value - g->value;
    g->covered_s += at - g->at;
    if (over_s > 0) g->most_w = fmax(g->most_w, (value - g->value) / over_s);
  } else if (g->have) { /* the counter started anew; its count until then is lost */
    g->uncertainty_j += g->most_w * (at - g->at);
  }
}

static void take_watts(wtl_gauge *g, double value, double at, bool was_read)
{
  g->most_w = fmax(g->most_w, value);
  if (!g->have) return;
  double between = at - g->at;
  if (!was_read) { /* the time since the last reading has no value */
    g->uncertainty_j += g->most_w * between;
    return;
  }
  g->joules += between * (value + g->value) / 2;
  g->uncertainty_j += between * fabs(value - g->value) / 2;
  g->covered_s += between;
}

static bool is_late(const wtl_gauge *g, double missing_s, double since_s)
{
  return missing_s > fmax(MISSED_UPDATES * g->step_s, CLOCKS_APART * since_s);
}

/* Returns the moment of a reading, at most `at`. The sensor's own stamps are used if they show that it is late. */
static double taken_at(const wtl_gauge *g, double stamp_before, double at)
{
  double since_s = at - g->at, stamped_s = g->stamp - stamp_before;
  return g->have && stamped_s > 0 && is_late(g, since_s - stamped_s, since_s) ? g->at + stamped_s : at;
}

static void read_gauge(wtl_gauges *set, wtl_gauge *g)
{
  double counts, now = set->sys->now(set->sys->arg), stamp_before = g->stamp, at = now;
  int error = set->kind->read(set, g, &counts);
  if (error == EAGAIN) {
    if (is_late(g, now - g->at, 0)) g->error = ETIME;
    return;
  }
  if (!error && !(counts >= 0)) error = EBADMSG; /* some sensors report -1 for an unknown value */
  if (!error) {
    double value = counts * g->unit;
    at = taken_at(g, stamp_before, now);
    if (g->is_watts)
      take_watts(g, value, at, g->error == 0);
    else
      take_joules(g, value, at);
    if (!g->have) g->first_at = at;
    g->have = true;
    g->value = value;
    g->at = at;
  }
  g->error = at < now ? ETIME : error;
}

static void read_all(wtl_gauges *set)
{
  for (size_t i = 0; i < set->n; i++) read_gauge(set, &set->gauge[i]);
}

static void *background(void *arg)
{
  wtl_gauges *set = arg;
  struct wtl_gauge_reader *r = set->reader;
  pthread_mutex_lock(&r->lock);
  while (!r->stop) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += READ_EVERY_MS * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&r->stop_bell, &r->lock, &until) == ETIMEDOUT) read_all(set);
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

/*
 * Starts the thread that reads watts. Joules need no thread, because their counters keep the sum. The thread blocks all
 * signals, which belong to the program.
 */
static void start_reader(wtl_gauges *set)
{
  bool needed = false;
  pthread_condattr_t monotonic;
  sigset_t all, old;
  for (size_t i = 0; i < set->n; i++) needed |= set->gauge[i].is_watts;
  pthread_mutex_init(&set->reader->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&set->reader->stop_bell, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (!needed || !set->sys->background) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  set->reader->runs = pthread_create(&set->reader->thread, NULL, background, set) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void wtl_gauges_close(void *state)
{
  wtl_gauges *set = state;
  if (set->reader && set->reader->runs) {
    pthread_mutex_lock(&set->reader->lock);
    set->reader->stop = true;
    pthread_cond_signal(&set->reader->stop_bell);
    pthread_mutex_unlock(&set->reader->lock);
    pthread_join(set->reader->thread, NULL);
  }
  if (set->reader) {
    pthread_cond_destroy(&set->reader->stop_bell);
    pthread_mutex_destroy(&set->reader->lock);
  }
  for (size_t i = 0; i < set->n; i++)
    if (set->gauge[i].fd >= 0) close(set->gauge[i].fd);
  if (set->kind->drop) set->kind->drop(set);
  free(set->reader);
  free(set);
}

static bool any_top_level(const wtl_gauges *set)
{
  for (size_t i = 0; i < set->n; i++)
    if (set->gauge[i].have && !set->gauge[i].domain.nested) return true;
  return false;
}

void *wtl_gauges_open(const wtl_gauge_kind *kind, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size)
{
  wtl_gauges *set = calloc(1, sizeof *set);
  struct wtl_gauge_reader *reader = calloc(1, sizeof *reader);
  if (!set || !reader) {
    snprintf(why, why_size, "out of memory");
    free(reader);
    free(set);
    return NULL;
  }
  set->kind = kind;
  set->sys = env->sys;
  kind->find(set, env, why, why_size, grant, grant_size);
  read_all(set);
  for (size_t i = 0; i < set->n && !*why; i++)
    if (set->gauge[i].error)
      snprintf(why, why_size, "cannot read %s: %s", set->gauge[i].source,
               set->gauge[i].error == EBADMSG ? "not a number" : strerror(set->gauge[i].error));
  if (!any_top_level(set)) {
    if (!*why) snprintf(why, why_size, "%s: no sensor of a package, of memory or of the node can be read", kind->name);
    free(reader);
    wtl_gauges_close(set);
    return NULL;
  }
  set->reader = reader;
  start_reader(set);
  return set;
}

size_t wtl_gauges_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  wtl_gauges *set = state;
  pthread_mutex_lock(&set->reader->lock);
  for (size_t i = 0; i < set->n; i++) {
    out[i] = set->gauge[i].domain;
    out[i].available = set->gauge[i].error == 0;
  }
  pthread_mutex_unlock(&set->reader->lock);
  return set->n;
}

void wtl_gauges_read(void *state, wtl_mark *mark)
{
  wtl_gauges *set = state;
  pthread_mutex_lock(&set->reader->lock);
  read_all(set);
  for (size_t i = 0; i < set->n; i++) {
    const wtl_gauge *g = &set->gauge[i];
    double known_s = g->at - g->first_at;
    mark->point[i] = (wtl_point){.uj = (uint64_t)llround(1e6 * g->joules),
                                 .ok = g->error == 0,
                                 .excess_j = g->uncertainty_j,
                                 .good_at = g->have ? g->at : NAN,
                                 .covered_s = g->covered_s,
                                 .watts = g->watts > 0                ? g->watts
                                          : g->have && known_s > 0.01 ? g->joules / known_s
                                                                      : NAN};
  }
  mark->at = set->sys->now(set->sys->arg);
  pthread_mutex_unlock(&set->reader->lock);
}

/*
 * Returns the watts at the ends of an interval, where readings fall between two updates. An interval shorter than a
 * step may contain no update, or one with the joules of a whole step.
 */
static double watts_at_ends(const wtl_gauge *g, const wtl_point *a, const wtl_point *b, double joules, double interval)
{
  double over_s = g->is_watts ? interval : fmax(interval, g->step_s);
  double known = g->watts > 0 ? fmax(a->watts, b->watts) : b->watts;
  if (isnan(known)) return g->most_w;
  return fmax(known, over_s > 0 ? joules / over_s : 0);
}

/* Computes the figure of gauge `i` between two marks. */
static void figure(const wtl_gauges *set, size_t i, const wtl_mark *begin, const wtl_mark *end, wattle_joules_t *out,
                   double *random)
{
  const wtl_gauge *g = &set->gauge[i];
  const wtl_point *a = &begin->point[i], *b = &end->point[i];
  double interval = end->at - begin->at, joules = 1e-6 * (double)(b->uj - a->uj);
  wtl_figure_none(out, g->domain.name, g->domain.scope, interval);
  out->nested = g->domain.nested;
  snprintf(out->source, sizeof out->source, "%s %.80s", set->kind->name, g->source);
  if (!(b->good_at > begin->at) && !b->ok) return; /* no reading since the interval began */
  double counted_s = b->covered_s - a->covered_s, unread = b->ok ? 0 : end->at - b->good_at;
  double missing_s = b->good_at - a->good_at - counted_s; /* readings are a little before their marks */
  out->provenance = WATTLE_MEASURED;
  out->joules = joules;
  *random = g->step_s * watts_at_ends(g, a, b, joules, interval) + (g->is_watts ? 0 : g->unit);
  out->uncertainty = GAIN_ERROR * joules + *random + (b->excess_j - a->excess_j) + unread * g->most_w;
  out->covered_s = a->ok && b->ok && missing_s < 1e-6 ? interval : fmin(counted_s, interval);
}

void wtl_gauges_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                        wattle_joules_t *out, double *random)
{
  wtl_gauges *set = state;
  (void)did;
  pthread_mutex_lock(&set->reader->lock); /* most_w changes */
  for (size_t i = 0; i < set->n; i++) figure(set, i, a, b, &out[i], &random[i]);
  pthread_mutex_unlock(&set->reader->lock);
}
