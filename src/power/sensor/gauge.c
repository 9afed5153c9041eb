/* gauge.c - reads gauges, sums their joules, and computes figures with gaps and uncertainty. */
#include "power/sensor/gauge.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/floats.h"
#include "os/locale.h"
#include "power/figure.h"
#include "power/sensor/mirror.h"
#include "power/sensor/watt_limit.h"

static const double GAIN_ERROR = 0.05;
/* Interval between readings of watts. Sensors of power average over 50 ms and more. */
enum { READ_EVERY_MS = 100 };
/* Reading a GPU may take milliseconds. The pause between two readings is at least so many times as long. */
enum { PAUSES = 50 };
/*
 * Interval between lists of an accelerator's processes. The beginning and the end of a process's use are not known
 * better than that.
 */
enum { LIST_EVERY_MS = 1000 };
/*
 * The process that writes a sensor's file may stop while the file stays. A reading is too old after this many missed
 * updates. The sensor's clock may differ from ours by one part in a thousand.
 */
static const double MISSED_UPDATES = 5, CLOCKS_APART = 1e-3;

struct wtl_gauge_reader {
  pthread_mutex_t lock; /* guards the gauges; held by the thread that reads them */
  pthread_cond_t stop_bell;
  pthread_t thread;
  int every_ms;
  bool runs, stop, has_watts;
};

int wtl_gauge_number(const wtl_sys *sys, const char *path, double *number)
{
  WTL_LOCALE_APART;
  char text[64], *end;
  int n = sys->read_file(sys->arg, path, text, sizeof text);
  if (n < 0) return -n;
  *number = strtod(text, &end);
  return end == text || !isfinite(*number) ? EBADMSG : 0;
}

wtl_gauge *wtl_gauge_add(wtl_gauges *set, const wtl_domain *domain)
{
  if (set->n == WTL_MAX_DOMAINS) {
    set->left_out++;
    return NULL;
  }
  wtl_gauge *g = &set->gauge[set->n++];
  *g = (wtl_gauge){
      .domain = *domain, .fd = -1, .unit = 1, .stamp = NAN, .limit_w = wtl_watt_limit_default(domain->scope)};
  return g;
}

static void drop_gauge(wtl_gauges *set, size_t i)
{
  if (set->gauge[i].fd >= 0) close(set->gauge[i].fd);
  memmove(&set->gauge[i], &set->gauge[i + 1], (set->n - i - 1) * sizeof set->gauge[0]);
  set->n--;
}

typedef struct pair {
  wtl_gauges *set;
  wtl_gauge *gauge[2];
} pair;

static bool read_of_pair(void *arg, size_t which, int64_t *value)
{
  pair *p = arg;
  double counts;
  if (p->set->kind->read(p->set, p->gauge[which], &counts) != 0 || !(counts >= 0 && counts < 0x1p62)) return false;
  *value = (int64_t)counts;
  return true;
}

void wtl_gauges_drop_mirrors(wtl_gauges *set, bool (*may_mirror)(const wtl_gauge *a, const wtl_gauge *b))
{
  for (size_t i = 0; i < set->n; i++)
    for (size_t j = i + 1; j < set->n;) {
      pair p = {set, {&set->gauge[i], &set->gauge[j]}};
      if (may_mirror(p.gauge[0], p.gauge[1]) && wtl_mirror_found(set->sys, read_of_pair, &p, 0))
        drop_gauge(set, j);
      else
        j++;
    }
}

/* Takes joules. Returns 0, or ERANGE if the step is impossible. */
static int take_joules(wtl_gauge *g, double value, double at)
{
  wtl_counter *c = &g->counter;
  double joules_before = g->joules;
  if (!(value < 1e13)) { /* more microjoules than 64 bits hold */
    g->refused++;
    return ERANGE;
  }
  c->limit_w = g->limit_w;
  c->update_s = g->step_s;
  if (!wtl_counter_take(c, (uint64_t)llround(1e6 * value), at)) return ERANGE;
  g->joules = 1e-6 * (double)c->uj;
  g->uncertainty_j = c->excess_j;
  g->covered_s = c->covered_s;
  double over_s = fmax(at - g->at, g->step_s); /* one update contains the joules of a whole step */
  if (g->have && over_s > 0) g->most_w = fmax(g->most_w, (g->joules - joules_before) / over_s);
  return 0;
}

