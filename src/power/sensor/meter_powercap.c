/*
 * meter_powercap.c - the Linux powercap sensors (Intel RAPL by MSR, MMIO or TPMI; AMD), SYSFS/class/powercap.
 *
 * DESIGN. `lock` guards the counters of the zones. The background reader and the callers hold it during every reading.
 * The uncertainty of a figure between two marks (half-width) has these parts:
 *   5 % of the joules       the sensor's own error, which is systematic (assumed, because no maker states one)
 *   1.5 ms x mean watts     readings fall between updates about 1 ms apart, at both ends
 *   excess                  joules that gaps and uncertain wraps may have hidden
 *   limit x unread ends     ends of the interval at which the sensor could not be read
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/os.h"
#include "os/floats.h"
#include "power/figure.h"
#include "power/meter.h"
#include "power/sensor/powercap_zones.h"
#include "power/sensor/watt_limit.h"

static const double GAIN_ERROR = 0.05;
static const double EDGE_S = 0.0015;

typedef struct powercap {
  const wtl_sys *sys;
  pthread_mutex_t lock;
  pthread_cond_t stop_bell;
  pthread_t reader;
  bool has_reader, stop;
  double period_s;
  size_t n;
  wtl_zone zone[WTL_MAX_DOMAINS];
} powercap;

static void read_zones(powercap *p)
{
  for (size_t i = 0; i < p->n; i++) wtl_zone_read(&p->zone[i], p->sys);
}

/* Reads often enough that no counter can wrap twice between readings. */
static void *background(void *arg)
{
  WTL_FLOATS_APART;
  powercap *p = arg;
  pthread_mutex_lock(&p->lock);
  while (!p->stop) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double at = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + p->period_s;
    until.tv_sec = (time_t)at;
    until.tv_nsec = (long)((at - floor(at)) * 1e9);
    if (pthread_cond_timedwait(&p->stop_bell, &p->lock, &until) == ETIMEDOUT) read_zones(p);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

static void start_reader(powercap *p)
{
  p->period_s = 3600;
  for (size_t i = 0; i < p->n; i++) p->period_s = fmin(p->period_s, wtl_counter_period(&p->zone[i].counter));
  p->period_s = fmax(p->period_s, 0.1);
  if (!p->sys->background) return;
  /* If the thread cannot start, long gaps appear as gaps. */
  p->has_reader = wtl_thread_start(&p->reader, NULL, background, p) == 0;
}

/* Each line is a command, or a remark after '#'. Access is given to a group of trusted people, never to all users. */
static const char SAFE_GRANT[] =
    "sudo groupadd --system power && sudo usermod -aG power NAME   # NAME: a trusted user, who then logs in again\n"
    "printf 'z /sys/devices/virtual/powercap/%s/energy_uj 0440 root power\\n' '*/*' '*/*/*' | "
    "sudo tee /etc/tmpfiles.d/wattle.conf   # applied at every boot\n"
    "sudo systemd-tmpfiles --create /etc/tmpfiles.d/wattle.conf\n"
    "# or give one program CAP_DAC_READ_SEARCH, which reads any file (CAP_PERFMON opens perf's events only: not read "
    "here)\n"
    "# never open it to all users: energy counters leak what other programs compute, keys included (PLATYPUS, "
    "CVE-2020-8694)";

/* Containers hide /sys/devices/virtual/powercap, and the links to it stay (moby since 24.0.7, CVE-2020-8694). */
static const char CONTAINER_GRANT[] =
    "# in a container: mount the host's files, docker run -v /sys:/host/sys:ro -e WATTLE_SYSFS=/host/sys, or do not "
    "hide them, --security-opt systempaths=unconfined; only its root, or a user who may read them on the host, can "
    "read them";

static void set_reason(const wtl_meter_env *env, const powercap *p, const wtl_powercap_found *found, char *why,
                       size_t why_size, char *grant, size_t grant_size)
{
  const wtl_zone *z = NULL;
  for (size_t i = 0; i < p->n && !z; i++)
    if (p->zone[i].error) z = &p->zone[i];
  if (p->n == 0 && found->hidden > 0) {
    snprintf(why, why_size, "the zones under %s/class/powercap are links to hidden folders (a container)", env->sysfs);
    snprintf(grant, grant_size, "%s", CONTAINER_GRANT);
  } else if (p->n == 0) {
    snprintf(why, why_size,
             "no zone of a known name under %s/class/powercap (a virtual machine, or no RAPL driver loaded)",
             env->sysfs);
  } else if (z) {
    snprintf(why, why_size, "cannot read %s: %s", z->path, wtl_sys_error_text(z->error));
  } else if (found->left_out > 0) {
    snprintf(why, why_size, "%zu more zones are not read, because a meter has at most %d domains", found->left_out,
             (int)WTL_MAX_DOMAINS);
  }
  if (z && (z->error == EACCES || z->error == EPERM)) snprintf(grant, grant_size, "%s", SAFE_GRANT);
}

/*
 * Do all counters stay at 0? Counters that a virtual machine shows but does not update do. Real ones are above 0, or
 * soon will be.
 */
static bool are_all_zero(powercap *p)
{
  bool moves = false;
  for (int attempt = 0; attempt < 10 && !moves; attempt++) {
    if (attempt > 0) p->sys->sleep(p->sys->arg, 0.002); /* counters are updated about once a millisecond */
    if (attempt > 0) read_zones(p);
    for (size_t i = 0; i < p->n && !moves; i++) moves = p->zone[i].counter.have && p->zone[i].counter.raw > 0;
  }
  return !moves;
}

static size_t readable_top(const powercap *p)
{
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) n += !p->zone[i].domain.nested && p->zone[i].counter.have;
  return n;
}

