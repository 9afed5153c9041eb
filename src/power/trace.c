/* trace.c - reads a meter at a fixed interval and keeps its watts, see trace.h. */
#include "power/trace.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "os/floats.h"
#include "os/os.h"

/* The pause after a reading is at least so many times its length. */
static const double pauses = 20;

/* The trace of a domain. */
typedef struct line {
  wtl_watts *point; /* NULL: not traced */
  size_t n;
  uint64_t least_ns; /* least length of a point */
  bool have;         /* there is a reading to continue from */
  uint64_t uj, at_ns;
} line;

struct wtl_power_trace {
  void (*read)(void *arg, wtl_mark *mark);
  void *arg;
  double every_s;
  size_t n;
  line line[WTL_MAX_DOMAINS];
  pthread_mutex_t lock;
  pthread_cond_t stop_bell;
  pthread_t thread;
  bool runs, stop;
};

wtl_power_trace *wtl_power_trace_make(const bool *wanted, size_t n, double every_s)
{
  wtl_power_trace *t = calloc(1, sizeof *t);
  size_t traced = 0;
  if (!t) return NULL;
  t->n = n;
  t->every_s = every_s;
  for (size_t d = 0; d < n; d++) {
    if (!wanted[d]) continue;
    t->line[d].point = calloc(WTL_POWER_TRACE_POINTS, sizeof *t->line[d].point);
    t->line[d].least_ns = (uint64_t)llround(every_s * 1e9);
    traced += t->line[d].point != NULL;
  }
  if (traced) return t;
  free(t);
  return NULL;
}

/* Makes one point of each two neighbours. */
static void halve(line *l)
{
  for (size_t i = 0; i < l->n / 2; i++) {
    wtl_watts a = l->point[2 * i], b = l->point[2 * i + 1];
    double first = (double)(a.end_ns - a.begin_ns), second = (double)(b.end_ns - b.begin_ns);
    double watts = (a.watts * first + b.watts * second) / (first + second);
    l->point[i] = (wtl_watts){.begin_ns = a.begin_ns, .end_ns = b.end_ns, .watts = watts};
  }
  l->n /= 2;
  l->least_ns *= 2;
}

static void take(line *l, const wtl_point *p, uint64_t now_ns)
{
  if (!p->ok) {
    l->have = false;
    return;
  }
  /* A thread that was late may be followed by one in time: nine tenths of the interval are enough. */
  if (l->have && (p->uj <= l->uj || now_ns <= l->at_ns || 10 * (now_ns - l->at_ns) < 9 * l->least_ns)) return;
  if (l->have) {
    if (l->n == WTL_POWER_TRACE_POINTS) halve(l);
    double watts = 1e3 * (double)(p->uj - l->uj) / (double)(now_ns - l->at_ns); /* uJ over ns */
    l->point[l->n++] = (wtl_watts){.begin_ns = l->at_ns, .end_ns = now_ns, .watts = watts};
  }
  l->have = true;
  l->uj = p->uj;
  l->at_ns = now_ns;
}

void wtl_power_trace_take(wtl_power_trace *t, const wtl_mark *mark, uint64_t now_ns)
{
  for (size_t d = 0; d < t->n; d++)
    if (t->line[d].point) take(&t->line[d], &mark->point[d], now_ns);
}

static struct timespec after(double seconds)
{
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  double ns = (double)until.tv_nsec + seconds * 1e9;
  until.tv_sec += (time_t)(ns / 1e9);
  until.tv_nsec = (long)fmod(ns, 1e9);
  return until;
}

static void *read_meter(void *arg)
{
  WTL_FLOATS_APART;
  wtl_power_trace *t = arg;
  wtl_mark mark = {0};
  pthread_mutex_lock(&t->lock);
  while (!t->stop) {
    pthread_mutex_unlock(&t->lock);
    uint64_t begin = wtl_clock_ns();
    t->read(t->arg, &mark);
    uint64_t now = wtl_clock_ns();
    wtl_power_trace_take(t, &mark, now);
    pthread_mutex_lock(&t->lock);
    struct timespec until = after(fmax(t->every_s, pauses * (double)(now - begin) * 1e-9));
    while (!t->stop && pthread_cond_timedwait(&t->stop_bell, &t->lock, &until) == 0) {}
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

void wtl_power_trace_start(wtl_power_trace *t, void (*read)(void *arg, wtl_mark *mark), void *arg)
{
  pthread_condattr_t monotonic;
  t->read = read;
  t->arg = arg;
  pthread_mutex_init(&t->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&t->stop_bell, &monotonic);
  pthread_condattr_destroy(&monotonic);
  t->runs = wtl_thread_start(&t->thread, NULL, read_meter, t) == 0;
  if (t->runs) return;
  pthread_cond_destroy(&t->stop_bell);
  pthread_mutex_destroy(&t->lock);
}

void wtl_power_trace_stop(wtl_power_trace *t)
{
  if (!t || !t->runs) return;
  pthread_mutex_lock(&t->lock);
  t->stop = true;
  pthread_cond_signal(&t->stop_bell);
  pthread_mutex_unlock(&t->lock);
  pthread_join(t->thread, NULL);
  t->runs = false;
  pthread_cond_destroy(&t->stop_bell);
  pthread_mutex_destroy(&t->lock);
}

size_t wtl_power_trace_points(const wtl_power_trace *t, size_t d, const wtl_watts **out)
{
  *out = t && d < t->n ? t->line[d].point : NULL;
  return *out ? t->line[d].n : 0;
}

void wtl_power_trace_free(wtl_power_trace *t)
{
  if (!t) return;
  wtl_power_trace_stop(t);
  for (size_t d = 0; d < t->n; d++) free(t->line[d].point);
  free(t);
}
