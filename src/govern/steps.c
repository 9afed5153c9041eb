/* steps.c - learns the length of a site's waits and computes the sleeps from it. */
#include "govern/steps.h"

#include <math.h>

/* The price of one step. A sleep of up to 1 ms and the test after it take 20 to 30 us of CPU time on a 2-core virtual
 * machine. A second of delay affects the whole job and counts as 1.5 seconds of a waiting core. */
static const double price_s = 17e-6;
/* Shares of the time without an event, and upper bounds; `_before`: before the time at which the site's waits end. */
static const double most_share = 1.0 / 16, most_share_before = 1.0 / 2;
static const double most_s = 1e-3, most_before_s = 5e-3;
/* To enter and leave the kernel takes a few microseconds, so a shorter sleep is useless. */
static const double least_s = 10e-6;

/*
 * Mean and spread (the mean distance from the mean) are learned. The end is expected within four spreads, as TCP does
 * for round trips (Jacobson, "Congestion avoidance and control", 1988). The first waits have plain averages. At least
 * 1/32 of the mean is kept as a margin: a process that always slept until just before the mean would never learn that
 * waits have become shorter. A wait outside the margin counts only if the next one is outside, too. A single one (such
 * as a core that was away) would widen the spread for a dozen waits.
 */
enum { FEW = 3, MEAN_OF = 8, SPREAD_OF = 4, SPREADS = 4 };
static const float least_margin = 1.0f / 32;
/* Waits that are not alike still have a shortest one. Of n + 1 waits in random order the last is the shortest once in n
 * + 1. So the process sleeps through n/(n+1) of the shortest of n, from the first wait on. The last four to eight waits
 * count, so one short wait is enough for caution. */
enum { SHORTEST_OF = 4 };

static bool is_known(const wtl_wait_length *length)
{
  return length->waits >= FEW;
}

/* The end of a wait is expected within this distance of the mean, in ticks. */
static float margin(const wtl_wait_length *length)
{
  return fmaxf(SPREADS * length->spread, least_margin * length->mean);
}

static void note_shortest(wtl_wait_length *length, float ticks)
{
  float *shortest = length->shortest;
  if (length->since == SHORTEST_OF) {
    shortest[1] = shortest[0];
    length->since = 0;
  }
  if (length->since == 0 || ticks < shortest[0]) shortest[0] = ticks;
  length->since++;
}

/* The time in ticks before which a wait hardly ends, from the shortest waits alone. */
static float hardly_before(const wtl_wait_length *length)
{
  const float *shortest = length->shortest;
  float least = shortest[1] > 0 ? fminf(shortest[0], shortest[1]) : shortest[0];
  float n = fminf(length->waits, 2 * SHORTEST_OF - 1);
  return n / (n + 1) * least;
}

void wtl_steps_waited(wtl_wait_length *length, uint64_t ticks)
{
  float off = (float)ticks - length->mean;
  int n = length->waits;
  note_shortest(length, (float)ticks);
  bool outlier = is_known(length) && fabsf(off) > margin(length), once = outlier && !length->outlier;
  length->outlier = outlier;
  if (once) return;
  length->mean += off / (float)(n < MEAN_OF ? n + 1 : MEAN_OF);
  if (n > 0) length->spread += (fabsf(off) - length->spread) / (float)(n < SPREAD_OF ? n : SPREAD_OF);
  if (n < UINT8_MAX) length->waits++;
}

uint64_t wtl_steps_next(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle)
{
  double ticks_per_s = 1e9 / s->ns_per_tick, now = (double)idle;
  double early = hardly_before(length), late = length->mean + margin(length);
  bool ends_soon = is_known(length) && now < late;
  if (ends_soon) early = fmax(early, length->mean - margin(length));
  double one_in = ends_soon ? fmin(now, 2 * margin(length)) : now; /* one over the chance that the event comes now */
  double next = fmin(sqrt(2 * price_s * ticks_per_s * one_in), fmin(most_share * now, most_s * ticks_per_s));
  if (now < early) next = fmax(next, fmin(early - now, fmin(most_share_before * now, most_before_s * ticks_per_s)));
  return (uint64_t)fmax(next, least_s * ticks_per_s);
}

/* One ring is enough to believe that other processes end the waits of a site. A wait without a ring ends this: then it
 * takes two rings in a row, the next time four, and so on. A sleep lasts at most half of the wait so far, which bounds
 * the delay of a wait without a ring. */
enum { MOST_RINGS_NEEDED = 127, FORGIVEN_AFTER = 16 };
static const double most_rung_s = 10e-3;
/* A ring wakes a process about 50 us late, more than a short sleep does. From this length on that is at most a
 * hundredth. */
static const double rung_from_s = 5e-3;

void wtl_steps_ended(wtl_wait_length *length, bool by_wakeup)
{
  if (!by_wakeup) {
    length->rung = 0;
    length->rings_needed =
        length->rings_needed < MOST_RINGS_NEEDED ? (uint8_t)(2 * length->rings_needed + 1) : MOST_RINGS_NEEDED;
  } else if (length->rung < UINT8_MAX && ++length->rung == length->rings_needed + FORGIVEN_AFTER) {
    length->rings_needed /= 2;
  }
}

uint64_t wtl_steps_rung(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle)
{
  double ticks_per_s = 1e9 / s->ns_per_tick, now = (double)idle;
  if (length->rung <= length->rings_needed || now < rung_from_s * ticks_per_s) return 0;
  return (uint64_t)fmin(most_share_before * now, most_rung_s * ticks_per_s);
}

uint64_t wtl_steps_least(const wtl_stages *s)
{
  return (uint64_t)(least_s * 1e9 / s->ns_per_tick);
}
