/*
 * am_order.h - reports problems with mutexes, with WATTLE_AM_DEBUG=on:
 *
 *   - mutexes that are taken in a circle of orders, so that their holders may one day wait for each other
 *   - a mutex that a handler holds for long: no other handler of its PE can run meanwhile
 *   - a mutex that a thread holds in a call that waits for handlers
 *
 * Each is reported once for a mutex, for the first eight mutexes of a call or handler. A report at the end has the
 * number of times.
 */
#ifndef WTL_AM_AM_ORDER_H
#define WTL_AM_AM_ORDER_H

#include "pgas/pe.h"

typedef struct wtl_am_mutex wtl_am_mutex;
typedef struct wtl_am_order wtl_am_order;

/* A handler that holds a mutex for longer is reported. */
enum { WTL_AM_LONG_HOLD_NS = 1000000 };

/* Records that this thread has just taken `m`, and that it unlocks it after `held_ns`. `waits`: it would have waited
 * for `m`. A thread that only tries cannot wait without end. */
void wtl_am_order_locked(wtl_pe *self, wtl_am_mutex *m, bool waits);
void wtl_am_order_unlocks(wtl_pe *self, wtl_am_mutex *m, uint64_t held_ns);

/* Notes that this thread calls a routine that waits for handlers, or may. */
void wtl_am_order_waits(wtl_pe *self, const char *call);

/* Forgets the former mutex at `m`, where a new one is. */
void wtl_am_order_forget(wtl_pe *self, const wtl_am_mutex *m);

void wtl_am_order_free(wtl_am_order *o);

#endif
