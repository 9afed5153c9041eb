/* cores.h - the cores that processes of a job may use. */
#ifndef WTL_NODE_CORES_H
#define WTL_NODE_CORES_H

#include <sched.h>

/* Cores' worth of time that this process's cgroup, and those around it, give it, however many cores they show;
 * INFINITY where there is no limit. */
double wtl_cores_quota(void);

/* Cores this process may run on: its affinity, and the cgroup's limit rounded up. At least 1. */
int wtl_cores_allowed(void);

/*
 * How many cores the hardware threads of `set` belong to, by the tree at `sysfs` ("/sys"): with simultaneous
 * multithreading fewer than there are threads. A thread that the tree says nothing of counts as a core.
 */
int wtl_cores_physical(const cpu_set_t *set, const char *sysfs);

#endif
