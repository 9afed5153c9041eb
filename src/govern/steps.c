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
/*
 * Waits that are not alike have a shortest, too, and seldom is the next one shorter: of n + 1 waits in no order the last
 * is the shortest once in n + 1. So n/(n+1) of the shortest of n is slept through, from the first one on. Counted are
 * the last four to eight, accidents among them: one short wait is enough to doubt.
 */
enum { SHORTEST_OF = 4 };

static bool is_known(const wtl_wait_length *length)
{
  return length->waits >= FEW;
}

/* Within it, on either side of the mean, a wait's end is expected. Ticks. */
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

/* Before it a wait is not expected to end, if all that is known is how long the shortest one was. Ticks. */
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
  double early = hardly_before(length), late = length->mean + margin(length);
  bool ends_soon = is_known(length) && now < late;
  if (ends_soon) early = fmax(early, length->mean - margin(length));
  double one_in = ends_soon ? fmin(now, 2 * margin(length)) : now; /* the chance that it comes now */
  double next = fmin(sqrt(2 * price_s * ticks_per_s * one_in), fmin(most_share * now, most_s * ticks_per_s));
  if (now < early) next = fmax(next, fmin(early - now, fmin(most_share_before * now, most_before_s * ticks_per_s)));
  return (uint64_t)fmax(next, least_s * ticks_per_s);
}

/*
 * One ring is enough to believe that others end the waits of a site. A wait that nobody rang for ends that: then it
 * takes two in a row, the next time four, and so on. A sleep lasts no longer than half of the wait so far, so that one
 * for which nobody rings becomes longer by no more.
 */
enum { MOST_DOUBT = 127, FORGIVEN_AFTER = 16 };
static const double most_rung_s = 10e-3;
/* Who is woken by others comes about 50 us late, more than by short sleeps: of this it is a hundredth. */
static const double rung_from_s = 5e-3;

void wtl_steps_ended(wtl_wait_length *length, bool by_ring)
{
  if (!by_ring) {
    length->rung = 0;
    length->doubt = length->doubt < MOST_DOUBT ? (uint8_t)(2 * length->doubt + 1) : MOST_DOUBT;
  } else if (length->rung < UINT8_MAX && ++length->rung == length->doubt + FORGIVEN_AFTER) {
    length->doubt /= 2;
  }
}

uint64_t wtl_steps_rung(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle)
{
  double ticks_per_s = 1e9 / s->ns_per_tick, now = (double)idle;
  if (length->rung <= length->doubt || now < rung_from_s * ticks_per_s) return 0;
  return (uint64_t)fmin(most_share_before * now, most_rung_s * ticks_per_s);
}

uint64_t wtl_steps_least(const wtl_stages *s)
{
  return (uint64_t)(least_s * 1e9 / s->ns_per_tick);
}
