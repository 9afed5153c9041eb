/*
 * am_wait.h - waiting, through the door, for what handlers do. Where a wait may have no end it is said, after
 * WATTLE_AM_PATIENCE, once for each PE.
 */
#ifndef WTL_AM_AM_WAIT_H
#define WTL_AM_AM_WAIT_H

#include "pgas/pe.h"

/* Waits until `ready`, for handlers of other PEs or of this one. No end: the thread holds a mutex that a handler
 * wants. */
void wtl_am_wait(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg);

/* Waits until `ready`, for the mutex `m`. No end: a handler waits, and the thread with the mutex waits for a
 * handler. */
void wtl_am_wait_for_mutex(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *m);

#endif