/* Takes watts. Returns 0, or ERANGE if they are impossible. `was_read`: the reading before was good. */
static int take_watts(wtl_gauge *g, double value, double at, bool was_read)
{
  if (value > g->limit_w) {
    g->refused++;
    return ERANGE;
  }
  g->most_w = fmax(g->most_w, value);
  if (!g->have) return 0;
  double between = at - g->at;
  if (!was_read) { /* the time since the last reading has no value */
    g->uncertainty_j += g->most_w * between;
    return 0;
  }
  g->joules += between * (value + g->value) / 2;
  g->uncertainty_j += between * fabs(value - g->value) / 2;
  g->covered_s += between;
  return 0;
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

static bool has_users(const wtl_gauges *set, const wtl_gauge *g)
{
  return set->kind->users && g->domain.scope == WATTLE_SCOPE_DEVICE;
}

/* Lists the processes of an accelerator, unless that was done just before. `now`: in any case. */
static void list_users(wtl_gauges *set, wtl_gauge *g, bool now)
{
  int64_t pid[WTL_USE_LIST];
  double at = set->sys->now(set->sys->arg);
  if (!has_users(set, g) || !g->have) return;
  if (!now && g->use.begun && at - g->use.at < 0.9e-3 * LIST_EVERY_MS) return;
  size_t n = set->kind->users(set, g, pid, WTL_USE_LIST);
  wtl_use_account_take(&g->use, g->joules, at, pid, n);
}

static void read_gauge(wtl_gauges *set, wtl_gauge *g)
{
  double counts = 0, now = set->sys->now(set->sys->arg), stamp_before = g->stamp, at = now;
  int error = set->kind->read(set, g, &counts);
  if (error == EAGAIN) {
    if (is_late(g, now - g->at, 0)) g->error = ETIME;
    return;
  }
  if (!error && !(counts >= 0)) error = EBADMSG; /* some sensors report -1 for an unknown value */
  if (g->watts > g->limit_w) g->watts = 0;
  double value = counts * g->unit;
  if (!error) {
    at = taken_at(g, stamp_before, now);
    error = g->is_watts ? take_watts(g, value, at, g->error == 0) : take_joules(g, value, at);
  }
  if (!error) {
    if (!g->have) g->first_at = at;
    g->have = true;
    g->value = value;
    g->at = at;
  }
  g->error = !error && at < now ? ETIME : error;
}

static void read_all(wtl_gauges *set)
{
  for (size_t i = 0; i < set->n; i++) {
    read_gauge(set, &set->gauge[i]);
    list_users(set, &set->gauge[i], false);
  }
}

static int64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *background(void *arg)
{
  WTL_FLOATS_APART;
  wtl_gauges *set = arg;
  struct wtl_gauge_reader *r = set->reader;
  int64_t pause_ns = r->every_ms * (int64_t)1000000;
  pthread_mutex_lock(&r->lock);
  while (!r->stop) {
    int64_t until = now_ns() + pause_ns;
    struct timespec at = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    if (pthread_cond_timedwait(&r->stop_bell, &r->lock, &at) != ETIMEDOUT) continue;
    read_all(set);
    pause_ns = r->every_ms * (int64_t)1000000;
    if (!r->has_watts && PAUSES * (now_ns() - until) > pause_ns) pause_ns = PAUSES * (now_ns() - until);
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

/*
 * Starts the thread that reads watts and lists the processes of accelerators. Joules need no thread, because their
 * counters keep the sum. The thread blocks all signals, which belong to the program.
 */
static void start_reader(wtl_gauges *set)
{
  bool lists = false;
  pthread_condattr_t monotonic;
  sigset_t all, old;
  for (size_t i = 0; i < set->n; i++) {
    set->reader->has_watts |= set->gauge[i].is_watts;
    lists |= has_users(set, &set->gauge[i]);
  }
  set->reader->every_ms = set->reader->has_watts ? READ_EVERY_MS : LIST_EVERY_MS;
  pthread_mutex_init(&set->reader->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&set->reader->stop_bell, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (!(set->reader->has_watts || lists) || !set->sys->background) return;
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
  for (size_t i = 0; i < set->n; i++) {
    if (set->gauge[i].fd >= 0) close(set->gauge[i].fd);
    wtl_use_account_free(&set->gauge[i].use);
  }
  if (set->kind->drop) set->kind->drop(set);
  free(set->reader);
  free(set);
}

/* Can a domain be read that counts by itself, or an accelerator? */
static bool is_useful(const wtl_gauges *set)
{
  for (size_t i = 0; i < set->n; i++) {
    const wtl_domain *d = &set->gauge[i].domain;
    if (set->gauge[i].have && (!d->nested || d->scope == WATTLE_SCOPE_DEVICE)) return true;
  }
  return false;
}

/* Says which gauges cannot be read, and how access is given. */
static void explain_errors(const wtl_gauges *set, char *why, size_t why_size, char *grant, size_t grant_size)
{
  size_t failed = 0;
  const wtl_gauge *first = NULL;
  for (size_t i = 0; i < set->n; i++) {
    if (set->gauge[i].error && !first) first = &set->gauge[i];
    failed += set->gauge[i].error != 0;
  }
  if (first && !*why)
    snprintf(why, why_size, "cannot read %s: %s%s", *first->path ? first->path : first->source,
             wtl_sys_error_text(first->error), failed > 1 ? ", and others" : "");
  else if (set->left_out > 0 && !*why)
    snprintf(why, why_size, "%zu more domains are not read, because a meter has at most %d", set->left_out,
             (int)WTL_MAX_DOMAINS);
  bool is_refused = first && (first->error == EACCES || first->error == EPERM);
  if (is_refused && set->kind->grant && !*grant) snprintf(grant, grant_size, "%s", set->kind->grant);
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
  explain_errors(set, why, why_size, grant, grant_size);
  if (!is_useful(set)) {
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
  /* The first step of a counter may contain joules from before the interval. */
  double lead = a->ok || g->is_watts || isnan(a->good_at) ? 0 : begin->at - a->good_at;
  double missing_s = b->good_at - a->good_at - counted_s; /* readings are a little before their marks */
  out->provenance = WATTLE_MEASURED;
  out->joules = joules;
  *random = g->step_s * watts_at_ends(g, a, b, joules, interval) + (g->is_watts ? 0 : g->unit);
  out->uncertainty = GAIN_ERROR * joules + *random + (b->excess_j - a->excess_j) + (lead + unread) * g->most_w;
  out->covered_s = a->ok && b->ok && missing_s < 1e-6 ? interval : fmax(0, fmin(counted_s - lead, interval - unread));
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

void wtl_gauges_remark(void *state, char *text, size_t size)
{
  wtl_gauges *set = state;
  *text = '\0';
  pthread_mutex_lock(&set->reader->lock);
  for (size_t i = 0; i < set->n; i++) {
    const wtl_gauge *g = &set->gauge[i];
    wtl_watt_limit_remark(text, size, g->domain.name, g->refused + g->counter.refused, g->limit_w);
  }
  pthread_mutex_unlock(&set->reader->lock);
}

void wtl_gauges_start_use(void *state)
{
  wtl_gauges *set = state;
  pthread_mutex_lock(&set->reader->lock);
  for (size_t i = 0; i < set->n; i++) {
    list_users(set, &set->gauge[i], true);
    wtl_use_account_start(&set->gauge[i].use);
  }
  pthread_mutex_unlock(&set->reader->lock);
}

size_t wtl_gauges_used(void *state, size_t d, wtl_used *out, size_t max)
{
  wtl_gauges *set = state;
  wtl_gauge *g = &set->gauge[d];
  if (!has_users(set, g)) return WTL_USE_UNKNOWN;
  pthread_mutex_lock(&set->reader->lock);
  list_users(set, g, true);
  size_t n = g->use.n < max ? g->use.n : max;
  if (n) memcpy(out, g->use.used, n * sizeof *out);
  pthread_mutex_unlock(&set->reader->lock);
  return n;
}
