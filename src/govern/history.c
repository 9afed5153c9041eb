/* history.c - keeps a sketch of a site's waits and computes the limit that would have cost least. */
#include "govern/history.h"

#include <math.h>

/* MEMORY is the number of waits that the sketch holds: enough to see one in thirty, few enough to follow a program into
 * its next phase. A limit serves SOON waits at first, and LATER waits once there are SETTLED. No wait spins longer than
 * MOST prices, because it may be endless. */
enum { MEMORY = 128, FEW = 4, SOON = 8, SETTLED = 64, LATER = 32, MOST = 4 };

/* Ski rental spins for the price of one wake-up, then sleeps. The excess is what the sketch's limits have cost more
 * than ski rental. Above most_excess prices, ski rental is used. A saving above most_lead prices is not remembered. */
static const float most_excess = 4, most_lead = 8;
/* Each wait under ski rental lowers the excess by this share of its cost, until the sketch's limit is tried again. */
static const float set_aside = 1.0f / 16;

/* Buckets hold half octaves: [1, 1.5) and [1.5, 2) times a power of two. The first also holds all shorter waits, the
 * last all longer ones. */
enum { FIRST_OCTAVE = 7 };

static unsigned bucket_of(uint64_t ticks)
{
  if (ticks < 1u << FIRST_OCTAVE) return 0;
  unsigned octave = 63 - (unsigned)__builtin_clzll(ticks);
  unsigned i = 2 * (octave - FIRST_OCTAVE) + (ticks >> (octave - 1) & 1);
  return i < WTL_WAIT_BUCKETS ? i : WTL_WAIT_BUCKETS - 1;
}

static uint64_t end_of(unsigned bucket)
{
  uint64_t octave = 1ull << (FIRST_OCTAVE + bucket / 2);
  return bucket % 2 ? 2 * octave : octave + octave / 2;
}

static float middle_of(unsigned bucket)
{
  float end = (float)end_of(bucket);
  return bucket % 2 ? end * 7 / 8 : end * 5 / 6;
}

/* The limit under which the waits of the sketch would have cost least. */
static float best_limit(const wtl_wait_history *h, float price)
{
  float awake = 0, left = h->total, best = left * price, limit = 0; /* first candidate: sleep at once */
  for (unsigned i = 0; i < WTL_WAIT_BUCKETS && (float)end_of(i) <= MOST * price; i++) {
    if (!h->count[i]) continue;
    awake += (float)h->count[i] * middle_of(i);
    left -= h->count[i];
    float cost = awake + left * ((float)end_of(i) + price);
    if (cost >= best) continue;
    best = cost;
    limit = (float)end_of(i);
  }
  return limit;
}

static void remember(wtl_wait_history *h, uint64_t length)
{
  h->count[bucket_of(length)]++;
  if (++h->total < MEMORY) return;
  h->total = 0;
  for (unsigned i = 0; i < WTL_WAIT_BUCKETS; i++) h->total = (uint8_t)(h->total + (h->count[i] /= 2));
}

static float cost_of(uint64_t length, uint64_t limit, uint64_t price)
{
  return (float)(length <= limit ? length : limit + price);
}

/* Adds the cost of a wait under its limit, minus the cost under ski rental, to the excess. */
static void settle(wtl_wait_history *h, uint64_t price, uint64_t limit, uint64_t length)
{
  float rental = cost_of(length, price, price);
  h->excess += limit == price ? -set_aside * rental : cost_of(length, limit, price) - rental;
  h->excess = fmaxf(h->excess, -most_lead * (float)price);
}

uint64_t wtl_history_limit(const wtl_wait_history *h, uint64_t price)
{
  bool is_trusted = h->known && h->excess <= most_excess * (float)price;
  return is_trusted ? (uint64_t)h->limit : price;
}

void wtl_history_add(wtl_wait_history *h, uint64_t price, uint64_t limit, uint64_t length)
{
  if (length > limit || length > price || limit == price)
    settle(h, price, limit, length); /* otherwise both cost the same */
  remember(h, length);
  if (h->known && ++h->since < (h->total < SETTLED ? SOON : LATER)) return;
  h->since = 0;
  h->known = h->known || h->total >= FEW;
  h->limit = best_limit(h, (float)price);
}
