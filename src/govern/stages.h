/*
 * stages.h - in which stage a wait looks on, and for how long before it sleeps.
 *
 * Adaptive weighs looking on against the price of a sleep and wake-up (history.h). The price is what wake-ups of this
 * PE have cost so far, learned while the job runs and its peers run with it; it starts at what `wattle calibrate` found
 * here.
 *
 * A limit is time on a core. Who spins has one all the time. Who yields has it only for its turns, however long the
 * others take between them: there the limit counts turns.
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
  int usable;   /* hardware threads, and the quota's worth of them */
  int physical; /* what those are on */
} wtl_cores;

/* Several threads of a PE may learn at once: a lesson may then get lost, which does no harm. */
typedef struct wtl_stages {
  enum wtl_wait_policy policy;
  bool crowded;           /* more PEs than cores: a spinning PE keeps the one it waits for from running */
  bool yields;            /* it looks on yielding, not spinning */
  bool learns;            /* how long follows the measured price */
  bool remembers;         /* and the past waits of a site */
  double share;           /* of the price, that looking on may cost: half where it slows down the core's other thread */
  _Atomic double price_s; /* a sleep and wake-up, seconds */
  double least_price_s;   /* learning does not go below */
  double ns_per_tick;
  uint64_t turn_ticks;          /* what a turn of who yields takes of the core, at most */
  _Atomic uint64_t limit_ticks; /* how long to look on, but for what a site's history says; UINT64_MAX: for ever */
} wtl_stages;

/* Do prices matter under these settings? */
bool wtl_stages_learn_under(const wtl_settings *settings);

/* far: waits may be for other nodes, too. prices: what is known of this machine, or NULL. */
void wtl_stages_start(wtl_stages *s, const wtl_settings *settings, int n_local, wtl_cores cores, bool far,
                      const wtl_prices *prices, double ns_per_tick);

/* From now on the price is taken for so many seconds, until learning changes it. Nothing where the user set a limit. */
void wtl_stages_price(wtl_stages *s, double seconds);

/* How long a wait at a site with this history looks on before it sleeps, ticks on a core; UINT64_MAX: for ever. */
uint64_t wtl_stages_limit(const wtl_stages *s, wtl_wait_history *history);

/* Such a wait took `length` ticks and had that limit. It only notes that: what it says of waits is thought over when
 * the next one begins, which has time; who waited no longer has to go on. */
static inline void wtl_stages_waited(const wtl_stages *s, wtl_wait_history *history, uint64_t limit, uint64_t length)
{
  if (!s->remembers) return;
  history->last_length = length;
  history->last_limit = limit;
}

/* A wake-up took this many ticks from the ring to running again. */
void wtl_stages_learn(wtl_stages *s, uint64_t ticks);

#endif
