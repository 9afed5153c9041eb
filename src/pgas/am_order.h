/*
 * am_order.h - what WATTLE_AM_DEBUG reports of mutexes: two that are taken in both orders, which may one day wait for each other;
 * and one that a handler holds for long, while no other handler of its PE can run.
 */
#ifndef WTL_PGAS_AM_ORDER_H
#define WTL_PGAS_AM_ORDER_H

#include "pgas/am_mutex.h"

typedef struct wtl_am_order wtl_am_order;

/* This thread has just taken `m`; gives it back. */
void wtl_am_order_locked(wtl_pe *self, wtl_am_mutex *m);
void wtl_am_order_unlocks(wtl_pe *self, wtl_am_mutex *m);

void wtl_am_order_free(wtl_am_order *o);

#endif
