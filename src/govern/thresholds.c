/* thresholds.c - chooses trials, compares them, and moves the thresholds. */
#include "govern/thresholds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"

/* One slot of time in OFTEN is for trials. These slots are scattered, so that they do not fall together with a rhythm
 * of the program. In such a slot the first few transfers of a size wait the other way, and as many after them are
 * compared. Once the better way is certain, one in RARELY of these slots is used. Usual transfers are measured until
 * WTL_TRIES are known, and then one in SELDOM, because measuring takes some microseconds. */
enum { OFTEN = 8, RARELY = 8, SELDOM = 64 };
static const double slot_ns = 4e6;

/* A size is in use if it occurred in the last RECENT transfers. */
enum { RECENT = 1024 };

/* The evidence that decides, and the greatest evidence of one comparison. */
enum { LIKELY = 3, MOST = 2 };

/* The share of the allowed slowdown for trials. A trial also keeps the other PE waiting, which this PE does not
 * measure. Measuring and changes of clock need the rest. */
static const double for_trials = 0.25;

/* Limits on the ratio of sleeping to polling: of the time, and of the CPU time. */
static const double longer = 1.05, cheaper = 0.95;

static const char *const names[] = {"put", "get", "acc", "strided"};

/* Vishnu et al., section V.C: "a threshold of 16KBytes can be used" for put. Get and accumulate converge at 32, strided
 * at 64. */
static const uint64_t published[] = {16 << 10, 32 << 10, 32 << 10, 64 << 10};

const char *wtl_transfer_name(enum wtl_transfer_kind kind)
{
  return names[kind];
}

/* ---- the setting ---- */

/* Reads one entry such as "put=16K", up to `end`, of a kind that no earlier entry names. */
static bool read_one(const char *text, const char *end, uint64_t bytes[], unsigned *seen)
{
  WTL_LOCALE_APART;
  const char *equals = memchr(text, '=', (size_t)(end - text));
  char *after;
  if (!equals || equals[1] < '0' || equals[1] > '9') return false;
  double value = strtod(equals + 1, &after);
  for (const char *unit = "KMG", *at = after < end ? strchr(unit, *after) : NULL; at; at = NULL) {
    value *= pow(1024, (double)(at - unit + 1));
    after++;
  }
  if (after != end || !(value >= 0 && value <= 0x1p62)) return false;
  for (int k = 0; k < WTL_TRANSFER_KINDS; k++) {
    if (strlen(names[k]) != (size_t)(equals - text) || strncmp(text, names[k], (size_t)(equals - text)) != 0) continue;
    if (*seen & 1u << k) return false;
    *seen |= 1u << k;
    bytes[k] = (uint64_t)value;
    return true;
  }
  return false;
}

int wtl_thresholds_read(const char *text, uint64_t bytes[WTL_TRANSFER_KINDS], bool *learns, char *error, size_t size)
{
  memcpy(bytes, published, sizeof published);
  *learns = strcmp(text, "learn") == 0;
  unsigned seen = 0;
  bool named = *learns || strcmp(text, "published") == 0;
  for (const char *at = text, *end; !named; at = end + 1) {
    end = at + strcspn(at, ",");
    if (!read_one(at, end, bytes, &seen)) {
      snprintf(error, size,
               "WATTLE_THRESHOLDS=%s: '%.*s' is not a threshold, or names a kind twice; allowed: learn, published, or "
               "sizes as in "
               "put=16K,get=32K,acc=32K,strided=64K",
               text, (int)(end - at), at);
      return -1;
    }
    if (!*end) break;
  }
  return 0;
}

void wtl_thresholds_start(wtl_thresholds *t, const char *text, double allowed, double wake_ns, double measuring_ns,
                          double (*clock)(void), double wall)
{
  memset(t, 0, sizeof *t);
  wtl_thresholds_read(text, t->bytes, &t->learns, NULL, 0);
  t->allowed = allowed;
  t->wake_ns = wake_ns;
  t->measuring_ns = measuring_ns;
  t->clock = clock;
  t->wall = wall;
  t->started = clock();
}

