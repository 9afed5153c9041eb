#include "govern/thresholds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many of a size and a way say something. Once all that are kept are there, one transfer in SELDOM is looked at; of
 * those one in OFTEN goes the other way until it is certain which is better, later one in RARELY, and the one looked at
 * after it is measured, too, to be compared with. No other is: measuring takes some microseconds. */
enum { FEW = 4, SELDOM = 8, OFTEN = 2, RARELY = 8 };

/* So many comparisons more for one side than for the other decide. */
enum { LIKELY = 3 };

/* Of the slowdown that is allowed. A trial keeps the other PE waiting, too, of which its own sees nothing; and some is
 * for measuring, and for the clock. */
static const double for_trials = 0.25;

/* Longer by so much, and it pays no more. */
static const double longer = 1.05;

static const char *const names[] = {"put", "get", "acc", "strided"};

/* Vishnu et al., section V.C: "a threshold of 16KBytes can be used" for put; get and accumulate converge at 32, strided
 * at 64. */
static const uint64_t published[] = {16 << 10, 32 << 10, 32 << 10, 64 << 10};

const char *wtl_transfer_name(enum wtl_transfer_kind kind)
{
  return names[kind];
}

/* ---- the setting ---- */

/* One "put=16K", up to `end`. */
static bool read_one(const char *text, const char *end, uint64_t bytes[])
{
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
    bytes[k] = (uint64_t)value;
    return true;
  }
  return false;
}

int wtl_thresholds_read(const char *text, uint64_t bytes[WTL_TRANSFER_KINDS], bool *learns, char *error, size_t size)
{
  memcpy(bytes, published, sizeof published);
  *learns = strcmp(text, "learn") == 0;
  bool named = *learns || strcmp(text, "published") == 0;
  for (const char *at = text, *end; !named; at = end + 1) {
    end = at + strcspn(at, ",");
    if (!read_one(at, end, bytes)) {
      snprintf(error, size,
               "WATTLE_THRESHOLDS=%s: '%.*s' is no threshold; allowed: learn, published, or sizes as in "
               "put=16K,get=32K,acc=32K,strided=64K",
               text, (int)(end - at), at);
      return -1;
    }
    if (!*end) break;
  }
  return 0;
}

void wtl_thresholds_start(wtl_thresholds *t, const char *text, double allowed, double wake_ns, double measuring_ns,
                          double (*clock)(void))
{
  memset(t, 0, sizeof *t);
  wtl_thresholds_read(text, t->bytes, &t->learns, NULL, 0);
  t->allowed = allowed;
  t->wake_ns = wake_ns;
  t->measuring_ns = measuring_ns;
  t->clock = clock;
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

/* Of the last few; the lower one of two in the middle. */
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

/* More than the usual way: of who sleeps in time, of who polls in time on cores. */
static double loss_of(const wtl_size_class *c, bool sleeps, double ns, double cpu_ns)
{
  const wtl_tried *usual = &c->way[!sleeps];
  return fmax(0, sleeps ? ns - time_of(usual) : cpu_ns - cpu_of(usual));
}

static double expected_loss(const wtl_thresholds *t, const wtl_size_class *c, bool sleeps)
{
  const wtl_tried *other = &c->way[sleeps], *usual = &c->way[!sleeps];
  if (other->n) return loss_of(c, sleeps, time_of(other), cpu_of(other));
  return sleeps ? t->wake_ns : time_of(usual);
}

static bool is_certain(const wtl_size_class *c)
{
  return c->quick == -WTL_SURE || c->cheap == -WTL_SURE || (c->quick == WTL_SURE && c->cheap == WTL_SURE);
}

/* Polling ever took less than a wake-up would. */
static bool is_settled(const wtl_size_class *c, double wake_ns)
{
  return c->way[false].n && c->way[false].least < wake_ns;
}

wtl_choice wtl_thresholds_choose(wtl_thresholds *t, enum wtl_transfer_kind kind, uint64_t bytes)
{
  wtl_choice how = {.sleeps = bytes >= t->bytes[kind]};
  wtl_size_class *c = &t->size[kind][class_of(bytes)];
  if (!t->learns) return how;
  bool known = c->way[how.sleeps].n >= WTL_TRIES;
  if (known && (is_settled(c, t->wake_ns) || c->turn++ % SELDOM)) return how;
  how.measured = !known || c->is_next;
  if (c->way[how.sleeps].n < FEW || ++c->looks % (is_certain(c) ? RARELY : OFTEN)) return how;
  double expected = expected_loss(t, c, !how.sleeps), measuring = 2 * t->measuring_ns; /* the next one, too */
  if (t->lost[!how.sleeps] + expected + measuring > for_trials * t->allowed * (t->clock() - t->started)) return how;
  t->trials++;
  t->lost[!how.sleeps] += expected + measuring; /* expected: until it is known, which it may never be */
  how.expected_ns = expected;
  how.is_trial = how.measured = true;
  how.sleeps = !how.sleeps;
  return how;
}

/* ---- learning ---- */

static void count(int8_t *more, bool is_one)
{
  if (is_one && *more < WTL_SURE) ++*more;
  if (!is_one && *more > -WTL_SURE) --*more;
}

/* The last trial and one that went the usual way. */
static void compare(wtl_size_class *c, double ns, double cpu_ns)
{
  double time = c->trial_slept ? c->trial_ns / ns : ns / c->trial_ns;
  double cpu = c->trial_slept ? c->trial_cpu_ns / cpu_ns : cpu_ns / c->trial_cpu_ns;
  count(&c->quick, time <= longer);
  count(&c->cheap, cpu <= 1);
}

static uint8_t verdict_of(const wtl_size_class *c, double wake_ns)
{
  if (is_settled(c, wake_ns)) return WTL_POLLS;
  if (c->quick <= -LIKELY || c->cheap <= -LIKELY) return WTL_POLLS;
  return c->quick >= LIKELY && c->cheap >= LIKELY ? WTL_SLEEPS : c->verdict;
}

/* Sizes of this kind that would be on the wrong side of a threshold at class `k`. */
static int wrong_with(const wtl_size_class *size, int k)
{
  int wrong = 0;
  for (int i = 0; i < WTL_SIZE_CLASSES; i++) wrong += size[i].verdict == (i < k ? WTL_SLEEPS : WTL_POLLS);
  return wrong;
}

/* Of the best places the one nearest to where it is; it stays where it is if that is as good. */
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
    c->trial_ns = (float)ns;
    c->trial_cpu_ns = (float)cpu_ns;
    c->trial_slept = how.sleeps;
  } else if (c->is_next && c->trial_slept != how.sleeps) {
    compare(c, ns, cpu_ns);
  }
  c->is_next = how.is_trial;
  w->ns[w->n % WTL_TRIES] = (float)ns;
  w->cpu_ns[w->n % WTL_TRIES] = (float)cpu_ns;
  w->least = w->n ? fminf(w->least, (float)ns) : (float)ns;
  w->n++;
  uint8_t verdict = verdict_of(c, t->wake_ns);
  if (verdict == c->verdict) return;
  c->verdict = verdict;
  place(t, kind);
}