static void powercap_close(void *state)
{
  powercap *p = state;
  if (p->has_reader) {
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->stop_bell);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->reader, NULL);
  }
  pthread_cond_destroy(&p->stop_bell);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

static void *powercap_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  powercap *p = calloc(1, sizeof *p);
  if (!p) {
    snprintf(why, why_size, "out of memory");
    return NULL;
  }
  p->sys = env->sys;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&p->stop_bell, &monotonic);
  pthread_condattr_destroy(&monotonic);
  wtl_powercap_found found = wtl_powercap_find(env, p->zone, WTL_MAX_DOMAINS);
  p->n = wtl_powercap_drop_mirrors(p->zone, found.n, p->sys);
  read_zones(p);
  set_reason(env, p, &found, why, why_size, grant, grant_size);
  bool readable = readable_top(p) > 0, works = readable && !are_all_zero(p);
  if (readable && !works)
    snprintf(why, why_size, "the counters under %s/class/powercap stand at 0 (a virtual machine without sensors?)",
             env->sysfs);
  if (!works) {
    powercap_close(p);
    return NULL;
  }
  start_reader(p);
  return p;
}

static size_t powercap_domains(void *state, wtl_domain out[WTL_MAX_DOMAINS])
{
  powercap *p = state;
  pthread_mutex_lock(&p->lock);
  for (size_t i = 0; i < p->n; i++) {
    out[i] = p->zone[i].domain;
    out[i].available = p->zone[i].error == 0;
  }
  pthread_mutex_unlock(&p->lock);
  return p->n;
}

static void powercap_read(void *state, wtl_mark *mark)
{
  powercap *p = state;
  pthread_mutex_lock(&p->lock);
  read_zones(p);
  for (size_t i = 0; i < p->n; i++) {
    const wtl_counter *c = &p->zone[i].counter;
    double known_s = c->good_at - c->first_at;
    mark->point[i] =
        (wtl_point){.uj = c->uj,
                    .ok = p->zone[i].error == 0,
                    .excess_j = c->excess_j,
                    .good_at = c->have ? c->good_at : NAN,
                    .covered_s = c->covered_s,
                    .watts = c->have && c->uj > 0 && known_s > 0.01 ? 1e-6 * (double)c->uj / known_s : NAN};
  }
  mark->at = p->sys->now(p->sys->arg);
  pthread_mutex_unlock(&p->lock);
}

/* Returns the seconds between the last good reading and a mark that could not be read; 0 if the mark could be read. */
static double unread(const wtl_point *p, double at)
{
  return p->ok || isnan(p->good_at) ? 0 : at - p->good_at;
}

static void figure(const wtl_zone *z, double begin, double end, const wtl_point *a, const wtl_point *b,
                   wattle_joules_t *out, double *random)
{
  double interval = end - begin;
  wtl_figure_none(out, z->domain.name, z->domain.scope, interval);
  out->nested = z->domain.nested;
  snprintf(out->source, sizeof out->source, "powercap %s", z->id);
  if (!b->ok && !(b->good_at > begin)) return; /* no reading since the interval began: unavailable, not zero */
  double joules = 1e-6 * (double)(b->uj - a->uj), excess = b->excess_j - a->excess_j;
  double lead = unread(a, begin), tail = unread(b, end), covered = interval;
  double watts = isnan(b->watts) ? z->counter.limit_w : fmax(b->watts, interval > 0.01 ? joules / interval : 0);
  if (!a->ok || !b->ok || excess > 0) covered = fmax(0, fmin(b->covered_s - a->covered_s - lead, interval - tail));
  double unknown_s = isnan(a->good_at) ? interval - covered : lead + tail;
  out->provenance = WATTLE_MEASURED;
  out->joules = joules;
  *random = EDGE_S * watts;
  out->uncertainty = GAIN_ERROR * joules + *random + excess + z->counter.limit_w * unknown_s;
  out->covered_s = covered;
}

static void powercap_between(void *state, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                             wattle_joules_t *out, double *random)
{
  (void)did;
  powercap *p = state; /* no lock: figure() reads only members that are constant while the meter is open */
  for (size_t i = 0; i < p->n; i++) figure(&p->zone[i], a->at, b->at, &a->point[i], &b->point[i], &out[i], &random[i]);
}

static void powercap_remark(void *state, char *text, size_t size)
{
  powercap *p = state;
  *text = '\0';
  pthread_mutex_lock(&p->lock);
  for (size_t i = 0; i < p->n; i++) {
    const wtl_counter *c = &p->zone[i].counter;
    wtl_watt_limit_remark(text, size, p->zone[i].domain.name, c->refused, c->limit_w);
  }
  pthread_mutex_unlock(&p->lock);
}

const wtl_meter_ops wtl_meter_powercap = {.name = "powercap",
                                          .open = powercap_open,
                                          .close = powercap_close,
                                          .domains = powercap_domains,
                                          .read = powercap_read,
                                          .between = powercap_between,
                                          .remark = powercap_remark,
                                          .measures = true};
