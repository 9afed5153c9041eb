/* stages.c - sets the limit of polling from the policy, the cores and the measured price of a wake-up. */
#include "govern/stages.h"

#include <math.h>
#include <string.h>

#include "govern/history.h"
#include "os/floats.h"

/* The price before any measurement on this machine. From a futex wake-up until another process ran it took 35-66 us on
 * a 2-core virtual machine (docs/decisions/0004-price-of-a-wake-up.md). */
static const double first_price_s = 50e-6;
/* Bounds, so that one wake-up delayed by the scheduler does not make all later waits spin long. */
static const double least_price_s = 2e-6, most_price_s = 200e-6;
/* For a message from another node an agent wakes first and then wakes the sleeper, but the sleeper measures only the
 * second wake-up. A put across two network namespaces took 84 us asleep and 25 us polling (UCX 1.13 over TCP). */
static const double least_far_price_s = 50e-6;

/* The share of the price where PEs share cores by simultaneous multithreading. A spinning thread is assumed to take
 * half of the core from the other one, so that each second awake costs the job up to two. */
static const double share_of_siblings = 0.5;

/* Two processes that yield to each other on one core return after two switches: 2.5-3.2 us on a 2-core virtual
 * machine. */
static const double first_turn_s = 1.3e-6;

static void set_price(wtl_stages *s, double seconds)
{
  s->price_s = fmin(fmax(seconds, s->least_price_s), most_price_s);
  s->limit_ticks = (uint64_t)(s->price_s * s->share * 1e9 / s->ns_per_tick);
}

bool wtl_stages_learn_under(const wtl_settings *settings)
{
  return settings->wait.number == WTL_WAIT_ADAPTIVE && settings->spin_max.seconds < 0;
}

void wtl_stages_start(wtl_stages *s, const wtl_settings *settings, int n_local, wtl_cores cores, bool far,
                      const wtl_prices *prices, double ns_per_tick)
{
  double price_s = NAN, turn_s = NAN;
  memset(s, 0, sizeof *s);
  s->policy = (enum wtl_wait_policy)settings->wait.number;
  /* With more PEs than cores, the peer may only make progress on the core that this PE gives up. */
  s->crowded = n_local > cores.usable;
  s->share = !s->crowded && n_local > cores.physical ? share_of_siblings : 1;
  s->least_price_s = far ? least_far_price_s : least_price_s;
  s->ns_per_tick = ns_per_tick;
  s->learns = wtl_stages_learn_under(settings);
  s->yields = s->policy == WTL_WAIT_YIELD || (s->policy == WTL_WAIT_ADAPTIVE && s->crowded);
  s->remembers = s->learns && !s->crowded;
  if (prices) {
    price_s = wtl_prices_wake(prices, s->crowded, far);
    turn_s = wtl_prices_turn(prices);
  }
  s->turn_ticks = (uint64_t)((isnan(turn_s) ? first_turn_s : turn_s) * 1e9 / ns_per_tick);
  if (s->learns)
    set_price(s, isnan(price_s) ? first_price_s : price_s);
  else if (s->policy == WTL_WAIT_ADAPTIVE)
    s->limit_ticks = (uint64_t)(settings->spin_max.seconds * 1e9 / ns_per_tick);
  else
    s->limit_ticks = s->policy == WTL_WAIT_SLEEP ? 0 : UINT64_MAX;
}

void wtl_stages_price(wtl_stages *s, double seconds)
{
  if (s->learns) set_price(s, seconds);
}

uint64_t wtl_stages_limit(const wtl_stages *s, wtl_wait_history *history)
{
  WTL_FLOATS_APART;
  if (!s->remembers) return s->limit_ticks;
  if (history->last_length) wtl_history_add(history, s->limit_ticks, history->last_limit, history->last_length);
  history->last_length = 0;
  return wtl_history_limit(history, s->limit_ticks);
}

void wtl_stages_learn(wtl_stages *s, uint64_t ticks)
{
  WTL_FLOATS_APART;
  double seconds = (double)ticks * s->ns_per_tick * 1e-9;
  if (s->learns && seconds < 10 * most_price_s) set_price(s, s->price_s + (seconds - s->price_s) / 8);
}
