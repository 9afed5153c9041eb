#include "govern/stages.h"

#include <math.h>
#include <string.h>

#include "govern/history.h"

/* Where learning starts if nobody has measured it here: futex wake to running in another process took 35-66 us on a
 * 2-core virtual machine (docs/decisions/0004-price-of-a-wake-up.md). */
static const double first_price_s = 50e-6;
/* One wake-up that was held up by the scheduler must not make every later wait spin long. */
static const double least_price_s = 2e-6, most_price_s = 200e-6;
/* From another node a sleeper is woken by an agent that must be woken first, and only the second wake-up is seen by who
 * learns: 84 us against 25 us polling for a put across two namespaces (field experience with UCX 1.13 over TCP). */
static const double least_far_price_s = 50e-6;

/* Of the price, where PEs share cores by simultaneous multithreading: who spins takes about half of the core from its
 * other thread (assumed; it depends on what both do), so that each second awake costs the job up to two. */
static const double share_of_siblings = 0.5;

/* Two processes that yield to each other on one core come back after two switches: 2.5-3.2 us on a 2-core virtual
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
  /* Where PEs outnumber cores, the peer can only make progress on the core this PE gives up. */
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
  if (!s->remembers) return s->limit_ticks;
  if (history->last_length) wtl_history_add(history, s->limit_ticks, history->last_limit, history->last_length);
  history->last_length = 0;
  return wtl_history_limit(history, s->limit_ticks);
}

void wtl_stages_learn(wtl_stages *s, uint64_t ticks)
{
  double seconds = (double)ticks * s->ns_per_tick * 1e-9;
  if (s->learns && seconds < 10 * most_price_s) set_price(s, s->price_s + (seconds - s->price_s) / 8);
}
