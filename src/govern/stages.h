/*
 * stages.h - chooses the stage in which a wait polls, and for how long before it sleeps.
 *
 * DESIGN. The adaptive policy weighs polling against the price of a sleep and a wake-up (history.h). The price is the
 * mean of this PE's wake-ups, learned while the job runs. It starts at the value of `wattle calibrate` for this
 * machine.
 *
 * A limit is CPU time. A PE that spins uses it continuously. A PE that yields uses it only in its turns on the core, so
 * there the limit counts turns.
 */
#ifndef WTL_GOVERN_STAGES_H
#define WTL_GOVERN_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prices.h"
#include "base/settings.h"
#include "profile/profile.h"

/* The cores that the PEs of a node share. */
typedef struct wtl_cores {
  int usable;   /* hardware threads, at most the CPU quota */
  int physical; /* the physical cores of these */
} wtl_cores;

/* Several threads of a PE may learn at once. One update may get lost, which does no harm. */
typedef struct wtl_stages {
  enum wtl_wait_policy policy;
  bool crowded;   /* more PEs than cores: a spinning PE may hold the core that its peer needs */
  bool yields;    /* polls between yields instead of spinning */
  bool learns;    /* the limit follows the measured price */
  bool remembers; /* ... and the past waits of a site */
  double share;   /* of the price that polling may cost: half where it slows down the other thread of the core */
  _Atomic double price_s; /* of a sleep and a wake-up, in seconds */
  double least_price_s;   /* the lower limit of learning */
  double ns_per_tick;
  uint64_t turn_ticks;          /* the longest time on the core in one turn of a PE that yields */
  _Atomic uint64_t limit_ticks; /* how long to poll, if a site has no history; UINT64_MAX: without end */
} wtl_stages;

/* True if the price matters under these settings. */
bool wtl_stages_learn_under(const wtl_settings *settings);

/* `far`: waits may be for other nodes, too. `prices`: the known values of this machine, or NULL. */
void wtl_stages_start(wtl_stages *s, const wtl_settings *settings, int n_local, wtl_cores cores, bool far,
                      const wtl_prices *prices, double ns_per_tick);

/* Sets the price, until learning changes it. Does nothing if the user has set a limit. */
void wtl_stages_price(wtl_stages *s, double seconds);

/* How long a wait at a site with this history polls before it sleeps, in ticks on a core; UINT64_MAX: without end. */
uint64_t wtl_stages_limit(const wtl_stages *s, wtl_wait_history *history);

/* Stores the length of a wait with that limit, in ticks. The next wait of the site evaluates it, because that wait has
 * the time. The thread that calls this must go on. */
static inline void wtl_stages_waited(const wtl_stages *s, wtl_wait_history *history, uint64_t limit, uint64_t length)
{
  if (!s->remembers) return;
  history->last_length = length;
  history->last_limit = limit;
}

/* Learns from a wake-up that took `ticks` from the ring of the doorbell until the thread ran again. */
void wtl_stages_learn(wtl_stages *s, uint64_t ticks);

#endif
