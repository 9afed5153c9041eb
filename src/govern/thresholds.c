#include "govern/thresholds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of the slots of time one in OFTEN is for trials, scattered so that no rhythm of a program's falls in with them: the
 * first few transfers of a size go the other way then, and as many after it are compared with them. Where it is certain
 * which way is better one in RARELY of those slots is. Of other transfers those are measured that fill what is kept of a
 * way, and then one in SELDOM: measuring takes some microseconds.
 */
enum { OFTEN = 8, RARELY = 8, SELDOM = 64 };
static const double slot_ns = 4e6;

/* Sizes that were not seen in so many transfers are not in use any more. */
enum { RECENT = 1024 };

/* So much evidence decides; of one comparison at the most. */
enum { LIKELY = 3, MOST = 2 };

/* Of the slowdown that is allowed. A trial keeps the other PE waiting, too, of which its own sees nothing; and some is
 * for measuring, and for the clock. */
static const double for_trials = 0.25;

/* Longer by more, and it does not pay; nor where it saves less, of the time on cores. */
static const double longer = 1.05, cheaper = 0.95;

static const char *const names[] = {"put", "get", "acc", "strided"};

/* Vishnu et al., section V.C: "a threshold of 16KBytes can be used" for put; get and accumulate converge at 32, strided
 * at 64. */
static const uint64_t published[] = {16 << 10, 32 << 10, 32 << 10, 64 << 10};

const char *wtl_transfer_name(enum wtl_transfer_kind kind)
{
  return names[kind];
}

/* ---- the setting ---- */

/* One "put=16K", up to `end`, of a kind that was not among the ones before. */
static bool read_one(const char *text, const char *end, uint64_t bytes[], unsigned *seen)
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
      snprintf(
          error, size,
          "WATTLE_THRESHOLDS=%s: '%.*s' is no threshold, or a second one; allowed: learn, published, or sizes as in "
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

/* By less than a slot's trials nothing is expected: one of them may have taken a hundred times as long by chance. */
static double expected_loss(const wtl_thresholds *t, const wtl_size_class *c, bool sleeps)
{
  const wtl_tried *other = &c->way[sleeps], *usual = &c->way[!sleeps];
  if (other->n >= WTL_TRIALS_A_SLOT) return loss_of(c, sleeps, time_of(other), cpu_of(other));
  return sleeps ? t->wake_ns : fmax(0, time_of(usual) - cpu_of(usual));
}

/* One comparison leaves it so. */
static bool is_certain(const wtl_size_class *c)
{
  const float sure = WTL_SURE - MOST;
  return c->quick <= -sure || c->cheap <= -sure || (c->quick >= sure && c->cheap >= sure);
}

/* Nothing that is in use lies between it and the threshold, but what would be better off on its own side. */
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
  t->lost[!how.sleeps] += expected + measuring; /* expected: until it is known, which it may never be */
  return (wtl_choice){.sleeps = !how.sleeps, .measured = true, .is_trial = true, .expected_ns = expected};
}

/* ---- learning ---- */

static double clamp(double x, double most)
{
  return fmin(most, fmax(-most, x));
}

/* A twentieth less than what is allowed counts one. What happens beside a transfer makes it last much longer now and
 * then: that counts no more than two comparisons do. */
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

/* A trial and one that went the usual way. */
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
    keep_trial(c, how.sleeps, ns, cpu_ns);
  } else if (c->kept && c->trials_slept != how.sleeps) {
    compare(c, ns, cpu_ns);
  } else {
    c->kept = 0; /* the threshold has passed it meanwhile */
  }
  w->ns[w->n % WTL_TRIES] = (float)ns;
  w->cpu_ns[w->n % WTL_TRIES] = (float)cpu_ns;
  w->n++;
  uint8_t verdict = verdict_of(c);
  if (verdict == c->verdict) return;
  c->verdict = verdict;
  place(t, kind);
}
