#include "govern/steps.h"

#include <math.h>

/*
 * A sleep of up to a millisecond and the test after it take 20 to 30 us of CPU time on a 2-core virtual machine; a
 * second of delay is the whole job's, and is taken to be worth one and a half of a waiting core.
 */
static const double price_s = 17e-6;
/* Of the time in which nothing has happened; and before the time at which waits end. */
static const double most_share = 1.0 / 16, most_share_before = 1.0 / 2;
static const double most_s = 1e-3, most_before_s = 5e-3;
/* A shorter sleep is over before it has begun: entering and leaving the kernel takes a few microseconds. */
static const double least_s = 10e-6;

/*
 * Mean and spread (the mean distance from the mean) are learned, and the end is taken to lie within four spreads, as
 * TCP does for round trips (Jacobson, "Congestion avoidance and control", 1988); but plain averages at first. Around
 * the mean no less than its 32nd part is left: who always slept until just before it would never learn that waits have
 * become shorter. A wait that ends elsewhere is learned from only if the next one does, too: one alone is an accident
 * (a core that was away), which would widen the spread for a dozen waits.
 */
enum { FEW = 3, MEAN_OF = 8, SPREAD_OF = 4, SPREADS = 4 };
static const float least_margin = 1.0f / 32;

static bool is_known(const wtl_wait_length *length)
{
  return length->waits >= FEW;
}

/* Within it, on either side of the mean, a wait's end is expected. Ticks. */
static float margin(const wtl_wait_length *length)
{
  return fmaxf(SPREADS * length->spread, least_margin * length->mean);
}

void wtl_steps_waited(wtl_wait_length *length, uint64_t ticks)
{
  float off = (float)ticks - length->mean;
  int n = length->waits;
  bool strayed = is_known(length) && fabsf(off) > margin(length), once = strayed && !length->strayed;
  length->strayed = strayed;
  if (once) return;
  length->mean += off / (float)(n < MEAN_OF ? n + 1 : MEAN_OF);
  if (n > 0) length->spread += (fabsf(off) - length->spread) / (float)(n < SPREAD_OF ? n : SPREAD_OF);
  if (n < UINT8_MAX) length->waits++;
}

uint64_t wtl_steps_next(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle)
{
  double ticks_per_s = 1e9 / s->ns_per_tick, now = (double)idle;
  double early = length->mean - margin(length), late = length->mean + margin(length);
  bool ends_soon = is_known(length) && now < late;
  double one_in = ends_soon ? fmin(now, 2 * margin(length)) : now; /* the chance that it comes now */
  double next = fmin(sqrt(2 * price_s * ticks_per_s * one_in), fmin(most_share * now, most_s * ticks_per_s));
  if (ends_soon && now < early)
    next = fmax(next, fmin(early - now, fmin(most_share_before * now, most_before_s * ticks_per_s)));
  return (uint64_t)fmax(next, least_s * ticks_per_s);
}

uint64_t wtl_steps_least(const wtl_stages *s)
{
  return (uint64_t)(least_s * 1e9 / s->ns_per_tick);
}
