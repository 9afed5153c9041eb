/* clock_limits.h - reports the clocks of WATTLE_CLOCKS that the domains of this node cannot be set to. */
#ifndef WTL_GOVERN_CLOCK_LIMITS_H
#define WTL_GOVERN_CLOCK_LIMITS_H

#include <sched.h>

#include "govern/vote.h"

/* Prints one message for each such clock and each range of clocks: the PEs, the limits and the clock used. `cpus`: by
 * local rank, where each PE may run. */
void wtl_clocks_report_limits(const wtl_knob *knob, const wtl_votes *votes, int n_local, const cpu_set_t *cpus);

#endif