/* ---- what is known ---- */

static int class_of(uint64_t bytes)
{
  int k = bytes ? 63 - __builtin_clzll(bytes) : 0;
  return k < WTL_SIZE_CLASSES ? k : WTL_SIZE_CLASSES - 1;
}

static int rising(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The median of the last few; the lower of two middle values. */
static double median(const float *values, uint32_t n)
{
  float sorted[WTL_TRIES];
  if (n > WTL_TRIES) n = WTL_TRIES;
  if (n == 0) return NAN;
  memcpy(sorted, values, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, rising);
  return sorted[(n - 1) / 2];
}

static double time_of(const wtl_tried *w)
{
  return median(w->ns, w->n);
}

static double cpu_of(const wtl_tried *w)
{
  return median(w->cpu_ns, w->n);
}

double wtl_thresholds_usual(const wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes)
{
  const wtl_size_class *c = &t->size[kind][class_of(bytes)];
  return time_of(&c->way[bytes >= t->bytes[kind]]);
}

/* ---- choosing ---- */

/* The excess over the usual way: in time for a transfer that sleeps, in CPU time for one that polls. */
static double loss_of(const wtl_size_class *c, bool sleeps, double ns, double cpu_ns)
{
  const wtl_tried *usual = &c->way[!sleeps];
  return fmax(0, sleeps ? ns - time_of(usual) : cpu_ns - cpu_of(usual));
}

/* With fewer trials than a slot has, an assumption replaces the median: one trial may take a hundred times as long by
 * chance. */
static double expected_loss(const wtl_thresholds *t, const wtl_size_class *c, bool sleeps)
{
  const wtl_tried *other = &c->way[sleeps], *usual = &c->way[!sleeps];
  if (other->n >= WTL_TRIALS_A_SLOT) return loss_of(c, sleeps, time_of(other), cpu_of(other));
  return sleeps ? t->wake_ns : fmax(0, time_of(usual) - cpu_of(usual));
}

/* True if one more comparison cannot change the verdict. */
static bool is_certain(const wtl_size_class *c)
{
  const float sure = WTL_SURE - MOST;
  return c->quick <= -sure || c->cheap <= -sure || (c->quick >= sure && c->cheap >= sure);
}

/* True if each size in use between this one and the threshold is known to be on the wrong side. */
static bool is_at_edge(const wtl_thresholds *t, const wtl_size_class *size, int threshold, int k)
{
  bool below = k < threshold;
  for (int i = below ? k + 1 : threshold; i < (below ? threshold : k); i++)
    if (size[i].last_turn && t->turns - size[i].last_turn < RECENT &&
        size[i].verdict != (below ? WTL_SLEEPS : WTL_POLLS))
      return false;
  return true;
}

static bool is_for_trials(uint64_t slot, bool certain)
{
  uint64_t period = slot / OFTEN, scattered = period * 0x9e3779b97f4a7c15u >> 32;
  return slot % OFTEN == scattered % OFTEN && (!certain || scattered / OFTEN % RARELY == 0);
}

static bool is_affordable(const wtl_thresholds *t, bool sleeps, double costs, double now)
{
  return t->lost[sleeps] + costs <= for_trials * t->allowed * (now - t->started);
}

wtl_choice wtl_thresholds_choose(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes)
{
  wtl_choice how = {.sleeps = bytes >= t->bytes[kind]};
  int k = class_of(bytes);
  wtl_size_class *c = &t->size[kind][k];
  if (!t->learns) return how;
  c->last_turn = ++t->turns;
  how.measured = c->way[how.sleeps].n < WTL_TRIES || c->turn++ % SELDOM == 0;
  if (how.measured || !is_at_edge(t, t->size[kind], class_of(t->bytes[kind]), k)) return how;
  double now = t->clock();
  uint64_t slot = (uint64_t)((now + t->wall) / slot_ns);
  if (!is_for_trials(slot, is_certain(c))) {
    how.measured = c->kept > 0;
    return how;
  }
  if (c->slot != slot) c->slot = slot, c->tried = c->kept = 0;
  if (c->tried == WTL_TRIALS_A_SLOT) return how;
  double expected = expected_loss(t, c, !how.sleeps), measuring = 2 * t->measuring_ns; /* the compared one, too */
  if (!is_affordable(t, !how.sleeps, expected + measuring, now)) return how;
  c->tried++;
  t->trials++;
  t->lost[!how.sleeps] += expected + measuring; /* assumed until it is measured, which may never happen */
  return (wtl_choice){.sleeps = !how.sleeps, .measured = true, .is_trial = true, .expected_ns = expected};
}

/* ---- learning ---- */

static double clamp(double x, double most)
{
  return fmin(most, fmax(-most, x));
}

/* A ratio 0.05 below the limit counts one. Other work makes some transfers much longer, so a comparison counts two at
 * most. */
static void count(float *evidence, double ratio, double allowed)
{
  *evidence = (float)clamp(*evidence + clamp((allowed - ratio) / 0.05, MOST), WTL_SURE);
}

static void keep_trial(wtl_size_class *c, bool slept, double ns, double cpu_ns)
{
  if (c->kept == WTL_TRIALS_A_SLOT) return;
  c->trials_slept = slept;
  c->trial_ns[c->kept] = (float)ns;
  c->trial_cpu_ns[c->kept++] = (float)cpu_ns;
}

/* Compares a trial with a transfer that waited the usual way. */
static void compare(wtl_size_class *c, double ns, double cpu_ns)
{
  double trial_ns = c->trial_ns[--c->kept], trial_cpu_ns = c->trial_cpu_ns[c->kept];
  double time = c->trials_slept ? trial_ns / ns : ns / trial_ns;
  double cpu = c->trials_slept ? trial_cpu_ns / cpu_ns : cpu_ns / trial_cpu_ns;
  count(&c->quick, time, longer);
  count(&c->cheap, cpu, cheaper);
}

static uint8_t verdict_of(const wtl_size_class *c)
{
  if (c->quick <= -LIKELY || c->cheap <= -LIKELY) return WTL_POLLS;
  return c->quick >= LIKELY && c->cheap >= LIKELY ? WTL_SLEEPS : c->verdict;
}

/* The number of sizes of this kind on the wrong side of a threshold at class `k`. */
static int wrong_with(const wtl_size_class *size, int k)
{
  int wrong = 0;
  for (int i = 0; i < WTL_SIZE_CLASSES; i++) wrong += size[i].verdict == (i < k ? WTL_SLEEPS : WTL_POLLS);
  return wrong;
}

/* Moves the threshold to the nearest of the best classes. It stays if it is as good. */
static void place(wtl_thresholds *t, enum wtl_transfer_kind kind)
{
  const wtl_size_class *size = t->size[kind];
  int now = class_of(t->bytes[kind]), best = now;
  for (int k = 0; k <= WTL_SIZE_CLASSES; k++) {
    int wrong = wrong_with(size, k), least = wrong_with(size, best);
    if (wrong < least || (wrong == least && abs(k - now) < abs(best - now))) best = k;
  }
  if (best != now) t->bytes[kind] = (uint64_t)1 << best;
}

void wtl_thresholds_learn(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes, wtl_choice how, double ns,
                          double cpu_ns)
{
  wtl_size_class *c = &t->size[kind][class_of(bytes)];
  wtl_tried *w = &c->way[how.sleeps];
  if (how.is_trial) {
    t->lost[how.sleeps] += loss_of(c, how.sleeps, ns, cpu_ns) - how.expected_ns;
    keep_trial(c, how.sleeps, ns, cpu_ns);
  } else if (c->kept && c->trials_slept != how.sleeps) {
    compare(c, ns, cpu_ns);
  } else {
    c->kept = 0; /* the threshold has moved across this size */
  }
  w->ns[w->n % WTL_TRIES] = (float)ns;
  w->cpu_ns[w->n % WTL_TRIES] = (float)cpu_ns;
  w->n++;
  uint8_t verdict = verdict_of(c);
  if (verdict == c->verdict) return;
  c->verdict = verdict;
  place(t, kind);
}
