/* power_watch.h - the intervals of a budget of watts (power_budget.h), as the governor of a PE sees them. */
#ifndef WTL_GOVERN_POWER_WATCH_H
#define WTL_GOVERN_POWER_WATCH_H

#include "govern/power_budget.h"
#include "govern/stages.h"

typedef struct wtl_power_watch {
  wtl_power_budget budget;
  double least_w, most_w;                    /* of the job, if all PEs compute at the lowest and at the highest clock */
  wtl_power_call *call;                      /* of the present interval; NULL: too many calls */
  uint64_t since;                            /* its first tick ... */
  uint64_t waited[WTL_N_STAGES], unrecorded; /* ... and the ticks waited by then */
  uint64_t computed;                         /* ticks computed in it, up to its last synchronization of all PEs */
  uint32_t syncs, left;                      /* such synchronizations in it, and until the next exchange */
  bool changed;                              /* it began by a change of clock */
  bool counts;                               /* the counters were read at its begin ... */
  wtl_counts counted;                        /* ... or hold the counts of `computed` once has_counted is set */
  bool has_counted;
} wtl_power_watch;

#endif
