#include "govern/steps.h"

#include <math.h>

#include "govern/history.h"

/*
 * A sleep and the test after it take 10 to 17 us of CPU time on a 2-core virtual machine; a second of delay is the
 * whole job's, and is taken to be worth one and a half of a waiting core.
 */
static const double price_s = 10e-6;
/* Of the time in which nothing has happened; and where all waits so far have lasted at least twice as long. */
static const double most_share = 1.0 / 16, most_share_of_long = 1.0 / 4;
static const double most_s = 1e-3, most_s_of_long = 2e-3;
/* A shorter sleep is over before it has begun: entering and leaving the kernel takes a few microseconds. */
static const double least_s = 10e-6;

uint64_t wtl_steps_next(const wtl_stages *s, const wtl_wait_history *history, uint64_t idle)
{
  double ticks_per_s = 1e9 / s->ns_per_tick;
  double best = sqrt(2 * price_s * ticks_per_s / wtl_history_hazard(history, idle));
  bool is_long = wtl_history_lasts(history, idle);
  double most = fmin((is_long ? most_share_of_long : most_share) * (double)idle,
                     (is_long ? most_s_of_long : most_s) * ticks_per_s);
  return (uint64_t)fmax(fmin(best, most), least_s * ticks_per_s);
}

uint64_t wtl_steps_least(const wtl_stages *s)
{
  return (uint64_t)(least_s * 1e9 / s->ns_per_tick);
}
