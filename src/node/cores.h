/* cores.h - counts the cores that the processes of a job may use. */
#ifndef WTL_NODE_CORES_H
#define WTL_NODE_CORES_H

#include <sched.h>

/* Returns the CPU time that the cgroups of this process allow, in cores; INFINITY without a limit. The number of
 * visible cores does not count. */
double wtl_cores_quota(void);

/* Returns the seconds for which the cgroups of this process have been stopped because their quota was used up, added up
 * over cores; NaN if none of them counts that. */
double wtl_cores_throttled(void);

/* Returns the number of cores that this process may run on: its affinity, at most the cgroups' quota rounded up. At
 * least 1. */
int wtl_cores_allowed(void);

/*
 * Returns the number of cores that the hardware threads of `set` belong to, by the tree at `sysfs` ("/sys"). With
 * simultaneous multithreading there are fewer cores than threads. A thread that is missing in the tree counts as a
 * core.
 */
int wtl_cores_physical(const cpu_set_t *set, const char *sysfs);

#endif
