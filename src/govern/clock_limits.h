/*
 * clock_limits.h - says which clocks of WATTLE_CLOCKS lie beyond what the domains of this node can be set to.
 */
#ifndef WTL_GOVERN_CLOCK_LIMITS_H
#define WTL_GOVERN_CLOCK_LIMITS_H

#include <sched.h>

#include "govern/vote.h"

/* One message for each such clock and each range of clocks: the PEs, the limits, and the clock that is used. `cpus` by
 * slot: where each PE may run. */
void wtl_clock_limits_say(const wtl_knob *knob, const wtl_votes *votes, int n_local, const cpu_set_t *cpus);

#endif
