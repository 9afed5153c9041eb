/*
 * trace.h - keeps the watts of a meter's domains over time, for a timeline.
 *
 * DESIGN. A thread reads the meter at a fixed interval, or less often where a reading takes long: it uses at most a
 * twentieth of a core, because some sensors take milliseconds. A counter that has not advanced gives no point, because
 * its sensor has no new value. Otherwise a point has the mean watts since the reading before. A failed reading is a
 * gap.
 *
 * Each domain has a buffer of fixed size. When it is full, each two neighbours become one point, and the least length
 * of a point doubles. So a trace never grows and covers the whole time.
 *
 * Only the thread writes. The points may be read after wtl_power_trace_stop.
 */
#ifndef WTL_POWER_TRACE_H
#define WTL_POWER_TRACE_H

#include "power/meter.h"

enum { WTL_POWER_TRACE_POINTS = 8192 };

typedef struct wtl_power_trace wtl_power_trace;

/*
 * Makes a trace of `n` domains, without a thread. wanted[d]: is domain d kept? Returns NULL if none is, or without
 * memory. every_s: least length of a point.
 */
wtl_power_trace *wtl_power_trace_make(const bool *wanted, size_t n, double every_s);

/* Adds the points of a mark that was read at `now_ns` of the monotonic clock. */
void wtl_power_trace_take(wtl_power_trace *t, const wtl_mark *mark, uint64_t now_ns);

/* Starts the thread. `read` fills the points of a mark. Without a thread the trace stays empty. */
void wtl_power_trace_start(wtl_power_trace *t, void (*read)(void *arg, wtl_mark *mark), void *arg);

/* Ends the thread. May be called again. `t` may be NULL. */
void wtl_power_trace_stop(wtl_power_trace *t);

/* The points of domain `d`. Returns their number. */
size_t wtl_power_trace_points(const wtl_power_trace *t, size_t d, const wtl_watts **out);

void wtl_power_trace_free(wtl_power_trace *t);

#endif
