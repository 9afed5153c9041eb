/*
 * am_order.h - what WATTLE_AM_DEBUG reports of mutexes: some that are taken in a circle of orders, whose holders may
 * one day wait for each other; one that a handler holds for long, while no other handler of its PE can run; and one that
 * a thread holds in a call that waits for handlers. Each once for a mutex, and for the first eight mutexes of a call or
 * handler; how often it happened is said at the end.
 */
#ifndef WTL_AM_AM_ORDER_H
#define WTL_AM_AM_ORDER_H

#include "am/am_mutex.h"

typedef struct wtl_am_order wtl_am_order;

/* This thread has just taken `m`; gives it back. waits: it would have waited for it; who only tries cannot wait for
 * ever. */
void wtl_am_order_locked(wtl_pe *self, wtl_am_mutex *m, bool waits);
void wtl_am_order_unlocks(wtl_pe *self, wtl_am_mutex *m);

/* This thread is in a call that waits for handlers, or may. */
void wtl_am_order_waits(wtl_pe *self, const char *call);

/* A new mutex is at `m`. */
void wtl_am_order_forget(wtl_pe *self, const wtl_am_mutex *m);

void wtl_am_order_free(wtl_am_order *o);

#endif
