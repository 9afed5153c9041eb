/* perf_event.h - opens a counter of the kernel's perf events, and words the reason where there is none. */
#ifndef WTL_POWER_PERF_EVENT_H
#define WTL_POWER_PERF_EVENT_H

#include <stddef.h>

struct perf_event_attr;

/* A "reason" beside the errnos, which are positive: the kernel never let the counter run. */
enum { WTL_PERF_NEVER_RAN = -1 };

/* Opens an event of this thread (`cpu` -1) or of all threads on a CPU. `group`: the descriptor of the event whose
 * group it joins, or -1. Returns a descriptor, which the caller closes, or a negative errno. */
int wtl_perf_event_open(const struct perf_event_attr *event, int cpu, int group);

/* Writes a clause that says why the counters of `names` are not there. `error`: an errno or WTL_PERF_NEVER_RAN. */
void wtl_perf_event_explain(char *out, size_t size, int error, const char *names);

#endif
