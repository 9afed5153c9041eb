/*
 * stages.h - how long a wait stays in each stage.
 *
 * Adaptive is ski rental: spinning as long as a sleep and wake-up would have cost, then sleeping, costs at most twice
 * what a wait of known length would have (Karlin et al., "Competitive randomized algorithms for nonuniform problems",
 * 1994). The price is what wake-ups of this PE have cost so far, learned while the job runs and its peers run with it;
 * nothing is measured at start.
 */
#ifndef WTL_GOVERN_STAGES_H
#define WTL_GOVERN_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"

/* Several threads of a PE may learn at once: a lesson may then get lost, which does no harm. */
typedef struct wtl_stages {
  enum wtl_wait_policy policy;
  bool crowded;           /* more PEs than cores: a spinning PE keeps the one it waits for from running */
  bool learns;            /* the spin follows the measured price */
  _Atomic double price_s; /* a sleep and wake-up, seconds */
  double least_price_s;   /* learning does not go below */
  double ns_per_tick;
  _Atomic uint64_t spin_ticks;  /* leave the spin stage after this long; UINT64_MAX: never */
  _Atomic uint64_t yield_ticks; /* likewise the yield stage */
} wtl_stages;

/* cores: those this job may use on this node. far: waits may be for other nodes, too. */
void wtl_stages_start(wtl_stages *s, const wtl_settings *settings, int n_local, int cores, bool far,
                      double ns_per_tick);

/* A wake-up took this many ticks from the ring to running again. */
void wtl_stages_learn(wtl_stages *s, uint64_t ticks);

/* Cores' worth of time that this process's cgroup, and those around it, give it, however many cores they show;
 * INFINITY where there is no limit. */
double wtl_cores_quota(void);

/* Cores this process may run on: its affinity, and the cgroup's limit rounded up. At least 1. */
int wtl_cores_allowed(void);

#endif
